"""Import public InferenceX rows into data/inferencex/<model>-<hardware>.csv.

Of every row it is decided and counted: kept, or dropped and why. Nothing is repaired: a row whose
figures are negative, absurd or in another unit is reported and left out. The benchmark gives
TTFT, TPOT and E2E in seconds; that TPOT times interactivity is one, and that E2E leaves room for
TTFT and the output tokens, checks that a file really does.

Of rows with one natural key the newest run wins: by date, then by run and attempt. An imported
row takes the place of the row of the table with the same natural key unless that one is newer;
what a form does not say (a configuration id, the shape of a worker) stays as the table has it.
Rows that the import does not speak of stay.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from decimal import Decimal
from functools import partial
from pathlib import Path
from typing import Any, Literal

from pydantic import ValidationError

from . import points, rowforms
from .data import Data, read_csv
from .errors import InputError, shown
from .model import Strict, Text, is_day
from .outputs import as_json
from .paths import write_atomically
from .points import OperatingPoint, hard_key, identity, same
from .rowforms import Input, Raw

MOST_REASONS = 200  # kinds of complaint that are told apart
MOST_KEPT = 10_000  # distinct points of one import; a table of more could not be read again
EXAMPLES = 3  # places named for each reason

HIGHEST_THROUGHPUT = 1e6  # tok/s per GPU; the public rows stay below 1e5
LONGEST_TPOT = 60.0  # s
LONGEST_WAIT = 1e5  # s, TTFT and E2E
TOKENS = (0.05, 2.0)  # decoded tokens as a share of the nominal output length, by the latencies


class Alias(Strict):
    """How a name is spelled in the rows, in small letters, and what it is called here."""

    kind: Literal["model", "framework", "decoding"]
    spelled: Text
    canonical: Text


@dataclass(frozen=True)
class Names:
    """The one table of aliases and the chips that are known."""

    aliases: dict[tuple[str, str], str]
    hardware: frozenset[str]

    @classmethod
    def read(cls, data: Data) -> Names:
        path = data.file(f"{points.FOLDER}/aliases.csv")
        rows = [row for row, _ in read_csv(path, Alias, data.shown(path))]
        table = {(row.kind, row.spelled): row.canonical for row in rows}
        return cls(table, frozenset(points.hardware(data)))

    def find(self, kind: str, spelled: Any) -> str | None:
        return self.aliases.get((kind, _lower(spelled)))

    def models(self) -> list[str]:
        return sorted({name for (kind, _), name in self.aliases.items() if kind == "model"})

    def framework(self, spelled: Any) -> str:
        """The canonical name; a framework without an alias keeps its own."""
        return self.find("framework", spelled) or _lower(spelled)


def _lower(value: Any) -> str:
    return str(value or "").strip().lower()


@dataclass(frozen=True)
class Selection:
    """Which rows an import is about: (model, hardware) pairs, a precision and nominal lengths."""

    pairs: frozenset[tuple[str, str]]
    precision: str = "fp4"
    isl: int = 8192
    osl: int = 1024

    @classmethod
    def of(
        cls, names: Names, pairs: Iterable[tuple[str, str]], *,
        precision: str = "fp4", isl: int = 8192, osl: int = 1024,
    ) -> Selection:  # fmt: skip
        """Raises ``InputError`` for a model or a chip that is not known."""
        found = set()
        for model, hardware in pairs:
            canonical = names.find("model", model)
            if canonical is None:
                raise InputError(
                    f"there is no model {shown(model)}",
                    field="--model",
                    mend=f"use one of {', '.join(names.models())},"
                    " or add it to data/inferencex/aliases.csv",
                )  # fmt: skip
            if _lower(hardware) not in names.hardware:
                raise InputError(
                    f"there is no hardware {shown(hardware)}", field="--hardware",
                    mend=f"use one of {', '.join(sorted(names.hardware))},"
                    " or add it to data/inferencex/hardware.csv",
                )  # fmt: skip
            found.add((canonical, _lower(hardware)))
        return cls(frozenset(found), precision.lower(), isl, osl)


# nothing is wrong with rows that are left out for these reasons
NOT_ASKED = (
    "another model or hardware",
    "another precision",
    "another isl or osl",
    "another benchmark type",
)


@dataclass
class Tally:
    """What became of every row that was read.

    ``missing`` counts cells, not rows; ``places`` are the first lines (of a list: rows) in which
    something is wrong.
    """

    read: int = 0
    kept: int = 0
    dropped: Counter = field(default_factory=Counter)
    missing: Counter = field(default_factory=Counter)
    places: dict[str, list[int]] = field(default_factory=lambda: defaultdict(list))

    def drop(self, reason: str, place: int | None = None) -> None:
        if reason not in self.dropped and len(self.dropped) >= MOST_REASONS:
            reason = "any of many other reasons"
        self.dropped[reason] += 1
        if place is None or reason in NOT_ASKED:
            return
        if len(self.places[reason]) < EXAMPLES:
            self.places[reason].append(place)

    def record(self) -> dict[str, Any]:
        return {
            "read": self.read,
            "kept": self.kept,
            "dropped": dict(sorted(self.dropped.items())),
            "cells_not_given": dict(sorted(self.missing.items())),
            "examples": {
                reason: list(found) for reason, found in sorted(self.places.items()) if found
            },
        }


class _Drop(Exception):
    """A row is left out, for a reason."""


# -- one row ------------------------------------------------------------------------------


def _refusal(config: dict[str, Any], *, names: Names, selection: Selection) -> str | None:
    """Why a configuration is not asked for; None where it is."""
    if not config:
        return "its configuration is not among the configurations"
    hardware, model = _lower(config["hardware"]), names.find("model", config["model"])
    if hardware not in names.hardware:
        return f"unknown hardware {hardware[:40] or '(none)'}"
    if (model, hardware) not in selection.pairs:
        return "another model or hardware"
    if _lower(config["precision"]) != selection.precision:
        return "another precision"
    return None


def _judge(raw: Raw, names: Names, selection: Selection, tally: Tally) -> dict[str, Any]:
    """A row of the selection as the cells of an operating point; raises ``_Drop``."""
    if raw.error not in (None, "", False):
        raise _Drop("the run failed")
    if raw.benchmark_type not in (None, "", "single_turn"):
        raise _Drop("another benchmark type")
    lengths = _whole(raw.isl, "isl"), _whole(raw.osl, "osl")
    if None in lengths:
        raise _Drop("isl or osl is not given")
    if lengths != (selection.isl, selection.osl):
        raise _Drop("another isl or osl")
    config = raw.config
    decoding = names.find("decoding", config["spec_method"])
    if decoding is None:
        raise _Drop(f"unknown decoding {_lower(config['spec_method'])[:40] or '(none)'}")
    concurrency = _whole(raw.conc, "concurrency")
    if not 1 <= (concurrency or 0) <= 1_000_000:
        raise _Drop("concurrency is not between 1 and 1,000,000")
    date = str(raw.date or "")[:10]
    if not is_day(date):
        raise _Drop("the date is missing or is none")
    if not isinstance(raw.run_url, str | None):
        raise _Drop("the run's address is no text")
    framework = names.framework(config["framework"])
    if not re.fullmatch(points.FRAMEWORK, framework):
        raise _Drop("the framework is not given or has no proper name")
    shape, metrics = _topology(config), _metrics(raw, selection, tally)
    _flow(shape, metrics, concurrency or 0, selection)
    return {
        "model": names.find("model", config["model"]), "hardware": _lower(config["hardware"]),
        "framework": framework, "precision": selection.precision,
        "decoding": decoding, **shape,
        "isl_tokens": lengths[0], "osl_tokens": lengths[1], "concurrency": concurrency,
        **metrics, "date": date, "run_url": raw.run_url or None,
        "config_id": _whole(raw.config_id, "configuration id"),
    }  # fmt: skip


_DEGREES = {
    "prefill_workers": "prefill_num_workers", "prefill_tp": "prefill_tp",
    "prefill_ep": "prefill_ep", "prefill_gpus": "num_prefill_gpu",
    "decode_workers": "decode_num_workers", "decode_tp": "decode_tp", "decode_ep": "decode_ep",
    "decode_gpus": "num_decode_gpu",
}  # fmt: skip
_FLAGS = {"disaggregated": "disagg", "prefill_dp_attention": "prefill_dp_attention",
          "decode_dp_attention": "decode_dp_attention"}  # fmt: skip


def _topology(config: dict[str, Any]) -> dict[str, Any]:
    shape: dict[str, Any] = {
        ours: _whole(config.get(theirs), theirs) for ours, theirs in _DEGREES.items()
    }
    if min(shape["prefill_gpus"] or 0, shape["decode_gpus"] or 0) < 1:
        raise _Drop("a number of GPUs is not at least 1")
    return shape | {ours: _truth(config.get(theirs)) for ours, theirs in _FLAGS.items()}


def _flow(shape: dict, metrics: dict, concurrency: int, selection: Selection) -> None:
    """Little's law: tokens in flight are throughput times latency; raises ``_Drop``.

    In every row of the tables the quotient is 0.81 to 0.88, since lengths are drawn below their
    nominal; the bounds only tell a unit that is off by a thousand.
    """
    latency = metrics["mean_e2e_s"] or metrics["median_e2e_s"]
    if latency is None:
        return
    gpus = shape["decode_gpus"] + (shape["prefill_gpus"] if shape["disaggregated"] else 0)
    flowing = float(metrics["throughput_per_gpu_tok_s"]) * gpus * float(latency)
    quotient = flowing / (concurrency * (selection.isl + selection.osl))
    if not IN_FLIGHT[0] < quotient < IN_FLIGHT[1]:
        raise _Drop("throughput times latency is not what is in flight: a unit is wrong")


IN_FLIGHT = (0.002, 50)


def _whole(value: Any, name: str) -> int | None:
    if value is None or value == "":
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _Drop(f"{name} is no number") from None
    if isinstance(value, bool) or not number.is_integer() or abs(number) > 1e9:
        raise _Drop(f"{name} is no whole number")
    return int(number)


def _truth(value: Any) -> bool | None:
    word = _lower(value) if not isinstance(value, bool) else str(value).lower()
    if word in ("t", "true", "1"):
        return True
    if word in ("f", "false", "0"):
        return False
    if word:
        raise _Drop("a yes or no is neither")
    return None


def _metrics(raw: Raw, selection: Selection, tally: Tally) -> dict[str, str | None]:
    metrics = raw.metrics
    if isinstance(metrics, str):
        try:
            metrics = json.loads(metrics)
        except (ValueError, RecursionError):
            raise _Drop("the metrics are not JSON") from None
        if not isinstance(metrics, dict):
            raise _Drop("the metrics are not JSON")
    value = {name: _number(metrics.get(name), name, tally) for name in rowforms.METRICS}
    _check(value, selection)
    seconds = {"tpot": ("tpot_ms", 1000), "e2el": ("e2e_s", 1), "ttft": ("ttft_s", 1)}
    cells: dict[str, str | None] = {"throughput_per_gpu_tok_s": repr(value["tput_per_gpu"])}
    for ours, (name, scale) in seconds.items():
        for statistic in ("mean", "median"):
            read = value[f"{statistic}_{ours}"]
            cells[f"{statistic}_{name}"] = None if read is None else repr(read * scale)
    return cells


def _number(value: Any, name: str, tally: Tally) -> float | None:
    """A metric as a number; null, NaN and infinity are counted and become None."""
    if value is None or value == "":
        if not name.endswith("_intvty"):  # only a check; no cell of the table
            tally.missing[f"{name} is not given"] += 1
        return None
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise _Drop(f"{name} is no number") from None
    if isinstance(value, bool):
        raise _Drop(f"{name} is no number")
    if not math.isfinite(number):
        tally.missing[f"{name} is NaN or infinite"] += 1
        return None
    return number


def _check(value: dict[str, float | None], selection: Selection) -> None:
    """Bounds and units; raises ``_Drop`` with the rule that a row breaks."""
    throughput = value["tput_per_gpu"]
    if throughput is None:
        raise _Drop("throughput is not given")
    if not 0 < throughput <= HIGHEST_THROUGHPUT:
        raise _Drop("throughput is not between 0 and 1,000,000 tok/s per GPU")
    if value["mean_tpot"] is None and value["median_tpot"] is None:
        raise _Drop("TPOT is not given")
    for statistic in ("mean", "median"):
        tpot, speed = value[f"{statistic}_tpot"], value[f"{statistic}_intvty"]
        if tpot is not None and tpot <= 0:
            raise _Drop("TPOT is not above zero")
        if tpot is not None and speed is not None and not 0.2 < tpot * speed < 5:
            raise _Drop("TPOT and interactivity do not multiply to one: TPOT is not in seconds")
        if tpot is not None and tpot > LONGEST_TPOT:
            raise _Drop("TPOT is above a minute: absurd, or not in seconds")
        for name in ("ttft", "e2el"):
            wait = value[f"{statistic}_{name}"]
            if wait is not None and not 0 < wait <= LONGEST_WAIT:
                raise _Drop("TTFT or E2E is not between 0 and 100,000 s")
    e2e, ttft, tpot = value["mean_e2el"], value["mean_ttft"], value["mean_tpot"]
    if e2e is not None and ttft is not None and tpot is not None:
        tokens = (e2e - ttft) / tpot + 1
        if not TOKENS[0] < tokens / selection.osl < TOKENS[1]:
            raise _Drop("E2E, TTFT and TPOT do not fit together: not all are in seconds")


# -- all rows -----------------------------------------------------------------------------

_RUN = re.compile(r"/runs/(\d+)(?:/attempts/(\d+))?")


def run_order(date: str | None, run_url: str | None) -> tuple[str, int, int]:
    """By this, of two runs the newer is the greater: date, run, attempt."""
    run = _RUN.search(run_url or "")
    return (date or "", int(run[1]) if run else 0, int(run[2] or 0) if run else 0)


def select(read: Input, names: Names, selection: Selection, tally: Tally) -> list[dict]:
    """The newest row of every natural key of the selection, as the cells of an operating point."""
    newest: dict[tuple, tuple[tuple, dict]] = {}
    for raw in read.rows(partial(_refusal, names=names, selection=selection)):
        tally.read += 1
        if not isinstance(raw, Raw):
            tally.drop(*raw)
            continue
        try:
            cells = _judge(raw, names, selection, tally)
        except _Drop as drop:
            tally.drop(str(drop), raw.number)
            continue
        _keep(newest, cells, tally)
    tally.kept = len(newest)
    return [cells for _, cells in newest.values()]


def _keep(newest: dict, cells: dict, tally: Tally) -> None:
    """The newer of two rows with one key stays; of one run's, the same whatever their order."""
    key = tuple(cells[name] for name in (*points.HARD, *points.SOFT))
    order = (run_order(cells["date"], cells["run_url"]), str(sorted(cells.items(), key=str)))
    held = newest.get(key)
    if held is None:
        if len(newest) == MOST_KEPT:
            raise InputError(
                f"the selection holds over {MOST_KEPT:,} points",
                mend="narrow it with --model and --hardware",
            )
        newest[key] = (order, cells)
        return
    if held[0] == order:
        tally.drop("the same row again")
    elif held[0][0] == order[0]:
        tally.drop("another row of the same point and run")
    else:
        tally.drop("an older run of the same point")
    newest[key] = max(held, (order, cells), key=lambda pair: pair[0])


# -- the table ----------------------------------------------------------------------------


@dataclass
class Merge:
    """A table after the import, and what happened to its rows."""

    rows: list[OperatingPoint]
    counts: Counter


def merge(table: list[OperatingPoint], imported: list[OperatingPoint]) -> Merge:
    """Put imported rows in the place of the table's rows with the same natural key."""
    by_key: dict[tuple, list[OperatingPoint]] = defaultdict(list)
    for row in table:
        by_key[hard_key(row)].append(row)
    counts: Counter = Counter()
    fresh: list[OperatingPoint] = []
    for row in sorted(imported, key=table_order):
        rivals = by_key[hard_key(row)]
        matching = [rival for rival in rivals if same(rival, row)]
        if len(matching) > 1:
            counts["left out: it fits several rows of the table"] += 1
            continue
        if not matching:
            counts["new"] += 1
            fresh.append(row)
            continue
        rival = matching[0]
        if run_order(rival.date, rival.run_url) > run_order(row.date, row.run_url):
            counts["left out: the table has a newer run"] += 1
            continue
        unmoved = all(map(_alike, _figures(row), _figures(rival)))
        counts["unchanged" if unmoved else "replaced"] += 1
        rivals.remove(rival)
        confirmed = unmoved and rival.attribution == "row"
        fresh.append(_joined(rival, row) if confirmed else _joined(row, rival))
    stayed = [row for rivals in by_key.values() for row in rivals]
    counts.update({"stayed": len(stayed)} if stayed else {})
    return Merge(sorted([*stayed, *fresh], key=table_order), counts)


def _joined(row: OperatingPoint, rival: OperatingPoint) -> OperatingPoint:
    """``row``, with what it does not say of its configuration taken from ``rival``."""
    lacking = {
        name: getattr(rival, name)
        for name in (*points.SOFT, "config_id")
        if getattr(row, name) is None
    }
    return row.model_copy(update=lacking)


def _figures(row: OperatingPoint) -> tuple:
    names = (
        "throughput_per_gpu_tok_s",
        "mean_tpot_ms",
        "median_tpot_ms",
        "mean_e2e_s",
        "mean_ttft_s",
    )
    return tuple(getattr(row, name) for name in names)


def _alike(one: Decimal | None, other: Decimal | None) -> bool:
    """Whether two cells are one figure: a change of unit may have moved its last digit."""
    if one is None or other is None:
        return one is other
    return math.isclose(one, other, rel_tol=1e-12)


def table_order(row: OperatingPoint) -> tuple:
    """The order of a table's rows: it depends on configurations, not on what was measured."""
    first = (row.decoding, row.framework, row.prefill_gpus, row.decode_gpus, row.decode_tp or 0,
             row.concurrency)  # fmt: skip
    return (*first, str(identity(row)))


def table_text(rows: Iterable[OperatingPoint]) -> str:
    """The table as CSV: digits as they are held, plain notation, line feeds."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in rows:
        writer.writerow([_cell(getattr(row, name)) for name in COLUMNS])
    return text.getvalue()


COLUMNS = (
    "model", "hardware", "framework", "precision", "decoding", "disaggregated",
    "prefill_workers", "prefill_tp", "prefill_ep", "prefill_dp_attention", "prefill_gpus",
    "decode_workers", "decode_tp", "decode_ep", "decode_dp_attention", "decode_gpus",
    "isl_tokens", "osl_tokens", "concurrency", "throughput_per_gpu_tok_s",
    "mean_tpot_ms", "median_tpot_ms", "mean_e2e_s", "median_e2e_s", "mean_ttft_s",
    "median_ttft_s", "date", "run_url", "config_id", "source", "dump", "attribution", "note",
)  # fmt: skip


def _cell(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    return format(value, "f") if isinstance(value, Decimal) else str(value)


# -- the command --------------------------------------------------------------------------


@dataclass(frozen=True)
class Report:
    """What an import did: the tally, and for every table what happened to its rows."""

    form: str
    name: str
    tally: Tally
    tables: dict[str, Counter]

    def lines(self) -> Iterator[str]:
        """The report for a person."""
        tally = self.tally
        yield f"{self.form}: {tally.read:,} rows read from {self.name}, {tally.kept:,} kept"
        for reason, count in sorted(tally.dropped.items(), key=lambda item: (-item[1], item[0])):
            places = tally.places.get(reason)
            at = (
                f" (at {', '.join(map(str, places))}{', ...' if count > len(places) else ''})"
                if places
                else ""
            )
            yield f"  dropped {count:,}: {reason}{at}"
        for what, count in sorted(tally.missing.items()):
            yield f"  {count:,} cells: {what}"
        for table, counts in sorted(self.tables.items()):
            done = ", ".join(f"{count} {what}" for what, count in sorted(counts.items()))
            yield f"{table}: {done}"


def import_rows(
    path: Path,
    pairs: Iterable[tuple[str, str]],
    *,
    data: Data,
    out: Path,
    precision: str = "fp4",
    isl: int = 8192,
    osl: int = 1024,
    source: str = "inferencex-database",
    dump: str | None = None,
) -> Report:
    """Read ``path`` in whichever form it is and update the tables of ``pairs`` in ``out``.

    Raises ``InputError``, with every table as it was, where the input is broken, where nothing of
    the selection is in it, or where ``source`` is not in data/sources.yml.
    """
    names = Names.read(data)
    selection = Selection.of(names, pairs, precision=precision, isl=isl, osl=osl)
    data.source(source)
    if not out.is_dir():
        raise InputError(
            "the folder of the tables is missing", file=out, mend="make it, or check --out"
        )
    recognised = rowforms.recognise(path)
    tally = Tally()
    origin = {"source": source, "dump": dump, "attribution": "row"}
    groups = _points(select(recognised, names, selection, tally), origin, tally)
    if not groups:
        raise _nothing(path, selection, tally)
    checksums = recognised.checksums()
    merged = {pair: merge(_table(out, *pair, data), rows) for pair, rows in groups.items()}
    record = {
        "form": recognised.form, "files": checksums, "precision": precision, "isl": isl, "osl": osl,
        "source": source, "dump": dump, "rows": tally.record(),
    }  # fmt: skip
    files = {}
    for (model, hardware), result in sorted(merged.items()):
        note = out / f"{model}-{hardware}.import.json"
        files[out / f"{model}-{hardware}.csv"] = table_text(result.rows)
        files[note] = _noted(note, {**record, "table": dict(sorted(result.counts.items()))})
    for file, text in files.items():  # only now: whatever is wrong has been said
        write_atomically(file, text)
    tables = {
        f"{model}-{hardware}.csv": result.counts for (model, hardware), result in merged.items()
    }
    return Report(recognised.form, path.name, tally, tables)


def _points(rows: Iterable[dict], origin: dict[str, Any], tally: Tally) -> dict[tuple, list]:
    """The rows as operating points, by model and hardware; what the model refuses is counted."""
    groups: dict[tuple[str, str], list[OperatingPoint]] = defaultdict(list)
    for row in rows:
        try:
            point = OperatingPoint(**row, **origin)
        except ValidationError as error:
            tally.kept -= 1
            tally.drop(f"{error.errors()[0]['loc'][0]} is not valid")
        else:
            groups[row["model"], row["hardware"]].append(point)
    return groups


def _nothing(path: Path, selection: Selection, tally: Tally) -> InputError:
    wanted = ", ".join(f"{model} on {hardware}" for model, hardware in sorted(selection.pairs))
    why = "; ".join(f"{count:,} {reason}" for reason, count in tally.dropped.most_common(5))
    return InputError(
        f"no row of {wanted} ({selection.precision}, {selection.isl}/{selection.osl}) among"
        f" {tally.read:,} rows{f': {why}' if why else ''}",
        file=path, mend="check --model, --hardware, --precision, --isl and --osl, or the file",
    )  # fmt: skip


def _table(out: Path, model: str, hardware: str, data: Data) -> list[OperatingPoint]:
    path = out / f"{model}-{hardware}.csv"
    if not path.is_file():
        return []
    return [row for row, _ in read_csv(path, OperatingPoint, path.name)]


def _noted(path: Path, record: dict[str, Any]) -> str:
    """The table's provenance with this import; one that moved nothing leaves what is known."""
    try:
        known = json.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError:
        known = []
    except (ValueError, RecursionError):
        known = None
    if not isinstance(known, list) or not all(isinstance(entry, dict) for entry in known):
        raise InputError("this is no list of imports", file=path, mend="restore it from git")
    again = [entry for entry in known if entry.get("files") == record["files"]]
    if again and not record["table"].keys() - {"unchanged", "stayed"}:
        return as_json(known)
    return as_json([*(entry for entry in known if entry not in again), record])
