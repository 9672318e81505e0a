"""The chart of a comparator: its points, its fronts, the chosen points and the subject's.

Between the points of a front stands the dashboard's curve (see ``frontier``), drawn thinner than
the points, since nothing was measured there. The subject's curve is public only as a picture: its
points stand alone. A figure without a partner on the other axis stands as a tick on its own axis.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np

from .baselines import SUBJECT, Comparator
from .charts import WIDTH, tokens
from .frontier import Front
from .points import Decoding, rated_power

SAMPLES = 160  # of a curve
HEIGHT = 330  # px
TICKS = (100, 300, 1_000, 3_000, 10_000, 30_000, 100_000)


@dataclass(frozen=True)
class Words:
    """Text beside a point; ``dx`` and ``dy`` move it, in pixels."""

    text: str
    x: float
    y: float
    dx: int = 10
    dy: int = 0
    align: str = "left"
    colour: str = "comparator"


@dataclass(frozen=True)
class Axes:
    """The ranges of a chart: speed from zero to ``right``, throughput from ``low`` to ``high``."""

    right: float
    low: float
    high: float

    @property
    def x(self) -> alt.X:
        return alt.X(
            "x:Q",
            title="Decode speed of one user (tok/s/user)",
            scale=alt.Scale(domain=[0, self.right], nice=False),
            axis=alt.Axis(tickCount=7, format=",.0f", gridOpacity=0.6),
        )

    @property
    def y(self) -> alt.Y:
        return alt.Y(
            "y:Q",
            title="Mixed tok/s per rated kW (logarithmic)",
            scale=alt.Scale(type="log", domain=[self.low, self.high], nice=False),
            axis=alt.Axis(
                format=",.0f",
                gridOpacity=0.6,
                values=[tick for tick in TICKS if self.low <= tick <= self.high],
            ),
        )


def comparator_chart(comparator: Comparator) -> alt.LayerChart:
    """Mixed throughput per rated kW against one user's decode speed, by the printed statistic.

    Filled points are on the pooled front, hollow ones are not; a ring marks the points that the
    published comparison chose. Where rows with MTP exist their front is dashed.
    """
    c = comparator
    own = _disclosed(c)
    stp = c.front("stp", c.statistic)
    axes = _axes(c, stp, own)
    layers = [*_curve(c, "stp", axes, colour="comparator", dash=[1, 0])]
    words = _names(c, stp, own, axes)
    if c.decoded("mtp"):
        layers += _curve(c, "mtp", axes, colour="comparator-light", dash=[5, 3])
    layers += [_rings(c, stp, axes), *_subject(own, axes), *(_text(word, axes) for word in words)]
    return alt.layer(*layers).properties(width=WIDTH - 70, height=HEIGHT)


def front_rows(comparator: Comparator) -> list[list[str]]:
    """The chart's points as text: decoding, row, speed, throughput per rated kW, on which front.

    The dashboard draws a front for each serving framework; the chart pools them.
    """
    c = comparator
    found = []
    for decoding in ("stp", "mtp") if c.decoded("mtp") else ("stp",):
        pooled = {point.id for point in c.front(decoding, c.statistic).points}
        rows = [row for row in c.decoded(decoding) if row.tpot(c.statistic) is not None]
        own = {
            point.id
            for framework in {row.framework for row in rows}
            for point in c.front(decoding, c.statistic, framework).points
        }
        for row in sorted(rows, key=lambda row: row.speed(c.statistic).low):
            on = "yes" if row.id in pooled else "its framework’s" if row.id in own else "no"
            speed, work = row.speed(c.statistic).text(4), c.per_kw(row).text(5)
            found.append([decoding.upper(), row.label, speed, work, on])
    return found


@dataclass(frozen=True)
class _Disclosed:
    points: tuple[tuple[float, float], ...]  # speed, throughput per rated kW
    peak: float
    fastest: float


def _disclosed(c: Comparator) -> _Disclosed:
    prefix = f"{c.model}_{SUBJECT}_stp_throughput_per_kw_at"
    ids = [f"{prefix}_comparator_best_tbt", f"{prefix}_mtp_best_tbt"]
    return _Disclosed(
        tuple(
            (c.data.speed_of(id).middle, c.data.measurement(id).middle)
            for id in ids
            if id in c.data.measurements
        ),
        c.printed("peak_throughput_per_kw", system=SUBJECT).middle,
        c.printed("decode_speed_max", system=SUBJECT).middle,
    )


def _axes(c: Comparator, stp: Front, own: _Disclosed) -> Axes:
    lowest = stp.throughputs[-1] / _power(c)
    return Axes(own.fastest * 1.05, float(lowest) / 2.4, own.peak * 2)


def _power(c: Comparator) -> float:
    return rated_power(c.data, c.hardware).to("kW/package").middle


def _curve(
    c: Comparator, decoding: Decoding, axes: Axes, *, colour: str, dash: list[int]
) -> list[alt.Chart]:
    front, power, ink = c.front(decoding, c.statistic), _power(c), tokens()[colour]
    speeds = np.union1d(np.linspace(front.speeds[0], front.speeds[-1], SAMPLES), front.speeds)
    line = [{"x": float(x), "y": front.at(float(x)).throughput / power} for x in speeds]
    on = {point.id for point in front.points}
    dots: dict[bool, list[dict[str, Any]]] = {True: [], False: []}
    for row in c.decoded(decoding):
        if (speed := row.speed(c.statistic)) is not None:
            place = {"x": speed.middle, "y": float(row.throughput_per_gpu_tok_s) / power}
            dots[row.id in on].append(place)
    return [
        _at(line, axes).mark_line(strokeWidth=1.2, color=ink, strokeDash=dash),
        *(
            _at(places, axes).mark_point(
                size=36,
                stroke=ink,
                strokeWidth=1.4,
                fill=ink if filled else "transparent",
                opacity=1,
            )
            for filled, places in dots.items()
            if places
        ),
    ]


def _rings(c: Comparator, stp: Front, axes: Axes) -> alt.Chart:
    chosen = [
        {"x": float(stp.speeds[i]), "y": float(stp.throughputs[i]) / _power(c)} for i in (0, -1)
    ]
    ink = tokens()["comparator"]
    return _at(chosen, axes).mark_point(size=150, stroke=ink, strokeWidth=1.4, opacity=1)


def _subject(own: _Disclosed, axes: Axes) -> list[alt.Chart]:
    green = tokens()["jalapeno"]
    places = [{"x": x, "y": y} for x, y in own.points]
    edge = [{"x": 0, "y": own.peak, "x2": axes.right * 0.03}]
    foot = [{"x": own.fastest, "y": axes.low, "y2": axes.low * (axes.high / axes.low) ** 0.05}]
    return [
        _at(places, axes).mark_point(
            shape="diamond", size=110, stroke=green, fill=green, opacity=1
        ),
        _at(edge, axes).mark_rule(strokeWidth=3, color=green).encode(x2="x2:Q"),
        _at(foot, axes).mark_rule(strokeWidth=3, color=green).encode(y2="y2:Q"),
    ]


def _names(c: Comparator, stp: Front, own: _Disclosed, axes: Axes) -> list[Words]:
    name, power, green = c.data.systems[c.hardware].name, _power(c), "jalapeno"
    ends = [(float(stp.speeds[i]), float(stp.throughputs[i]) / power) for i in (0, -1)]
    found = [
        Words("Jalapeño’s peak; its speed is not given", 0, own.peak, 26, -6, colour=green),
        Words("Jalapeño at the comparator’s best TBT", *own.points[0], colour=green),
        Words(
            "Jalapeño’s fastest; its throughput is not given",
            own.fastest, axes.low, -8, -8, "right", green,
        ),
        Words(f"{name}, chosen peak", *ends[0], 12, -16 if c.decoded("mtp") else -9),
        Words(f"{name}, chosen best TBT", *ends[1], 12, 4),
    ]  # fmt: skip
    if c.decoded("mtp"):
        mtp = c.front("mtp", c.statistic)
        middle = len(mtp.points) // 2
        place = float(mtp.speeds[middle]), float(mtp.throughputs[middle]) / power
        found.append(Words(f"{name} with MTP", *place, 12, -4))
        found.append(Words("Jalapeño at the best TBT with MTP", *own.points[-1], colour=green))
    return found


def _at(values: list[dict[str, Any]], axes: Axes) -> alt.Chart:
    return alt.Chart(alt.Data(values=values)).encode(x=axes.x, y=axes.y)


def _text(words: Words, axes: Axes) -> alt.Chart:
    return (
        _at([{"x": words.x, "y": words.y, "text": words.text}], axes)
        .mark_text(
            align=words.align, baseline="middle", dx=words.dx, dy=words.dy,
            color=tokens()[words.colour],
        )
        .encode(text="text:N")
    )  # fmt: skip
