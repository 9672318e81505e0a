"""The charts: one theme, one function a kind of chart.

Colours come from report/theme/tokens.json, the same file the page and the PDF take theirs from.
Bars begin at zero; a logarithmic axis says so in its title; labels stand beside what they name.
Labels are Latin: the chart font has no Chinese.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt
import vl_convert
from altair.utils import schemapi

from . import assets
from .paths import TOKENS
from .quantity import Quantity

# Altair checks every part of a chart against its schema as it is made, which takes longer than
# drawing it; a test holds every finished chart against the schema instead.
schemapi.DEBUG_MODE = False

WIDTH = 620  # px of the static picture, set in the PDF at the width of the text
HEIGHT = 230
FONT = "IBM Plex Sans"


@lru_cache(maxsize=1)
def tokens() -> dict[str, str]:
    """Named colours of the charts, on paper; the page maps them to its dark theme."""
    return json.loads(TOKENS.read_text())["chart"]


@dataclass(frozen=True)
class Drawn:
    """A chart as the report takes it; shows itself as a picture in a notebook."""

    svg: str
    spec: dict

    def _repr_mimebundle_(self, **_: Any) -> dict:
        return {"image/svg+xml": self.svg}


def theme() -> dict:
    """The Vega-Lite configuration of every chart."""
    ink, quiet, line = (tokens()[name] for name in ("ink", "quiet", "line"))
    axis = {
        "labelColor": quiet, "titleColor": ink, "titleFontWeight": "normal", "labelFontSize": 12,
        "titleFontSize": 12, "gridColor": line, "domainColor": line, "tickColor": line,
        "titlePadding": 8,
    }  # fmt: skip
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "text": {"fontSize": 12, "color": ink},
        "title": {"color": ink},
        "legend": {"labelColor": ink, "titleColor": ink, "labelFontSize": 12},
        "header": {"labelColor": ink, "labelFontSize": 13, "titleColor": ink},
        "range": {"category": [tokens()["jalapeno"], tokens()["comparator"]]},
    }


@lru_cache(maxsize=1)
def _register_fonts() -> None:
    for folder in assets.folders():
        vl_convert.register_font_directory(str(folder))


def specification(chart: alt.TopLevelMixin) -> dict:
    """The chart's Vega-Lite specification in the report's theme."""
    spec = chart.properties(config=theme()).to_dict()
    spec.pop("$schema", None)
    return spec


def render(chart: alt.TopLevelMixin) -> Drawn:
    """The chart's Vega-Lite specification and its SVG, the same bytes on every machine."""
    _register_fonts()
    spec = chart.properties(config=theme()).to_dict(validate=False)  # drawing it is the check
    spec.pop("$schema", None)
    return Drawn(vl_convert.vegalite_to_svg(spec, vl_version="6.1"), spec)


def _shown(spec: dict, **_: Any) -> dict:
    """A chart that a notebook shows as it is: Altair's own way draws a random id and loads
    its libraries from elsewhere."""
    _register_fonts()
    return {"image/svg+xml": vl_convert.vegalite_to_svg({**spec, "config": theme()}, "6.1")}


alt.renderers.register("evidence", _shown)
alt.renderers.enable("evidence")


def colours(names: Sequence[str]) -> alt.Scale:
    """Green for the subject, which stands first; blue-grey for everything it is compared with."""
    return alt.Scale(
        domain=list(names),
        range=[tokens()["jalapeno"]] + [tokens()["comparator"]] * (len(names) - 1),
    )


def bar_rows(
    model: str, systems: dict[str, Quantity], *, digits: int | None = None
) -> list[dict[str, Any]]:
    """Rows for ``paired_bars``: one model's quantity for each system, by the system's name."""
    return [
        {
            "model": model,
            "system": system,
            "value": quantity.middle,
            "low": float(quantity.low),
            "high": float(quantity.high),
            "label": quantity.text(digits),
        }
        for system, quantity in systems.items()
    ]


def paired_bars(rows: list[dict[str, Any]], *, title: str, subject: str) -> alt.VConcatChart:
    """Two bars a model, beginning at zero, with the printed figure at the end of each.

    ``rows`` come from ``bar_rows``; ``title`` names the quantity with its unit.
    The interval of a printed figure is drawn as a line, which is seen only where it is wide.
    """
    models = list(dict.fromkeys(row["model"] for row in rows))
    top = max(row["high"] for row in rows)
    colour = colours([subject, *sorted({row["system"] for row in rows} - {subject})])
    panels = [
        _panel([row for row in rows if row["model"] == model], model, colour, top, title)
        for model in models
    ]
    for panel in panels[:-1]:
        panel.layer[0].encoding.x.axis = None
    return alt.vconcat(*panels, spacing=14)


def _panel(
    rows: list[dict[str, Any]], model: str, colour: alt.Scale, top: float, title: str
) -> alt.LayerChart:
    systems = [row["system"] for row in rows]
    base = alt.Chart(alt.Data(values=rows)).encode(
        y=alt.Y("system:N", title=None, sort=systems, axis=alt.Axis(ticks=False, domain=False))
    )
    scale = alt.Scale(domain=[0, top * 1.12], nice=False)
    bars = base.mark_bar(height={"band": 0.74}).encode(
        x=alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(tickCount=5, format=",.12~g")),
        color=alt.Color("system:N", scale=colour, legend=None),
    )
    interval = base.mark_rule(strokeWidth=1.5, color=tokens()["ink"]).encode(x="low:Q", x2="high:Q")
    labels = base.mark_text(align="left", dx=6).encode(x="high:Q", text="label:N")
    heading = alt.Title(model, anchor="start", frame="group", fontSize=13, offset=6)
    return alt.layer(bars, interval, labels).properties(width=WIDTH - 90, height=46, title=heading)


def falling_lead(limits: Sequence[tuple[str, Quantity]], *, rated: Quantity) -> alt.LayerChart:
    """The lead per kW against the package power one takes for the subject.

    ``limits`` are (model, power at which the lead is 1), powers in kW per package.
    """
    powers = [round(0.5 + 0.02 * step, 2) for step in range(51)]
    rows = [
        {"model": model, "power": power, "lead": limit.middle / power}
        for model, limit in limits
        for power in powers
    ]
    top = 1.05 * max(row["lead"] for row in rows)
    ends = [row for row in rows if row["power"] == powers[-1]]
    x = alt.X(
        "power:Q",
        title="Power taken for one Jalapeño package (kW); the comparator stays at its rating",
        scale=alt.Scale(domain=[powers[0], powers[-1]], nice=False),
        axis=alt.Axis(grid=False, tickCount=6),
    )
    y = alt.Y(
        "lead:Q",
        title="Lead in peak throughput per kW (×)",
        scale=alt.Scale(domain=[0, top], nice=False),
    )
    lines = (
        alt.Chart(alt.Data(values=rows))
        .mark_line(strokeWidth=2, color=tokens()["jalapeno"])
        .encode(x=x, y=y, detail="model:N")
    )
    names = (
        alt.Chart(alt.Data(values=_spread(ends, top)))
        .mark_text(align="left", dx=6)
        .encode(x="power:Q", y=alt.Y("at:Q", scale=None), text="model:N")
    )
    ruled = alt.Chart(alt.Data(values=[{"power": float(rated.high), "text": "rated"}]))
    rule = ruled.mark_rule(strokeDash=[3, 3], color=tokens()["quiet"]).encode(x="power:Q")
    note = ruled.mark_text(align="left", dx=4, color=tokens()["quiet"]).encode(
        x="power:Q", y=alt.value(HEIGHT - 12), text="text:N"
    )
    even = alt.Chart(alt.Data(values=[{"lead": 1, "text": "no lead"}]))
    level = even.mark_rule(color=tokens()["ink"]).encode(y="lead:Q")
    told = even.mark_text(align="left", dx=6, dy=-8).encode(
        x=alt.value(0), y="lead:Q", text="text:N"
    )
    return alt.layer(lines, rule, note, level, told, names).properties(
        width=WIDTH - 150, height=HEIGHT
    )


LABEL_GAP = 15  # px between labels at the ends of lines


def _spread(ends: list[dict[str, Any]], top: float) -> list[dict[str, Any]]:
    """The ends of lines with a place "at" in px for their labels, none over another."""
    placed: list[dict[str, Any]] = []
    for end in sorted(ends, key=lambda row: -row["lead"]):
        at = HEIGHT * (1 - end["lead"] / top)
        placed.append({**end, "at": max(at, placed[-1]["at"] + LABEL_GAP) if placed else at - 4})
    return placed


def savings(points: Sequence[tuple[str, int, Quantity]]) -> alt.LayerChart:
    """Seconds saved against sequential steps; ``points`` are (model, steps, seconds)."""
    rows = [
        {
            "model": model,
            "steps": steps,
            "low": float(q.low),
            "high": float(q.high),
            "value": q.middle,
        }
        for model, steps, q in points
    ]
    last = max(row["steps"] for row in rows)
    base = alt.Chart(alt.Data(values=rows))
    x = alt.X(
        "steps:Q",
        title="Sequential requests",
        scale=alt.Scale(domain=[0, last], nice=False),
        axis=alt.Axis(grid=False, tickCount=6),
    )
    y = alt.Y("value:Q", title="Seconds saved, linear illustration (s)", scale=alt.Scale(zero=True))
    band = base.mark_area(opacity=0.25, color=tokens()["jalapeno"]).encode(
        x=x,
        y=alt.Y("low:Q", title="Seconds saved, linear illustration (s)"),
        y2="high:Q",
        detail="model:N",
    )
    lines = base.mark_line(color=tokens()["jalapeno"], strokeWidth=1.5, strokeDash=[5, 3]).encode(
        x=x, y=y, detail="model:N"
    )
    names = (
        alt.Chart(alt.Data(values=[row for row in rows if row["steps"] == last]))
        .mark_text(align="left", dx=6)
        .encode(x="steps:Q", y="value:Q", text="model:N")
    )
    return alt.layer(band, lines, names).properties(width=WIDTH - 150, height=HEIGHT)
