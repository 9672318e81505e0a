"""Read a data folder into the models of ``model``.

Every table is read when it is first asked for, and remembers that it was, so that a
notebook's dependencies are the files it really read.
Every error names file, line and field, says what was found and how to mend it.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import Any, TypeVar

from pydantic import BaseModel, ValidationError

from . import figures, yamlfile
from .errors import InputError, shown
from .model import Claim, Gap, Measurement, Metric, Model, Rated, Source, System, Topic
from .paths import DATA
from .quantity import Grade, Quantity, unit_of
from .units import pint

Row = TypeVar("Row", bound=BaseModel)


class Data:
    """The tables of one data folder.

    ``folder`` holds sources.yml, systems.yml, models.yml, metrics.yml and measurements.csv;
    ``reads`` lists the files that have been read so far.
    """

    def __init__(self, folder: str | Path = DATA) -> None:
        self.folder = Path(folder)
        self.reads: list[Path] = []
        if not self.folder.is_dir():
            raise InputError(
                "the data folder is missing", file=folder, mend="name a folder with sources.yml"
            )

    def shown(self, file: Path) -> str:
        """A file's name in messages: relative to the data folder's parent."""
        return str(Path(self.folder.name) / file.relative_to(self.folder))

    def file(self, name: str) -> Path:
        """The path of a table, noted as read."""
        path = self.folder / name
        if path not in self.reads:
            self.reads.append(path)
        return path

    # -- tables ---------------------------------------------------------------------------

    @cached_property
    def sources(self) -> dict[str, Source]:
        return self.keyed("sources.yml", Source)

    @cached_property
    def models(self) -> dict[str, Model]:
        return self.keyed("models.yml", Model)

    @cached_property
    def metrics(self) -> dict[str, Metric]:
        metrics = self.keyed("metrics.yml", Metric)
        for metric in metrics.values():
            for name in ("unit", "printed_unit"):
                self._placed("metrics.yml", (metric.id, name), printed_unit, getattr(metric, name))
        return metrics

    @cached_property
    def systems(self) -> dict[str, System]:
        systems = self.keyed("systems.yml", System)
        for system in systems.values():
            for name in ("package_power", "measured_power"):
                rated: Rated | None = getattr(system, name)
                if rated is None:
                    continue
                at = (system.id, name)
                self._placed("systems.yml", (*at, "source"), self.source, rated.source)
                self._placed("systems.yml", (*at, "unit"), unit_of, rated.unit)
                self._placed("systems.yml", (*at, "printed"), _figure, rated)
        return systems

    @cached_property
    def measurements(self) -> dict[str, Measurement]:
        rows: dict[str, Measurement] = {}
        lines: dict[str, int] = {}
        path = self.file("measurements.csv")
        for row, line in read_csv(path, Measurement, self.shown(path)):
            try:
                self._check(row)
            except InputError as error:
                raise error.at(file=self.shown(path), line=line) from None
            if row.id in rows:
                raise InputError(
                    f"the row for {row.id} stands already in line {lines[row.id]}",
                    file=self.shown(path),
                    line=line,
                    field="model, system, decoding, metric",
                    mend="keep one of the two rows",
                )
            rows[row.id], lines[row.id] = row, line
        return rows

    @cached_property
    def gaps(self) -> dict[str, Gap]:
        gaps = self.keyed("gaps.yml", Gap)
        for gap in gaps.values():
            for number, cite in enumerate(gap.said):
                at = (gap.id, "said", number, "source")
                self._placed("gaps.yml", at, self.source, cite.source)
        return gaps

    @cached_property
    def topics(self) -> dict[str, Topic]:
        return self.keyed("topics.yml", Topic)

    @cached_property
    def claims(self) -> dict[str, Claim]:
        """Every claim of claims/*.yml, by id, in the order of files and entries."""
        claims: dict[str, Claim] = {}
        self._no_stray_claims()
        self.reads.append(self.folder / "claims")
        for path in sorted((self.folder / "claims").glob("*.yml")):
            name = f"claims/{path.name}"
            for id, claim in self.keyed(name, Claim).items():
                with self.claim_field(id, file=name):
                    self._new_claim(id, claims)
                claims[id], self.claim_files[id] = claim, name
        for claim in claims.values():
            self._check_claim(claim, claims)
        return claims

    @cached_property
    def claim_files(self) -> dict[str, str]:
        return {}

    @contextmanager
    def claim_field(self, id: str, *field: str | int, file: str | None = None) -> Iterator[None]:
        """Place an ``InputError`` from within at a claim's file, line and field."""
        try:
            yield
        except InputError as error:
            document = self._documents[file or self.claim_files[id]]
            raise error.at(
                file=document.file,
                line=document.line((id, *field)),
                field=".".join(map(str, field)) or None,
            ) from None

    # -- quantities -----------------------------------------------------------------------

    def source(self, id: str) -> Source:
        return self._known("source", id, self.sources)

    def cited(self, row: Measurement, column: str) -> list[tuple[str, str]]:
        """The (source id, place) pairs of a column that is written ``source: place; ...``."""
        pairs = []
        written = getattr(row, column) or ""
        for part in filter(None, (part.strip() for part in written.split(";"))):
            id, colon, place = part.partition(":")
            if not colon or not place.strip():
                raise InputError(
                    f"{shown(part)} has no place", field=column, mend="write source-id: place; ..."
                )
            self._known("source", id.strip(), self.sources, field=column)
            pairs.append((id.strip(), place.strip()))
        return pairs

    def measurement(self, id: str) -> Quantity:
        """The quantity of a published figure.

        A figure read in its primary document is ``published``, one known second-hand ``stated``.
        """
        row = self._known("measurement", id, self.measurements)
        metric = self.metrics[row.metric]
        return Quantity.read(
            figures.parse(row.printed),
            metric.unit,
            grade=_grade(row),
            id=row.id,
            sources=[(row.source, row.place), *self.cited(row, "also")],
        )

    def speed_of(self, id: str) -> Quantity:
        """The decode speed at which an equal-speed measurement is read."""
        row = self._known("measurement", id, self.measurements)
        if row.at is None:
            raise InputError(f"{id} is read at no given speed", mend="fill its column at")
        return Quantity.read(
            figures.parse(row.at),
            "output_token/s/user",
            grade=_grade(row),
            id=f"{id}_speed",
            sources=[(row.source, row.place)],
        )

    def printed_lead(self, id: str) -> Quantity:
        """The ratio that is printed for an equal-speed point: a statement, not a measurement."""
        row = self._known("measurement", id, self.measurements)
        if row.lead is None:
            raise InputError(f"no lead is printed for {id}", mend="fill its column lead")
        return Quantity.read(
            figures.parse(row.lead),
            "",
            grade=Grade.STATED,
            id=f"{id}_lead",
            sources=self.cited(row, "lead_source"),
        )

    def power(self, system: str, which: str = "package_power") -> Quantity:
        """A system's ``package_power`` or ``measured_power``, in watts per package."""
        row = self._known("system", system, self.systems)
        rated: Rated | None = getattr(row, which)
        if rated is None:
            raise InputError(
                f"{row.name} has no {which}",
                file=self.shown(self.folder / "systems.yml"),
                mend="add it with its source, or do not use it",
            )
        return Quantity.read(
            _figure(rated),
            f"({rated.unit})/package",
            grade=Grade.of(rated.grade),
            id=f"{system}_{which}",
            sources=[(rated.source, rated.place)],
        )

    def quantity(self, name: str) -> Quantity | None:
        """What a name in a formula stands for: a measurement or a system's power; else None."""
        if name in self.measurements:
            return self.measurement(name)
        for which in ("package_power", "measured_power"):
            system = name.removesuffix(f"_{which}")
            if system != name and getattr(self.systems.get(system), which, None) is not None:
                return self.power(system, which)
        return None

    # -- checks ---------------------------------------------------------------------------

    def _no_stray_claims(self) -> None:
        """Raise ``InputError`` for a file among the claims that would not be read."""
        for path in sorted((self.folder / "claims").rglob("*")):
            read = path.suffix == ".yml" and path.parent.name == "claims"
            if path.is_file() and not read and path.suffix != ".md" and path.name[0] != ".":
                raise InputError(
                    "this file would not be read",
                    file=self.shown(path),
                    mend="claims stand in claims/*.yml, directly in that folder",
                )

    def _check_claim(self, claim: Claim, claims: dict[str, Claim]) -> None:
        with self.claim_field(claim.id, "topic"):
            self._known("topic", claim.topic, self.topics)
        for i, saying in enumerate(claim.said):
            with self.claim_field(claim.id, "said", i, "source"):
                self.source(saying.source)
        if claim.restates is not None:
            with self.claim_field(claim.id, "restates"):
                self._restated(claim, claims)

    def _new_claim(self, id: str, claims: dict[str, Claim]) -> None:
        if id in claims:
            first = self.shown(self.folder / self.claim_files[id])
            raise InputError(
                f"there is a claim {shown(id)} in {first} already", mend="give one another id"
            )

    def _restated(self, claim: Claim, claims: dict[str, Claim]) -> None:
        root = self._known("claim", claim.restates, claims, field="restates")
        if root.restates is not None:
            raise InputError(
                f"{shown(root.id)} restates another claim itself",
                mend=f"restate {root.restates}",
            )

    def _check(self, row: Measurement) -> None:
        self._known("model", row.model, self.models, field="model")
        self._known("system", row.system, self.systems, field="system")
        metric = self._known("metric", row.metric, self.metrics, field="metric")
        self._known("source", row.source, self.sources, field="source")
        for column in ("also", "lead_source"):
            self.cited(row, column)
        for name in ("printed", "at", "lead"):
            try:
                figures.parse(getattr(row, name) or "0")
            except InputError as error:
                raise error.at(field=name) from None
        figure = figures.parse(row.printed)
        if metric.positive and figure.low <= 0 and figure.form == "plain":
            raise InputError(
                f"{shown(row.printed)} is not above zero, as {metric.name} must be",
                field="printed",
                mend="write the figure exactly as it is printed",
            )
        try:
            unit = printed_unit(row.unit)
        except InputError as error:
            raise error.at(field="unit") from None
        behind = unit if figure.unit is None else unit_of(figure.unit)
        if unit != printed_unit(metric.printed_unit) or behind != unit:
            raise InputError(
                f"{shown(row.unit)} does not fit {metric.name}",
                field="unit",
                mend=f"write the figure in {metric.printed_unit}",
            )

    def _known(self, what: str, id: str, table: dict[str, Any], field: str | None = None) -> Any:
        if id not in table:
            raise InputError(
                f"there is no {what} {shown(id)}",
                field=field,
                mend=f"use one of: {', '.join(sorted(table)[:20])}; or add it to its table",
            )
        return table[id]

    def _placed(self, name: str, path: tuple[str | int, ...], check: Callable, value: Any) -> None:
        try:
            check(value)
        except InputError as error:
            raise error.at(
                file=self.shown(self.folder / name),
                line=self._documents[name].line(path),
                field=".".join(map(str, path[1:])),
            ) from None

    @cached_property
    def _documents(self) -> dict[str, yamlfile.Document]:
        return {}

    def keyed(self, name: str, kind: type[Row]) -> dict[str, Row]:
        """A YAML mapping from id to fields, read into models that carry their id."""
        path = self.file(name)
        document = yamlfile.read(path, self.shown(path))
        self._documents[name] = document
        if not isinstance(document.value, dict):
            raise InputError(
                "the file is no mapping from id to fields",
                file=document.file,
                line=1,
                mend="begin each entry with its id and a colon",
            )
        for id, fields in document.value.items():
            if not isinstance(fields, dict):
                raise InputError(
                    f"the entry {shown(id)} has no fields",
                    file=document.file,
                    line=document.line((id,)),
                    mend="write its fields below it, indented, one a line",
                )
        return {
            id: validated(kind, {"id": id, **fields}, document, (id,))
            for id, fields in document.value.items()
        }


def _grade(row: Measurement) -> Grade:
    return Grade.PUBLISHED if row.read == "primary" else Grade.STATED


def printed_unit(text: str) -> pint.Unit:
    """The unit that a printed spelling (``mixed tok/s/kW``) or pint's own stands for."""
    return unit_of(figures.UNITS.get(text, text))


def _figure(rated: Rated) -> figures.Figure:
    return figures.exact(rated.printed) if rated.exact else figures.parse(rated.printed)


def validated(
    kind: type[Row], fields: dict, document: yamlfile.Document, path: tuple[str | int, ...]
) -> Row:
    """``fields`` as a ``kind``; raises ``InputError`` with the line of the first wrong one."""
    try:
        return kind(**fields)
    except ValidationError as error:
        first = _telling(error)
        at = tuple(first["loc"])
        raise _invalid(first, kind).at(
            file=document.file, line=document.line((*path, *at)), field=".".join(map(str, at))
        ) from None


def _telling(error: ValidationError) -> dict:
    """The finding that helps most: a misspelt field before the missing one it leaves."""
    found = error.errors()
    return next((one for one in found if one["type"] == "extra_forbidden"), found[0])


def _invalid(problem: dict, kind: type[BaseModel]) -> InputError:
    """pydantic's finding in our words."""
    what = problem["type"]
    names = [name for name in kind.model_fields if name != "id"]
    if what == "missing":
        return InputError("the field is missing", mend="add it")
    if what == "extra_forbidden":
        return InputError(
            "the field is not known here", mend=f"use only: {', '.join(names)}; check its spelling"
        )
    found = shown(problem.get("input"))
    if what == "literal_error":
        return InputError(f"{found} is not allowed", mend=f"use {problem['ctx']['expected']}")
    return InputError(f"{found} is not valid", mend=problem["msg"].removeprefix("Value error, "))


def read_csv(path: Path, kind: type[Row], shown_as: str) -> Iterable[tuple[Row, int]]:
    """The rows of a comma-separated table, each with its line.

    The header must hold ``kind``'s required fields; a byte order mark and CRLF are accepted.
    An empty cell is a field that is not given.
    """
    text = yamlfile.text_of(path, shown_as)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        header = next(reader, None)
        _check_header(header, kind, shown_as)
        for cells in reader:
            if not cells:
                continue
            if len(cells) != len(header):
                raise InputError(
                    f"the row has {len(cells)} cells, the header {len(header)}",
                    file=shown_as,
                    line=reader.line_num,
                    mend="quote cells that hold a comma",
                )
            yield _row(dict(zip(header, cells)), kind, shown_as, reader.line_num), reader.line_num
    except csv.Error as error:
        raise InputError(
            f"this is not CSV: {error}",
            file=shown_as,
            line=reader.line_num,
            mend="separate cells by commas and quote those that hold a comma or a quote",
        ) from None


def _check_header(header: list[str] | None, kind: type[BaseModel], shown_as: str) -> None:
    needed = [name for name, field in kind.model_fields.items() if field.is_required()]
    missing = [name for name in needed if name not in (header or [])]
    unknown = [name for name in header or [] if name not in kind.model_fields]
    twice = [name for name in header or [] if (header or []).count(name) > 1]
    if missing or unknown or twice:
        problems = (("missing", missing), ("not known", unknown), ("there twice", twice))
        raise InputError(
            "; ".join(f"columns {what}: {', '.join(names)}" for what, names in problems if names),
            file=shown_as,
            line=1,
            mend=f"use the header {','.join(kind.model_fields)}, separated by commas",
        )


def _row(cells: dict[str, str], kind: type[Row], shown_as: str, line: int) -> Row:
    given = {name: cell.strip() for name, cell in cells.items() if cell.strip()}
    try:
        return kind(**given)
    except ValidationError as error:
        first = _telling(error)
        problem = _invalid(first, kind)
        if first["type"] == "missing":
            problem = InputError("the cell is empty", mend="fill it in")
        raise problem.at(file=shown_as, line=line, field=".".join(map(str, first["loc"]))) from None
