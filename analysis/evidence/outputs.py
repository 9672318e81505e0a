"""What a notebook hands to the report: values, tables and figures.

Nothing is written before ``save``; then every file is replaced atomically and the part file
``parts/<notebook>.json`` last, so that a kill leaves the last good output or the new one.
The form of each file is the contract in report/README.md.
"""

from __future__ import annotations

import json
import math
import os
import re
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from . import paths
from .data import Data
from .errors import InputError, shown
from .paths import BY_HAND, generated, write_atomically
from .quantity import Grade, Quantity

VALUE_ID = re.compile(r"[a-z][a-z0-9_]{0,99}")
FILE_ID = re.compile(r"[a-z][a-z0-9-]{0,59}")

Cell = str | Mapping[str, Any] | Sequence[Any]


def as_json(value: Any) -> str:
    """Readable JSON with a stable order of keys, ended by a newline."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True, allow_nan=False) + "\n"


def compact_json(value: Any) -> str:
    """The same without spaces, for what the page carries."""
    options = {"ensure_ascii": False, "sort_keys": True, "allow_nan": False}
    return json.dumps(value, separators=(",", ":"), **options) + "\n"


def value_record(quantity: Quantity, *, label: str, suffix: str, digits: int | None) -> dict:
    """A quantity as ``values.json`` holds it; infinite bounds are null."""

    def bound(value: Any) -> float | None:
        return None if math.isinf(value) else float(value)

    return {
        "label": label,
        "text": quantity.text(digits),
        "range": quantity.range(),
        "low": bound(quantity.low),
        "high": bound(quantity.high),
        "unit": quantity.unit_text(),
        "suffix": suffix,
        "grade": str(quantity.grade),
        "proven": quantity.grade.proven,
        "formula": quantity.trace.formula,
        "inputs": list(quantity.trace.inputs),
        "sources": [{"id": id, "place": place} for id, place in quantity.trace.sources],
    }


class Outputs:
    """Collects what one notebook emits.

    ``notebook`` is the notebook's name without its ending.
    Every method raises ``InputError`` for an id that is malformed or emitted twice.
    """

    def __init__(self, notebook: str, *data: Data) -> None:
        running = os.environ.get("EVIDENCE_NOTEBOOK", notebook)
        if running != notebook:
            raise InputError(
                f"the notebook emits under the name {shown(notebook)}",
                file=f"analysis/notebooks/{running}.ipynb",
                mend=f'write outputs.Outputs("{running}") in it',
            )
        self.notebook = notebook
        self._data = data
        self._values: dict[str, dict] = {}
        self._files: dict[str, str] = {}
        self._tables: list[str] = []

    # -- emitting -------------------------------------------------------------------------

    def value(
        self,
        id: str,
        quantity: Quantity,
        *,
        label: str,
        suffix: str = "",
        digits: int | None = None,
    ) -> Quantity:
        """Emit a value; returns the quantity under its id, for the formulas it enters.

        ``digits`` prints fewer significant digits than the interval allows, never more.
        """
        if not VALUE_ID.fullmatch(id):
            raise self._wrong(id, "use small letters, digits and _, a letter first")
        if id in self._values:
            raise self._wrong(id, "give each value its own id", "is emitted twice")
        record = value_record(quantity, label=label, suffix=suffix, digits=digits)
        self._values[id] = {**record, **self._place()}
        return quantity.named(id)

    def measurement(self, id: str) -> Quantity:
        """Emit a published measurement under its own id, as it is printed."""
        data = self._data[0]
        quantity = data.measurement(id)
        row = data.measurements[id]
        metric = data.metrics[row.metric]
        label = f"{metric.name}, {data.models[row.model].name}, {data.systems[row.system].name}"
        if row.decoding:
            label += f" ({row.decoding.upper()})"
        return self.value(id, quantity, label=label, suffix=metric.suffix)

    def table(
        self,
        id: str,
        *,
        columns: Sequence[str | Mapping[str, str | bool]],
        rows: Sequence[Sequence[Cell]],
        widths: Sequence[float] | None = None,
    ) -> None:
        """Emit a table.

        ``columns`` are titles, or ``{"title", "align", "under"}``; the first cell of a row heads
        it. In the PDF, where width is short, a column with ``under`` true puts its cells beneath
        those of the column before it.
        """
        heads = [
            {"title": column, "align": "left" if i == 0 else "right"}
            if isinstance(column, str)
            else dict(column)
            for i, column in enumerate(columns)
        ]
        body = []
        for row in rows:
            if len(row) != len(heads):
                raise self._wrong(id, "give each row a cell for every column", "has uneven rows")
            body.append([_cell(cell, header=i == 0) for i, cell in enumerate(row)])
        table = {"columns": heads, "rows": body, **({"widths": list(widths)} if widths else {})}
        self._tables.append(id)
        self.file(f"tables/{self._file_id(id)}.json", as_json(table))

    def figure(
        self,
        id: str,
        chart: Any,
        *,
        alt: str,
        table: str,
        static: Any = None,
        controls: Sequence[Any] = (),
    ) -> Any:
        """Emit an Altair chart with its text alternative and the table of its numbers.

        ``static`` is the picture that stands for it where no script runs, if not the chart
        itself; ``controls`` are those that the parameters of ``chart`` are bound to, which is a
        finished specification then.
        Returns the picture, so that the notebook shows it.
        """
        from . import charts  # slow to import, and most users of this module draw nothing

        name = self._file_id(id)
        drawn = charts.render(static or chart)
        spec = chart if static else drawn.spec
        meta = {"alt": alt, "table": table, **self._place()}
        if controls:
            meta["controls"] = [control.record() for control in controls]
        self.file(f"figures/{name}.svg", drawn.svg)
        self.file(f"figures/{name}.vl.json", compact_json(spec))
        self.file(f"figures/{name}.meta.json", as_json(meta))
        return drawn

    def file(self, name: str, text: str) -> None:
        """Emit any other text file, by its path below the generated folder."""
        if Path(name).is_absolute() or ".." in Path(name).parts:
            raise self._wrong(name, "name a file below the generated folder", "leaves its folder")
        if name in self._files:
            raise self._wrong(name, "give each file its own id", "is emitted twice")
        self._files[name] = text

    # -- writing --------------------------------------------------------------------------

    def save(self) -> None:
        """Write everything, and remove what an earlier run of this notebook left behind.

        A notebook that someone runs by hand writes to ``build/by-hand``: such a run may have
        seen cells in another order, and does not know which cell a value comes from.
        """
        by_hand = "EVIDENCE_NOTEBOOK" not in os.environ
        folder = BY_HAND if by_hand else generated()
        part = folder / "parts" / f"{self.notebook}.json"
        for name in _earlier(part) - set(self._files):
            (folder / name).unlink(missing_ok=True)
        for name, text in self._files.items():
            write_atomically(folder / name, text)
        record = {
            "notebook": f"{self.notebook}.ipynb",
            "values": self._values,
            "files": sorted(self._files),
            "reads": self._reads(),
        }
        write_atomically(part, as_json(record))
        if by_hand:
            print(f"run by hand: written to {paths.shown(folder)}; the report takes what make runs")

    def _reads(self) -> list[str]:
        """What this notebook depends on, below the root: data, package, theme and lock.

        A folder is among them where every file in it is read: a new file there counts too.
        """
        modules = (
            getattr(module, "__file__", None)
            for name, module in list(sys.modules.items())
            if name.partition(".")[0] == __package__
        )
        files = {Path(file) for file in modules if file}
        files |= {path for data in self._data for path in data.reads}
        files |= {paths.ROOT / "requirements.txt", Path(__file__).with_name("units.txt")}
        if f"{__package__}.charts" in sys.modules:
            files.add(paths.TOKENS)
        return sorted(
            paths.shown(file) for file in files if not Path(paths.shown(file)).is_absolute()
        )

    def _place(self) -> dict[str, str]:
        return {
            "notebook": f"{self.notebook}.ipynb",
            "cell": os.environ.get("EVIDENCE_CELL", ""),
        }

    def _file_id(self, id: str) -> str:
        if not FILE_ID.fullmatch(id):
            raise self._wrong(id, "use small letters, digits and -, a letter first")
        return id

    def _wrong(self, id: str, mend: str, found: str = "is malformed") -> InputError:
        return InputError(
            f"the id {shown(id)} {found}",
            file=f"analysis/notebooks/{self.notebook}.ipynb",
            mend=mend,
        )


def _earlier(part: Path) -> set[str]:
    try:
        return set(json.loads(part.read_text())["files"])
    except (OSError, ValueError, KeyError):
        return set()


def _cell(cell: Cell, *, header: bool) -> Any:
    if isinstance(cell, Grade):
        return {"grade": str(cell)}
    if isinstance(cell, str):
        return {"text": cell, "header": True} if header else {"text": cell}
    if isinstance(cell, Mapping):
        return dict(cell)
    return [_cell(part, header=False) for part in cell]
