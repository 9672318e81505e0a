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
import pandas as pd
import vl_convert

from . import fonts
from .data import ROOT

WIDTH = 620  # px of the static picture, set in the PDF at the width of the text
FONT = "Source Sans 3"


@lru_cache(maxsize=1)
def tokens() -> dict[str, str]:
    """Named colours of the light theme."""
    return json.loads((ROOT / "report" / "theme" / "tokens.json").read_text())["light"]


@dataclass(frozen=True)
class Drawn:
    """A chart as the report takes it; shows itself as a picture in a notebook."""

    svg: str
    spec: dict

    def _repr_mimebundle_(self, **_: Any) -> dict:
        return {"image/svg+xml": self.svg}


def theme() -> dict:
    """The Vega-Lite configuration of every chart."""
    ink, muted, line = (tokens()[name] for name in ("ink", "muted", "rule"))
    axis = {
        "labelColor": muted, "titleColor": ink, "titleFontWeight": "normal", "labelFontSize": 12,
        "titleFontSize": 12, "gridColor": line, "domainColor": line, "tickColor": line,
        "titlePadding": 8,
    }  # fmt: skip
    return {
        "background": "transparent",
        "font": FONT,
        "view": {"stroke": None},
        "axis": axis,
        "text": {"fontSize": 12, "color": ink},
        "header": {"labelColor": ink, "labelFontSize": 13, "titleColor": ink},
        "range": {"category": [tokens()["subject"], tokens()["comparator"]]},
    }


@lru_cache(maxsize=1)
def _register_fonts() -> None:
    for folder in fonts.folders():
        vl_convert.register_font_directory(str(folder))


def render(chart: alt.TopLevelMixin) -> Drawn:
    """The chart's Vega-Lite specification and its SVG, the same bytes on every machine."""
    _register_fonts()
    spec = chart.properties(config=theme()).to_dict()
    spec.pop("$schema", None)
    return Drawn(vl_convert.vegalite_to_svg(spec, vl_version="6.1"), spec)


def colours(names: Sequence[str]) -> alt.Scale:
    """Green for the subject, which stands first; blue-grey for everything it is compared with."""
    return alt.Scale(
        domain=list(names),
        range=[tokens()["subject"]] + [tokens()["comparator"]] * (len(names) - 1),
    )


def paired_bars(rows: pd.DataFrame, *, title: str, subject: str) -> alt.LayerChart:
    """Two bars a model, with the printed figure at the end of each.

    ``rows`` has columns model, system, value, low, high, label; ``title`` names the quantity
    with its unit. Intervals are drawn where they are wide enough to be seen.
    """
    systems = [subject, *sorted(set(rows["system"]) - {subject})]
    base = alt.Chart(rows).encode(
        y=alt.Y("system:N", title=None, sort=systems, axis=alt.Axis(ticks=False, domain=False))
    )
    bars = base.mark_bar(height={"band": 0.72}).encode(
        x=alt.X("value:Q", title=title, scale=alt.Scale(zero=True), axis=alt.Axis(tickCount=5)),
        color=alt.Color("system:N", scale=colours(systems), legend=None),
    )
    error = base.mark_rule(strokeWidth=1.5, color=tokens()["ink"]).encode(x="low:Q", x2="high:Q")
    labels = base.mark_text(align="left", dx=6).encode(x="high:Q", text="label:N")
    layered = alt.layer(bars, error, labels).properties(width=WIDTH - 130, height=44)
    return layered.facet(
        row=alt.Row(
            "model:N",
            sort=list(dict.fromkeys(rows["model"])),
            title=None,
            header=alt.Header(labelAngle=0, labelOrient="top", labelAnchor="start", labelPadding=2),
        ),
        spacing=10,
    ).resolve_scale(y="independent")
