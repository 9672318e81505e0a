"""The chart of a comparator: its points, its fronts, the chosen points and the subject's.

Between the points of a front stands the dashboard's curve (see ``frontier``), drawn thinner than
the points, since nothing was measured there. The subject's curve is public only as a picture: its
points stand alone. A figure without a partner on the other axis stands as a tick on its own axis.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np

from .charts import WIDTH, tokens
from .frontier import Front

SAMPLES = 160  # of a curve


@dataclass(frozen=True)
class Label:
    """Words beside a point; ``dx`` and ``dy`` move them, in pixels."""

    text: str
    x: float
    y: float
    dx: int = 8
    dy: int = 0
    align: str = "left"
    colour: str = "ink"


@dataclass
class Curve:
    """One front with the points that are not on it; values are per rated kW."""

    front: Front
    power: float
    others: list[tuple[float, float]] = field(default_factory=list)
    colour: str = "comparator"
    dash: Sequence[int] = (1, 0)

    def line(self) -> list[dict[str, float]]:
        low, high = self.front.speeds[0], self.front.speeds[-1]
        speeds = np.union1d(np.linspace(low, high, SAMPLES), self.front.speeds)
        return [
            {"x": float(x), "y": self.front.at(float(x)).throughput / self.power} for x in speeds
        ]

    def dots(self) -> list[dict[str, Any]]:
        pairs = zip(self.front.speeds, self.front.throughputs, strict=True)
        on = [{"x": float(x), "y": float(y) / self.power, "front": "on"} for x, y in pairs]
        return on + [{"x": x, "y": y, "front": "off"} for x, y in self.others]


def comparator_chart(
    curves: Sequence[Curve],
    *,
    subject: Sequence[tuple[float, float]],
    peak: float,
    fastest: float,
    labels: Sequence[Label],
    domain: tuple[float, float, float],
) -> alt.LayerChart:
    """Mixed throughput per rated kW (logarithmic) against one user's decode speed.

    ``subject`` are its disclosed points (speed, throughput); ``peak`` and ``fastest`` are known
    without their partner. ``domain`` is the highest speed, the lowest and highest throughput.
    """
    right, low, high = domain
    x = alt.X(
        "x:Q",
        title="Decode speed of one user (tok/s/user)",
        scale=alt.Scale(domain=[0, right], nice=False),
        axis=alt.Axis(tickCount=7, format=","),
    )
    y = alt.Y(
        "y:Q",
        title="Mixed tok/s per rated kW (logarithmic)",
        scale=alt.Scale(type="log", domain=[low, high], nice=False),
        axis=alt.Axis(
            format=",", values=[v for v in (100, 300, 1e3, 3e3, 1e4, 3e4, 1e5) if low <= v <= high]
        ),
    )
    layers: list[alt.Chart] = []
    for curve in curves:
        ink = tokens()[curve.colour]
        line = alt.Chart(alt.Data(values=curve.line()))
        layers.append(
            line.mark_line(
                strokeWidth=1.2, color=ink, strokeDash=list(curve.dash), opacity=0.8
            ).encode(x=x, y=y)
        )
        dots = alt.Chart(alt.Data(values=curve.dots()))
        layers.append(
            dots.mark_point(size=38, stroke=ink, strokeWidth=1.4).encode(
                x=x,
                y=y,
                fill=alt.Fill(
                    "front:N",
                    scale=alt.Scale(domain=["on", "off"], range=[ink, "transparent"]),
                    legend=None,
                ),
            )
        )
    green = tokens()["jalapeno"]
    own = alt.Chart(alt.Data(values=[{"x": a, "y": b} for a, b in subject]))
    layers.append(
        own.mark_point(shape="diamond", size=110, color=green, fill=green).encode(x=x, y=y)
    )
    edge = {"x": 0, "x2": right * 0.03, "y": peak}
    layers.append(
        alt.Chart(alt.Data(values=[edge]))
        .mark_rule(strokeWidth=3, color=green)
        .encode(x=x, x2="x2:Q", y=y)
    )
    foot = {"x": fastest, "y": low, "y2": low * (high / low) ** 0.05}
    layers.append(
        alt.Chart(alt.Data(values=[foot]))
        .mark_rule(strokeWidth=3, color=green)
        .encode(x=x, y=y, y2="y2:Q")
    )
    return (
        alt.layer(*layers, *(_words(label, x, y) for label in labels))
        .properties(width=WIDTH - 70, height=330)
        .resolve_scale(fill="independent")
    )


def _words(label: Label, x: alt.X, y: alt.Y) -> alt.Chart:
    return (
        alt.Chart(alt.Data(values=[{"x": label.x, "y": label.y, "text": label.text}]))
        .mark_text(
            align=label.align, baseline="middle", dx=label.dx, dy=label.dy,
            color=tokens()[label.colour], lineBreak="\n", fontSize=12,
        )
        .encode(x=x, y=y, text="text:N")
    )  # fmt: skip
