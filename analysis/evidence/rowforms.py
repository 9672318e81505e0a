"""The forms in which InferenceX rows reach a reader, read one row at a time.

Three forms, told apart by their content, plain or gzipped:

dump
    The tables ``configs``, ``benchmark_results`` and ``workflow_runs`` of the public database,
    as a folder of CSV files or as the SQL that ``pg_restore --data-only`` writes (COPY blocks).
api
    The JSON list that the public API serves; it has no configuration ids.
dashboard
    The CSV that the dashboard exports, behind its licence lines; it names fewer parts of a
    topology, and may group point releases of a model under one name.

Every reader yields ``Raw`` rows in the benchmark's own words and seconds, or (reason, number) for a
row whose configuration its caller ``refuses``: most rows of a dump are nobody's concern, and cost
least that way. Otherwise nothing is judged here but the file. Memory stays bounded: no file is
held whole, and no row may be longer than ``LONGEST``.
"""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import re
import zlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any, BinaryIO, Literal

from .errors import InputError, shown

Form = Literal["dump tables as CSV", "dump as SQL", "API response", "dashboard export"]

LONGEST = 16_000_000  # characters of one row
CHUNK = 1 << 20
HEAD = 65_536  # bytes in which a form must show itself

METRICS = ("tput_per_gpu", "mean_tpot", "median_tpot", "mean_e2el", "median_e2el", "mean_ttft",
           "median_ttft", "mean_intvty", "median_intvty")  # fmt: skip
PARALLEL = ("disagg", "prefill_tp", "prefill_ep", "prefill_dp_attention", "prefill_num_workers",
            "decode_tp", "decode_ep", "decode_dp_attention", "decode_num_workers",
            "num_prefill_gpu", "num_decode_gpu")  # fmt: skip
CONFIG = ("hardware", "framework", "model", "precision", "spec_method", *PARALLEL)
RESULT = ("config_id", "isl", "osl", "conc", "date")


@dataclass(slots=True)
class Raw:
    """One row in the benchmark's words; what the form does not give is None.

    ``number`` is its line in the file, or its place in the list. ``metrics`` are in seconds and
    tokens per second, or the text of the JSON that holds them.
    """

    number: int
    config: dict[str, Any]
    isl: Any
    osl: Any
    conc: Any
    date: Any
    metrics: dict[str, Any] | str
    benchmark_type: Any = None
    error: Any = None
    run_url: str | None = None
    config_id: Any = None


Refuses = Callable[[dict[str, Any]], str | None]
Rows = Iterator[Raw | tuple[str, int]]


@dataclass
class Input:
    """A recognised input: its form, its files, and a way to read its rows."""

    form: Form
    files: list[Path]
    rows: Callable[[Refuses], Rows]

    def checksums(self) -> dict[str, str]:
        """SHA-256 of every file, by its name."""
        return {path.name: _sha256(path) for path in self.files}


def recognise(path: Path) -> Input:
    """What ``path`` is; raises ``InputError`` for anything that is none of the forms."""
    if path.is_dir():
        return _folder(path)
    if not path.is_file():
        raise InputError("there is no such file or folder", file=path, mend="check the path")
    head = _head(path)
    text = head.removeprefix(b"\xef\xbb\xbf").lstrip()
    if not text:
        raise InputError("the file is empty", file=path, mend="fetch it again")
    if text[:1] == b"[":
        return Input("API response", [path], partial(_api, path))
    if text[:1] == b"{":
        raise InputError(
            "the JSON is an object, not a list of rows",
            file=path, mend="save the whole response of /api/v1/benchmarks?model=...",
        )  # fmt: skip
    if re.search(
        rb"^(COPY [\w.\"]+ \(|-- PostgreSQL database dump|SET \w+ = )", text, re.MULTILINE
    ):
        return Input("dump as SQL", [path], partial(_dump, _sql_tables(path), path))
    return _csv_input(path)


def _folder(folder: Path) -> Input:
    tables = {}
    for name in ("configs", "benchmark_results", "workflow_runs"):
        found = [p for p in (folder / f"{name}.csv", folder / f"{name}.csv.gz") if p.is_file()]
        if found:
            tables[name] = found[0]
    missing = [name for name in ("configs", "benchmark_results") if name not in tables]
    if missing:
        raise InputError(
            f"the folder has no {' and no '.join(f'{name}.csv' for name in missing)}",
            file=folder, mend="export the tables configs, benchmark_results and workflow_runs",
        )  # fmt: skip
    opened = {name: lambda path=path: _csv_table(path) for name, path in tables.items()}
    return Input("dump tables as CSV", list(tables.values()), partial(_dump, opened, folder))


def _csv_input(path: Path) -> Input:
    with _text(path) as lines:
        header, _ = _header(lines, path)
    if "Hardware Key" in header or any(name.startswith("Throughput/Chip") for name in header):
        return Input("dashboard export", [path], partial(_dashboard, path))
    if "config_id" in header or "spec_method" in header:
        return _folder(path.parent)
    raise InputError(
        f"this is no form of InferenceX rows: it begins with {shown(', '.join(header), 60)}",
        file=path, line=1,
        mend="give the dump’s tables, the API’s JSON or the dashboard’s CSV export",
    )  # fmt: skip


# -- files --------------------------------------------------------------------------------


def _open(path: Path) -> BinaryIO:
    file = path.open("rb")
    magic = file.read(2)
    file.seek(0)
    return gzip.open(file) if magic == b"\x1f\x8b" else file  # type: ignore[return-value]


@contextmanager
def _readable(path: Path):
    """Turns what a broken file raises into one ``InputError``."""
    try:
        yield
    except (EOFError, gzip.BadGzipFile, zlib.error) as error:
        raise InputError(
            f"the compressed file is cut off or damaged ({error})",
            file=path, mend="fetch it again",
        ) from None  # fmt: skip
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {error.object[error.start]:#04x} is not UTF-8",
            file=path, mend="save the file as UTF-8",
        ) from None  # fmt: skip
    except OSError as error:
        raise InputError(
            f"the file cannot be read ({error.strerror})",
            file=path,
            mend="check the disk and rights",
        ) from None


def _head(path: Path) -> bytes:
    with _readable(path), _open(path) as file:
        head = file.read(HEAD)
    foreign = {
        b"PGDMP": "this is a database dump in PostgreSQL’s own format",
        b"\x28\xb5\x2f\xfd": "this is compressed with zstd",
        b"PK\x03\x04": "this is a zip archive",
    }
    for magic, what in foreign.items():
        if head.startswith(magic):
            raise InputError(
                what, file=path,
                mend="unpack it as data/inferencex/README.md shows: zstd, then pg_restore",
            )  # fmt: skip
    if b"\0" in head:
        raise InputError("the file is not text", file=path, mend="save it as UTF-8 text")
    return head


@contextmanager
def _text(path: Path):
    """The file as lines of text; a byte order mark is skipped, line ends stay as they are."""
    with _readable(path), _open(path) as raw:
        yield io.TextIOWrapper(raw, encoding="utf-8-sig", newline="")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


# -- tables -------------------------------------------------------------------------------

Cells = Sequence[str | None]
Table = tuple[list[str], Iterator[tuple[int, Cells]]]


@contextmanager
def _wide_cells():
    """csv's limit on the length of a cell is global: raised while rows are read."""
    before = csv.field_size_limit(LONGEST)
    try:
        yield
    finally:
        csv.field_size_limit(before)


def _header(lines: io.TextIOBase, path: Path) -> tuple[list[str], int]:
    """The header's names and its line; licence lines (``#``) before it are skipped."""
    number = 0
    for line in iter(lambda: lines.readline(LONGEST), ""):
        number += 1
        if line.startswith("#") or not line.strip():
            continue
        with _wide_cells():
            header = [name.strip() for name in next(csv.reader([line.rstrip("\r\n")]))]
        other = next((sign for sign in ";\t|" if len(header) == 1 and sign in line), None)
        if other:
            raise InputError(
                f"the cells are separated by {shown(repr(other)[1:-1])}",
                file=path, line=number, mend="export with commas",
            )  # fmt: skip
        twice = sorted({name for name in header if header.count(name) > 1 and name})
        if twice:
            raise InputError(
                f"the header names {', '.join(twice)} twice",
                file=path, line=number, mend="keep one column of that name",
            )  # fmt: skip
        return header, number
    raise InputError("the file has no header", file=path, mend="export it again, with its header")


def _csv_table(path: Path) -> Table:
    with _text(path) as lines:
        header, before = _header(lines, path)
    return header, _csv_rows(path, header, before)


def _csv_rows(path: Path, header: list[str], before: int) -> Iterator[tuple[int, Cells]]:
    with _text(path) as lines, _wide_cells():
        for _ in range(before):
            lines.readline()
        reader = csv.reader(lines, strict=True)
        width = len(header)
        try:
            for cells in reader:
                if not cells:
                    continue
                if len(cells) != width:
                    raise _uneven(path, before + reader.line_num, cells, header)
                yield before + reader.line_num, cells
        except csv.Error as error:
            raise InputError(
                f"this is not CSV: {error}", file=path, line=before + reader.line_num,
                mend="the file may be cut off: fetch it again",
            ) from None  # fmt: skip


def _uneven(path: Path, line: int, cells: Sequence, header: list[str]) -> InputError:
    return InputError(
        f"the row has {len(cells)} cells, the header {len(header)}",
        file=path, line=line, mend="the file may be cut off: fetch it again",
    )  # fmt: skip


_COPY = re.compile(rb'COPY (?:"?\w+"?\.)?"?(\w+)"? \(([^)]*)\) FROM stdin;')
_ESCAPE = re.compile(r"\\(.)", re.DOTALL)
_ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "b": "\b", "f": "\f", "v": "\v"}


def _sql_tables(path: Path) -> dict[str, Callable[[], Table]]:
    names = ("configs", "benchmark_results", "workflow_runs")
    return {name: lambda name=name: _sql_table(path, name) for name in names}


def _sql_table(path: Path, name: str) -> Table:
    """The COPY block of ``name``; the blocks may stand in any order, so each call scans anew."""
    rows = _sql_rows(path, name)
    return next(rows), rows  # type: ignore[return-value]


def _sql_rows(path: Path, name: str) -> Iterator[Any]:
    with _readable(path), _open(path) as file:
        number, inside = 0, None
        for line in file:
            number += 1
            if inside:
                inside = None if line.startswith(b"\\.") else inside
            elif copy := _COPY.match(line):
                inside = copy[1].decode()
                if inside == name:
                    break
        else:
            raise _no_end(path, inside, number) if inside else InputError(
                f"there is no table {name} in it", file=path,
                mend="write the tables configs, benchmark_results and workflow_runs into one file",
            )  # fmt: skip
        header = [part.strip(b' "').decode() for part in copy[2].split(b",")]
        yield header
        for line in iter(lambda: file.readline(LONGEST), b""):
            number += 1
            if line.startswith(b"\\."):
                return
            if not line.endswith(b"\n"):
                break
            cells = line[:-1].decode().split("\t")
            if len(cells) != len(header):
                raise _uneven(path, number, cells, header)
            yield number, [cell if "\\" not in cell else _copied(cell) for cell in cells]
        raise _no_end(path, name, number)


def _no_end(path: Path, table: str, line: int) -> InputError:
    return InputError(
        f"the table {table} has no end: the file is cut off or a row is too long",
        file=path, line=line, mend="write the file again with pg_restore",
    )  # fmt: skip


def _copied(cell: str) -> str | None:
    if cell == "\\N":
        return None
    return _ESCAPE.sub(lambda escape: _ESCAPES.get(escape[1], escape[1]), cell)


# -- the dump -----------------------------------------------------------------------------


def _columns(header: list[str], needed: Sequence[str], table: str, path: Path) -> dict[str, int]:
    missing = [name for name in needed if name not in header]
    if missing:
        raise InputError(
            f"the table {table} lacks {', '.join(missing)}: another version of the schema",
            file=path, mend=f"give a table with {', '.join(needed)}",
        )  # fmt: skip
    return {name: at for at, name in enumerate(header)}


def _dump(tables: dict[str, Callable[[], Table]], path: Path, refuses: Refuses) -> Rows:
    configs = _configs(*tables["configs"](), path)
    header, rows = tables["benchmark_results"]()
    at = _columns(header, RESULT, "benchmark_results", path)
    given = [name for name in METRICS if name in at]
    if "metrics" not in at and ("tput_per_gpu" not in given or len(given) < 2):
        _columns(header, ("metrics",), "benchmark_results", path)
    runs = _runs(tables, path) if "workflow_run_id" in at else {}
    metrics_at, config_at = at.get("metrics"), at["config_id"]
    isl, osl, conc, date = (at[name] for name in ("isl", "osl", "conc", "date"))
    kind, error, run, url = (
        at.get(name) for name in ("benchmark_type", "error", "workflow_run_id", "run_url")
    )
    refused = {id_: refuses(config) for id_, config in configs.items()}
    foreign = refuses({})
    for line, cells in rows:
        if (reason := refused.get(cells[config_at], foreign)) is not None:
            yield reason, line
            continue
        yield Raw(
            line,
            configs[cells[config_at]],
            cells[isl] or None, cells[osl] or None, cells[conc] or None, cells[date] or None,
            (cells[metrics_at] or "") if metrics_at is not None
            else {name: cells[at[name]] for name in given},
            cells[kind] if kind is not None else None,
            cells[error] if error is not None else None,
            (runs.get(cells[run]) if run is not None else None)
            or (cells[url] if url is not None else None) or None,
            cells[config_at],
        )  # fmt: skip


def _configs(header: list[str], rows: Iterator, path: Path) -> dict[str, dict]:
    at = _columns(header, ("id", *CONFIG), "configs", path)
    return {cells[at["id"]]: {name: cells[at[name]] for name in CONFIG} for _, cells in rows}


def _runs(tables: dict[str, Callable[[], Table]], path: Path) -> dict[str, str]:
    """Run id to the address of its attempt; without the table no row has one."""
    if "workflow_runs" not in tables:
        return {}
    header, rows = tables["workflow_runs"]()
    at = _columns(header, ("id", "html_url", "run_attempt"), "workflow_runs", path)
    return {
        cells[at["id"]]: f"{cells[at['html_url']]}/attempts/{cells[at['run_attempt']]}"
        for _, cells in rows
        if cells[at["html_url"]]
    }


# -- the API's JSON -----------------------------------------------------------------------


class _Json:
    """A JSON text read from its front, a chunk at a time."""

    def __init__(self, text: io.TextIOBase, path: Path) -> None:
        self.stream, self.path = text, path
        self.text, self.at, self.ended = "", 0, False
        self.decoder = json.JSONDecoder()

    def more(self) -> bool:
        """Read on, doubling what is held of an unfinished row; False at the end of the file."""
        held = len(self.text) - self.at
        if held > LONGEST:
            raise InputError(
                f"a row is longer than {LONGEST:,} characters, or broken",
                file=self.path, mend="fetch the response again",
            )  # fmt: skip
        chunk = self.stream.read(max(CHUNK, held))
        self.text, self.at = self.text[self.at :] + chunk, 0
        return bool(chunk)

    def next(self) -> str:
        """The next character that is no space, not consumed; empty at the end of the file."""
        while True:
            while self.at < len(self.text):
                if not self.text[self.at].isspace():
                    return self.text[self.at]
                self.at += 1
            if not self.more():
                return ""

    def row(self, number: int) -> Any:
        while True:
            try:
                value, self.at = self.decoder.raw_decode(self.text, self.at)
                return value
            except json.JSONDecodeError as error:
                if not self.more():
                    raise InputError(
                        f"row {number} breaks off or is not JSON: {error.msg}",
                        file=self.path, mend="fetch the response again",
                    ) from None  # fmt: skip
            except (RecursionError, ValueError) as error:
                raise InputError(
                    f"row {number} cannot be read ({type(error).__name__})",
                    file=self.path, mend="fetch the response again",
                ) from None  # fmt: skip


def _json_rows(path: Path) -> Iterator[tuple[int, dict]]:
    with _text(path) as text:
        source = _Json(text, path)
        source.next()
        source.at += 1
        number = 0
        while (sign := source.next()) != "]":
            if number and sign == ",":
                source.at += 1
                sign = source.next()
            elif number:
                raise _broken(path, number)
            if sign != "{":
                raise _broken(path, number)
            number += 1
            yield number, source.row(number)
        source.at += 1
        if source.next():
            raise _broken(path, number)


def _broken(path: Path, number: int) -> InputError:
    return InputError(
        f"after row {number} the list breaks off or holds something that is no row",
        file=path, mend="fetch the response again",
    )  # fmt: skip


def _api(path: Path, refuses: Refuses) -> Rows:
    for number, row in _json_rows(path):
        missing = [
            name for name in (*CONFIG, "isl", "osl", "conc", "date", "metrics") if name not in row
        ]
        if missing:
            raise InputError(
                f"row {number} lacks {', '.join(missing)}: another version of the API",
                file=path, mend="give the rows of /api/v1/benchmarks",
            )  # fmt: skip
        if (reason := refuses(row)) is not None:
            yield reason, number
            continue
        metrics = row["metrics"]
        yield Raw(
            number, row, row["isl"], row["osl"], row["conc"], row["date"],
            metrics if isinstance(metrics, dict) else "", row.get("benchmark_type"),
            row.get("error"), row.get("run_url"), row.get("config_id"),
        )  # fmt: skip


# -- the dashboard's export ---------------------------------------------------------------

DASHBOARD = ("Model", "ISL", "OSL", "Hardware", "Hardware Key", "Framework", "Precision", "TP",
             "Concurrency", "Date", "Throughput/Chip (tok/s)", "Num Prefill Chips",
             "Num Decode Chips", "Spec Decoding", "Run URL")  # fmt: skip
_LATENCY = re.compile(r"(Mean|Median) (TTFT|TPOT|E2E(?: Latency)?|Interactivity)(?: \((.*)\))?")
_LATENCIES = {"TTFT": "ttft", "TPOT": "tpot", "E2E": "e2el", "E2E Latency": "e2el",
              "Interactivity": "intvty"}  # fmt: skip
_SCALES = {"s": 1.0, "ms": 1e-3}


def _dashboard(path: Path, refuses: Refuses) -> Rows:
    header, rows = _csv_table(path)
    missing = [name for name in DASHBOARD if name not in header]
    if missing:
        raise InputError(
            f"the export lacks the columns {', '.join(missing)}",
            file=path, mend="export the table from the dashboard again, with its own headers",
        )  # fmt: skip
    latencies = _latencies(header, path)
    at = {name: number for number, name in enumerate(header)}

    def cell(cells: Cells, name: str) -> str | None:
        return (cells[at[name]] or "").strip() or None if name in at else None

    for line, cells in rows:
        get = partial(cell, cells)
        disagg, decode = get("Disaggregated"), get("Num Decode Chips")
        prefill = get("Num Prefill Chips") or (decode if _false(disagg) else None)
        config = {
            "model": get("Model"), "hardware": _chip(get("Hardware"), get("Hardware Key")),
            "framework": get("Framework"), "precision": get("Precision"),
            "spec_method": get("Spec Decoding"), "disagg": disagg, "decode_tp": get("TP"),
            "decode_ep": get("EP"), "decode_dp_attention": get("DP Attention"),
            "num_prefill_gpu": prefill, "num_decode_gpu": decode,
        }  # fmt: skip
        if (reason := refuses(config)) is not None:
            yield reason, line
            continue
        metrics = {"tput_per_gpu": get("Throughput/Chip (tok/s)")}
        metrics |= {name: _scaled(cells[column], scale) for name, column, scale in latencies}
        yield Raw(
            line, config, get("ISL"), get("OSL"), get("Concurrency"), get("Date"),
            metrics, run_url=get("Run URL"),
        )  # fmt: skip


def _latencies(header: list[str], path: Path) -> list[tuple[str, int, float]]:
    """(metric, column, factor to seconds) of every latency; units are read, never guessed."""
    found = []
    for column, name in enumerate(header):
        match = _LATENCY.fullmatch(name)
        if not match:
            continue
        metric, unit = f"{match[1].lower()}_{_LATENCIES[match[2]]}", match[3]
        scale = {"tok/s/user": 1.0}.get(unit) if metric.endswith("intvty") else _SCALES.get(unit)
        if scale is None:
            raise InputError(
                f"the column {shown(name)} has no unit that is known",
                file=path, mend="write (s) or (ms) behind a latency, (tok/s/user) behind a speed",
            )  # fmt: skip
        found.append((metric, column, scale))
    missing = [f"{s.title()} TPOT (s)" for s in ("mean", "median")
               if f"{s}_tpot" not in {metric for metric, *_ in found}]  # fmt: skip
    if len(missing) == 2:
        raise InputError(
            f"the export lacks the columns {', '.join(missing)}",
            file=path, mend="export the table from the dashboard again",
        )  # fmt: skip
    return found


def _scaled(cell: str | None, scale: float) -> str | float | None:
    """The cell in seconds; text that is no number stays, to be reported."""
    if scale == 1.0 or not cell:
        return cell
    try:
        return float(cell) * scale
    except ValueError:
        return cell


def _chip(name: str | None, key: str | None) -> str | None:
    """The chip: ``Hardware``, or the first part of ``Hardware Key`` (gb300_dynamo-trt)."""
    return (key or "").partition("_")[0] or name


def _false(cell: str | None) -> bool:
    return (cell or "").lower() in ("false", "f", "0")
