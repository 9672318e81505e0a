"""Fuzz what reads text that people or strangers write; coverage-guided, by hand, for as long
as you like.

    python -m pip install atheris        # not in the locks: nothing else needs it
    PYTHONPATH=analysis python tests/fuzz_by_hand.py figures -max_total_time=3600
    ... formula | claims | importer

A target passes if every input gives a result or an ``InputError``; anything else is a finding,
and atheris leaves the input in a file ``crash-…``.
"""

from __future__ import annotations

import contextlib
import shutil
import sys
import tempfile
from pathlib import Path

import atheris

with atheris.instrument_imports(include=["evidence"]):
    from evidence import figures, formula, inferencex, ledger, points
    from evidence.data import Data
    from evidence.errors import InputError
    from evidence.paths import DATA
    from evidence.quantity import Grade, Quantity

KNOWN = {
    "a": Quantity.point(9, grade=Grade.PUBLISHED, id="a"),
    "watts": Quantity.point(700, "W", grade=Grade.PUBLISHED, id="watts"),
}


def text(data: bytes) -> str:
    return data.decode("utf-8", "ignore")


def names(name: str) -> Quantity:
    if name not in KNOWN:
        raise InputError("no such name", mend="none")
    return KNOWN[name]


def fuzz_figures(data: bytes) -> None:
    figures.parse(text(data))


def fuzz_formula(data: bytes) -> None:
    formula.evaluate(text(data), names)


def fuzz_claims(data: bytes) -> None:
    (SCRATCH / "data" / "claims" / "all.yml").write_bytes(data)
    ledger.build(Data(SCRATCH / "data"))


def fuzz_importer(data: bytes) -> None:
    path, out = SCRATCH / "input", SCRATCH / "out"
    path.write_bytes(data)
    inferencex.import_rows(path, list(points.COMPARATORS.items())[:1], data=Data(), out=out)


SCRATCH = Path(tempfile.mkdtemp(prefix="fuzz-"))
TARGETS = {
    "figures": fuzz_figures,
    "formula": fuzz_formula,
    "claims": fuzz_claims,
    "importer": fuzz_importer,
}


def main() -> None:
    target = TARGETS[sys.argv.pop(1)]
    shutil.copytree(DATA, SCRATCH / "data")
    shutil.rmtree(SCRATCH / "data" / "claims", ignore_errors=True)
    (SCRATCH / "data" / "claims").mkdir()
    (SCRATCH / "out").mkdir()

    def one(data: bytes) -> None:
        with contextlib.suppress(InputError):
            target(data)

    atheris.Setup(sys.argv, one)
    atheris.Fuzz()


if __name__ == "__main__":
    main()
