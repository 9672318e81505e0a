"""Native controls of a chart: what the page shows, and the parameter that follows it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import altair as alt

from .charts import specification


@dataclass(frozen=True)
class Control:
    """One control; ``value`` is its default, ``None`` for a number nobody knows.

    ``options`` (value to words) belong to a ``select``, the numbers to the other kinds.
    ``unit`` stands behind the value that is shown.
    """

    name: str
    label: str
    kind: Literal["select", "range", "number"]
    value: str | float | None = None
    options: Mapping[str, str] | None = None
    low: float = 0
    high: float = 100
    step: float = 1
    unit: str = ""

    def record(self) -> dict:
        """The control as ``figures/<id>.meta.json`` holds it."""
        record = {"name": self.name, "label": self.label, "kind": self.kind}
        if self.options is not None:
            options = [{"value": key, "text": text} for key, text in self.options.items()]
            return {**record, "value": self.value, "options": options}
        value = "" if self.value is None else f"{self.value:g}"
        limits = {"min": f"{self.low:g}", "max": f"{self.high:g}", "step": f"{self.step:g}"}
        return {**record, **limits, "value": value, "unit": self.unit}

    def parameter(self, figure: str) -> alt.Parameter:
        """The Vega-Lite parameter bound to this control of ``figure``; its value is a text."""
        value = "" if self.value is None else self.value
        element = f"#control-{figure}-{self.name}"
        bind = alt.BindDirect(element=element, event="input")
        return alt.param(name=self.name, value=value, bind=bind)

    @property
    def number(self) -> str:
        """The control's value as a number in an expression; null where it is empty."""
        return f"toNumber({self.name})"


def answering(
    chart: alt.TopLevelMixin,
    figure: str,
    controls: Sequence[Control],
    answer: str,
    *,
    datasets: Mapping[str, list[dict]],
    known: Mapping[str, Any] | None = None,
) -> dict:
    """The specification of ``chart`` with its controls, its data and its answer.

    ``answer`` is an expression for a list of lines, which the page prints below the controls;
    ``known`` are values that expressions look up. Data and values join the finished
    specification, because Altair would copy and check every row at every step.
    """
    said = alt.param(name="answer", expr=answer)
    bound = (control.parameter(figure) for control in controls)
    spec = specification(chart.add_params(*bound, said))
    constants = [{"name": name, "value": value} for name, value in (known or {}).items()]
    return {**spec, "params": constants + spec["params"], "datasets": dict(datasets)}
