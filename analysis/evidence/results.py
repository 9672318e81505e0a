"""The comparisons that the published figures allow, one function a question.

Every function takes the data folder and a model's id and returns quantities;
the subject is the chip whose claims are examined, the comparator the system it is set against.
"""

from __future__ import annotations

from fractions import Fraction

from .data import Data
from .errors import InputError
from .quantity import Grade, Quantity, ratio

# InferenceX draws request lengths uniformly from 80 to 100 % of the nominal length
SHORTEST, LONGEST = Fraction(8, 10), Fraction(1)


def subject(data: Data) -> str:
    """The id of the one system whose role is subject."""
    return next(id for id, system in data.systems.items() if system.role == "subject")


def comparator(data: Data, model: str, decoding: str = "stp") -> str:
    """The id of the system that ``model``'s published figures compare the subject with."""
    for row in data.measurements.values():
        comparing = data.systems[row.system].role == "comparator"
        if row.model == model and row.decoding == decoding and comparing:
            return row.system
    raise InputError(
        f"no comparator is published for {model} with {decoding}",
        file="data/measurements.csv",
        mend="add its rows, or ask for another decoding mode",
    )


def row_id(data: Data, model: str, system: str, metric: str, decoding: str = "stp") -> str:
    """The id of a measurement, which must exist."""
    id = f"{model}_{system}_{decoding}_{metric}"
    data.measurement(id)
    return id


def pair(data: Data, model: str, metric: str) -> tuple[Quantity, Quantity]:
    """The subject's and the comparator's figure of one metric, both without speculation (STP)."""
    systems = subject(data), comparator(data, model)
    first, second = (data.measurement(row_id(data, model, system, metric)) for system in systems)
    return first, second


def lead(data: Data, model: str, metric: str) -> Quantity:
    """How many times better the subject is: always above 1 where it leads."""
    own, other = pair(data, model, metric)
    better = data.metrics[metric].better
    return ratio(own, other) if better == "higher" else ratio(other, own)


def equal_speed(data: Data, model: str) -> tuple[Quantity, Quantity]:
    """Throughput per rated kW of both systems at the comparator's best TBT."""
    own = row_id(data, model, subject(data), "throughput_per_kw_at_comparator_best_tbt")
    other = row_id(data, model, comparator(data, model), "throughput_per_kw_at_own_best_tbt")
    return data.measurement(own), data.measurement(other)


def equal_speed_mtp(data: Data, model: str) -> tuple[Quantity, Quantity]:
    """The same at the best TBT that the comparator reaches with MTP."""
    other = comparator(data, model, "mtp")
    return (
        data.measurement(row_id(data, model, subject(data), "throughput_per_kw_at_mtp_best_tbt")),
        data.measurement(row_id(data, model, other, "throughput_per_kw_at_own_best_tbt", "mtp")),
    )


def share_of_peak(data: Data, model: str) -> tuple[Quantity, Quantity]:
    """Where on its own curve each system stands at the comparator's best TBT, in percent."""
    points = equal_speed(data, model)
    peaks = pair(data, model, "peak_throughput_per_kw")
    own, other = (ratio(point, peak).to("percent") for point, peak in zip(points, peaks))
    return own, other


def per_package(data: Data, model: str) -> tuple[Quantity, Quantity]:
    """Peak mixed throughput of one package: the figure per rated kW times the rated kW."""
    systems = subject(data), comparator(data, model)
    own, other = (
        (peak * data.power(system)).to("mixed_token/s/package")
        for peak, system in zip(pair(data, model, "peak_throughput_per_kw"), systems)
    )
    return own, other


def break_even_power(data: Data, model: str) -> Quantity:
    """The package power of the subject at which its lead in peak throughput would vanish, in kW.

    At that power its package, with the throughput it has, does no more per kW than the
    comparator at its rating.
    """
    own, _ = per_package(data, model)
    _, other = pair(data, model, "peak_throughput_per_kw")
    return (own / other).to("kW/package")


def gain_on_measured_power(data: Data) -> Quantity:
    """How many times higher the subject's figures per kW are on measured than on rated power."""
    system = subject(data)
    return ratio(data.power(system), data.power(system, "measured_power"))


def most_output_tokens(data: Data, model: str, system: str) -> Quantity:
    """The highest average output length that a system's lowest E2E and lowest TBT allow.

    E2E holds the time to the first token and (n - 1) times between tokens, none of which is
    on average below the lowest TBT; so n is at most 1 + E2E / TBT, in output tokens a user.
    It fails only if one figure is a mean and the other a median.
    """
    e2e, tbt = (
        data.measurement(row_id(data, model, system, metric))
        for metric in ("e2e_latency_min", "tbt_min")
    )
    one = Quantity.point(1, "output_token/user")
    return one + (e2e / tbt).to("output_token/user")


def expected_output_tokens(nominal: int) -> Quantity:
    """The mean output length of the benchmark's uniform draw, in output tokens a user."""
    length = Quantity.point(
        nominal,
        "output_token/user",
        grade=Grade.STATED,
        id="nominal_output_length",
        sources=[("inferencex-method", "request lengths drawn from 80 to 100 % of nominal")],
    )
    return length * ((SHORTEST + LONGEST) / 2)


def saved(data: Data, model: str, steps: int) -> Quantity:
    """Seconds saved by ``steps`` sequential requests, each taking the lowest latency.

    A reader's what-if: real agents' steps differ in length, wait for tools and may overlap.
    """
    own, other = pair(data, model, "e2e_latency_min")
    return (Quantity.point(steps) * (other - own)).graded(Grade.ASSUMED)
