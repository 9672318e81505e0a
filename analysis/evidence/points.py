"""Public InferenceX rows: the models of data/inferencex/*.csv and what they measure.

An operating point is one row of the benchmark: one configuration at one concurrency.
``attribution`` says how its system is known: ``row`` where the row names it, ``inferred``
where it was worked out from configuration ids and recipes. A row that names its system is
raw data anyone can recompute from, so its quantities are ``reproduced``; an inferred one is
no stronger than ``stated``, until an import of the official rows settles it.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Field, field_validator

from . import figures
from .data import Data, read_csv
from .errors import InputError, shown
from .model import Citation, Date, Name, SourceId, Strict, Text, Url
from .quantity import Grade, Quantity

FOLDER = "inferencex"
COMPARATORS = {"gptoss120b": "gb200", "dsr1": "gb300", "kimik25": "gb300"}  # by model
FRAMEWORK = r"^[a-z0-9][a-z0-9.-]{0,59}$"

Statistic = Literal["mean", "median"]
Decoding = Literal["stp", "mtp"]
Count = Annotated[int, Field(ge=1, le=10_000_000)]
Positive = Annotated[Decimal, Field(gt=0, allow_inf_nan=False)]

SPEED = "output_token/s/user"
TBT = "ms*user/output_token"
PER_PACKAGE = "mixed_token/s/package"
PER_KW = "mixed_token/s/kW"


class Row(Strict):
    """What every row of the benchmark says of itself."""

    model: Name
    hardware: Name
    precision: Name
    decoding: Decoding
    framework: Annotated[str, Field(pattern=FRAMEWORK)]
    concurrency: Count
    throughput_per_gpu_tok_s: Positive
    date: Date | None = None
    run_url: Url | None = None
    config_id: Count | None = None
    source: SourceId
    dump: Date | None = None
    attribution: Literal["row", "inferred"]

    @property
    def grade(self) -> Grade:
        return Grade.REPRODUCED if self.attribution == "row" else Grade.STATED

    @property
    def label(self) -> str:
        """How a table names the row."""
        config = f"configuration {self.config_id}, " if self.config_id else ""
        return f"{config}{self.framework}, concurrency {self.concurrency}"

    @property
    def id(self) -> str:
        """How formulas name the row."""
        config = self.config_id or self.framework.replace("-", "_").replace(".", "_")
        return f"{self.model}_{self.hardware}_{self.decoding}_{config}_c{self.concurrency}"

    def measured(self, name: str, value: Decimal, unit: str) -> Quantity:
        """The exact quantity of one cell."""
        place = f"dump of {self.dump}, {self.label}" if self.dump else self.label
        return Quantity.point(
            Fraction(value), unit, grade=self.grade, id=f"{self.id}_{name}",
            sources=[(self.source, place)],
        )  # fmt: skip

    @property
    def throughput(self) -> Quantity:
        """Input and output tokens per second for each package."""
        return self.measured("throughput", self.throughput_per_gpu_tok_s, PER_PACKAGE)


class OperatingPoint(Row):
    """One configuration at one concurrency, with its latencies where the row has them.

    Without disaggregation the prefill and decode columns describe the same packages.
    A cell that is empty was not given.
    """

    disaggregated: bool | None = None
    prefill_workers: int | None = Field(default=None, ge=0)
    prefill_tp: Count | None = None
    prefill_ep: Count | None = None
    prefill_dp_attention: bool | None = None
    prefill_gpus: Count
    decode_workers: int | None = Field(default=None, ge=0)
    decode_tp: Count | None = None
    decode_ep: Count | None = None
    decode_dp_attention: bool | None = None
    decode_gpus: Count
    isl_tokens: Count
    osl_tokens: Count
    mean_tpot_ms: Positive | None = None
    median_tpot_ms: Positive | None = None
    mean_e2e_s: Positive | None = None
    median_e2e_s: Positive | None = None
    mean_ttft_s: Positive | None = None
    median_ttft_s: Positive | None = None
    note: Text | None = None

    @field_validator("prefill_dp_attention", "decode_dp_attention", "disaggregated", mode="before")
    @classmethod
    def _truth(cls, value: object) -> object:
        if value in ("true", "false"):
            return value == "true"
        if value is None or isinstance(value, bool):
            return value
        raise ValueError("write true or false")

    @property
    def packages(self) -> int:
        return self.prefill_gpus + self.decode_gpus if self.disaggregated else self.decode_gpus

    @property
    def topology(self) -> str:
        """Workers and their parallelism: ``11P(tp2,ep2)+3D(tp4,ep4,dp-attn)``."""

        if self.disaggregated:
            return f"{self._workers('prefill')}+{self._workers('decode')}"
        return self._parallelism("decode")

    def _workers(self, role: str) -> str:
        count = getattr(self, f"{role}_workers")
        shown = "?" if count is None else count
        return f"{shown}{role[0].upper()}({self._parallelism(role)})"

    def _parallelism(self, role: str) -> str:
        degrees = [(name, getattr(self, f"{role}_{name}")) for name in ("tp", "ep")]
        parts = [f"{name}{degree}" for name, degree in degrees if degree is not None]
        return ",".join(parts + ["dp-attn"] * bool(getattr(self, f"{role}_dp_attention")))

    def tpot(self, statistic: Statistic) -> Quantity | None:
        """Time per output token, or None where the row does not give this statistic."""
        value = getattr(self, f"{statistic}_tpot_ms")
        return None if value is None else self.measured(f"{statistic}_tpot", value, TBT)

    def speed(self, statistic: Statistic) -> Quantity | None:
        """Tokens per second that one user sees: one over TPOT, as the benchmark counts it."""
        tpot = self.tpot(statistic)
        return None if tpot is None else (Quantity.point(1) / tpot).to(SPEED)

    def seconds(self, name: Literal["e2e", "ttft"], statistic: Statistic) -> Quantity | None:
        """End-to-end latency or time to first token, or None where it is not given."""
        value = getattr(self, f"{statistic}_{name}_s")
        return None if value is None else self.measured(f"{statistic}_{name}", value, "s")


class Alternative(Row):
    """Another public system's highest-throughput or fastest point."""

    which: Literal["peak", "fastest"]
    points: Count
    median_tpot_ms: Positive

    @property
    def tpot(self) -> Quantity:
        """Its median time per output token."""
        return self.measured("median_tpot", self.median_tpot_ms, TBT)

    @property
    def speed(self) -> Quantity:
        return (Quantity.point(1) / self.tpot).to(SPEED)


class Hardware(Citation):
    """What the benchmark's own code says of a chip; a rating is exact."""

    hardware: Name
    name: Text
    tdp_kw: Positive
    allin_kw: Positive
    allin_kw_other_version: Positive | None = None
    hyperscaler_usd_per_gpu_hour: Positive | None = None
    neocloud_usd_per_gpu_hour: Positive | None = None
    rental_3yr_usd_per_gpu_hour: Positive | None = None


class AllInPower(Citation):
    """A figure for a package with everything around it.

    ``printed`` may be a sum of printed figures (``130 + 50``), for ``packages`` packages, or for
    one where that is empty; ``exact`` marks a constant of the benchmark's code;
    ``basis`` names figures that one source gives side by side.
    """

    id: Name
    system: Name
    printed: Text
    unit: Text
    exact: bool = False
    packages: Count | None = None
    basis: Text | None = None
    read: Literal["primary", "secondary"]
    note: Text | None = None

    @property
    def quantity(self) -> Quantity:
        """Power for each package; never better than ``stated``: nobody published a measurement."""
        if self.packages is None:
            return self._part(self.id, self.printed, f"({self.unit})/package")
        printed = self.printed.split(" + ")
        names = [self.id] if len(printed) == 1 else [f"{self.id}_{i}" for i in range(1, 9)]
        total = self._part(names[0], printed[0], self.unit)
        for name, part in zip(names[1:], printed[1:], strict=False):
            total = total + self._part(name, part, self.unit)
        return total / Quantity.point(self.packages, "package")

    def _part(self, id: str, printed: str, unit: str) -> Quantity:
        read = figures.exact if self.exact else figures.parse
        return Quantity.read(
            read(printed), unit, grade=Grade.STATED, id=id, sources=[(self.source, self.place)]
        )


def read(data: Data, model: str, hardware: str) -> list[OperatingPoint]:
    """The operating points of ``model`` on ``hardware``, in the order of their table.

    Raises ``InputError`` with the line of a row that is wrong, foreign or repeated.
    """
    path = data.file(f"{FOLDER}/{model}-{hardware}.csv")
    points, seen = [], {}
    for point, line in read_csv(path, OperatingPoint, data.shown(path)):
        place = {"file": data.shown(path), "line": line}
        if (point.model, point.hardware) != (model, hardware):
            raise InputError(
                f"the row is about {shown(f'{point.model} on {point.hardware}')}",
                field="model, hardware", mend="move it to the table of that name", **place,
            )  # fmt: skip
        key = identity(point)
        if key in seen:
            raise InputError(
                f"the row repeats line {seen[key]}",
                field="configuration and concurrency", mend="keep one of the two", **place,
            )  # fmt: skip
        try:
            data.source(point.source)
        except InputError as error:
            raise error.at(field="source", **place) from None
        seen[key] = line
        points.append(point)
    return points


HARD = (
    "model", "hardware", "framework", "precision", "decoding", "isl_tokens", "osl_tokens",
    "concurrency", "prefill_gpus", "decode_gpus",
)  # fmt: skip
SOFT = (
    "disaggregated", "prefill_workers", "prefill_tp", "prefill_ep", "prefill_dp_attention",
    "decode_workers", "decode_tp", "decode_ep", "decode_dp_attention",
)  # fmt: skip


def hard_key(point: OperatingPoint) -> tuple:
    """The part of a point's natural key that every form of the rows gives."""
    return tuple(getattr(point, name) for name in HARD)


def identity(point: OperatingPoint) -> tuple:
    """The whole natural key."""
    return (*hard_key(point), *(getattr(point, name) for name in SOFT))


def same(a: OperatingPoint, b: OperatingPoint) -> bool:
    """Whether two rows are one operating point: nothing that both say differs."""
    return hard_key(a) == hard_key(b) and all(
        getattr(a, name) is None or getattr(b, name) is None or getattr(a, name) == getattr(b, name)
        for name in SOFT
    )


def alternatives(data: Data) -> list[Alternative]:
    """Every other public system's peak and fastest point."""
    path = data.file(f"{FOLDER}/alternatives.csv")
    return [
        _sourced(data, path, row, line)
        for row, line in read_csv(path, Alternative, data.shown(path))
    ]


def hardware(data: Data) -> dict[str, Hardware]:
    """The benchmark's chips by id."""
    path = data.file(f"{FOLDER}/hardware.csv")
    rows = [
        (_sourced(data, path, row, line), line)
        for row, line in read_csv(path, Hardware, data.shown(path))
    ]
    return _once(data, path, rows, "hardware")


def all_in(data: Data) -> dict[str, AllInPower]:
    """The all-in power figures of the record by id."""
    path = data.file(f"{FOLDER}/allin.csv")
    rows = [
        (_sourced(data, path, row, line), line)
        for row, line in read_csv(path, AllInPower, data.shown(path))
    ]
    chips = hardware(data)
    for row, line in rows:
        if row.system not in data.systems and row.system not in chips:
            raise InputError(
                f"there is no system {shown(row.system)}",
                file=data.shown(path), line=line, field="system",
                mend="write the id of a system of systems.yml or of a chip of hardware.csv",
            )  # fmt: skip
        with _at(data, path, line, "printed"):
            row.quantity  # noqa: B018  read here, so that what is wrong is told with its line
    return _once(data, path, rows, "id")


@contextmanager
def _at(data: Data, path, line: int, field: str) -> Iterator[None]:
    try:
        yield
    except InputError as error:
        raise error.at(file=data.shown(path), line=line, field=field) from None


def _once(data: Data, path, rows: Iterable[tuple[Any, int]], field: str) -> dict[str, Any]:
    """The rows by the id in ``field``; raises ``InputError`` for one that comes twice."""
    found: dict[str, Any] = {}
    for row, line in rows:
        id = getattr(row, field)
        if id in found:
            raise InputError(
                f"{shown(id)} stands in the table twice",
                file=data.shown(path), line=line, field=field, mend="keep one of the rows",
            )  # fmt: skip
        found[id] = row
    return found


def _sourced(data: Data, path, row, line: int):
    with _at(data, path, line, "source"):
        data.source(row.source)
    return row


def rated_power(data: Data, system: str) -> Quantity:
    """A package's power rating: the published one, else the one in the benchmark's code.

    The second is ``stated``: the vendor's own document was not read.
    """
    if system in data.systems:
        return data.power(system)
    chips = hardware(data)
    if system not in chips:
        raise InputError(
            f"the rating of {shown(system)} is not known",
            file=f"data/{FOLDER}/hardware.csv", mend="add the chip with its TDP and source",
        )  # fmt: skip
    row = chips[system]
    return Quantity.point(
        Fraction(row.tdp_kw), "kW/package", grade=Grade.STATED, id=f"{system}_tdp",
        sources=[(row.source, row.place)],
    )  # fmt: skip


def per_kw(row: Row, data: Data) -> Quantity:
    """Mixed throughput of a row for each rated kW."""
    return (row.throughput / rated_power(data, row.hardware)).to(PER_KW)


def quantities(data: Data) -> dict[str, Quantity]:
    """What formulas may name: every measured cell of every public row, by row id and cell.

    Empty where the data folder has no public rows.
    """
    found: dict[str, Quantity] = {}
    folder = data.folder / FOLDER
    for path in sorted(folder.glob("*-*.csv")):
        for point in read(data, *path.stem.rsplit("-", 1)):
            cells = [point.throughput]
            cells += [cell for s in ("mean", "median") if (cell := point.tpot(s)) is not None]
            cells += [
                cell
                for name in ("e2e", "ttft")
                for s in ("mean", "median")
                if (cell := point.seconds(name, s)) is not None
            ]
            found |= {cell.trace.formula: cell for cell in cells}
    if (folder / "alternatives.csv").exists():
        found |= {row.throughput.trace.formula: row.throughput for row in alternatives(data)}
    return found


def ratings(data: Data) -> dict[str, Quantity]:
    """What formulas may name besides: ``<chip>_tdp``, the rating in the benchmark's own code."""
    if not (data.folder / FOLDER / "hardware.csv").exists():
        return {}
    return {f"{id}_tdp": rated_power(data, id) for id in hardware(data) if id not in data.systems}
