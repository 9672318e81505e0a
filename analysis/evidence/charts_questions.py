"""The charts that answer a reader's controls, each with the static form that needs none.

What can be listed is looked up: the lines are written here from quantities, and the page only
chooses among them. Where the reader's numbers are free the page does simple arithmetic on the
bounds of quantities, written out in the expressions below.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import altair as alt

from . import charts
from .charts import HEIGHT, WIDTH, tokens
from .controls import Control, answering
from .paths import TOKENS
from .quantity import Grade, Quantity, outward_text
from .questions import Answer, At, Questions

Chart = alt.TopLevelMixin
ROW = 30  # px of one bar
# how far an axis reaches beyond its longest bar: room for the label, more on a phone
ROOM = "(width < 320 ? 1.9 : 1.3)"


@dataclass(frozen=True)
class Question:
    """A chart with its controls, and the picture that stands for it where there is no script."""

    controls: list[Control]
    spec: dict
    static: Chart


@lru_cache(maxsize=1)
def _grades() -> dict:
    return json.loads(TOKENS.read_text())["grade"]


def graded(grade: Grade) -> str:
    """A grade by shape and word."""
    shown = _grades()[str(grade)]
    return f"{shown['mark']}\u00a0{shown['word']}"


def _times(quantity: Quantity) -> str:
    return f"{quantity.text(3)}×"


# -- leads: power and baseline ------------------------------------------------------------


def _line(questions: Questions, answer: Answer, what: str) -> str:
    head = f"{questions.model_name(answer.model)} against {answer.against}: "
    if answer.quantity is None:
        return head + answer.reason + "."
    return f"{head}{what} {_times(answer.quantity)} ({graded(answer.quantity.grade)})."


def _row(questions: Questions, key: str, answer: Answer) -> dict[str, Any]:
    lead = answer.quantity
    row = {"key": key, "model": questions.model_name(answer.model), "lead": 0, "low": 0, "high": 0}
    if lead is None:
        return {**row, "label": "no answer"}
    return {
        **row, "lead": lead.middle, "low": float(lead.low), "high": float(lead.high),
        "label": f"{_times(lead)} {graded(lead.grade)[0]}",
    }  # fmt: skip


def _y(field: str, sort: list[str] | None = None) -> alt.Y:
    axis = alt.Axis(ticks=False, domain=False, labelLimit=220, labelPadding=6)
    return alt.Y(f"{field}:N", title=None, sort=sort, axis=axis)


def _even(top: float) -> alt.LayerChart:
    """The line at which there is no lead, named."""
    base = alt.Chart(alt.Data(values=[{"lead": 1, "text": "no lead"}]))
    rule = base.mark_rule(color=tokens()["ink"]).encode(x="lead:Q")
    name = base.mark_text(align="left", dx=4, dy=-2, baseline="bottom", fontSize=11).encode(
        x="lead:Q", y=alt.value(0), text="text:N"
    )
    return rule + name


def _lead_bars(rows: list[dict], chosen: str, title: str, models: list[str]) -> alt.LayerChart:
    top = max(row["high"] for row in rows) * 1.45
    base = alt.Chart(alt.NamedData("rows")).transform_filter(f"datum.key == {chosen}")
    x = alt.X("lead:Q", title=title, scale=alt.Scale(domain=[0, top], nice=False),
              axis=alt.Axis(tickCount=5, titleAnchor="end"))  # fmt: skip
    bars = base.mark_bar(height={"band": 0.6}, color=tokens()["jalapeno"])
    interval = base.mark_rule(strokeWidth=1.5, color=tokens()["ink"]).encode(
        x="low:Q", x2="high:Q", y=_y("model", models)
    )
    text = base.mark_text(align="left", dx=6).encode(
        x="high:Q", y=_y("model", models), text="label:N"
    )
    return (
        alt.layer(bars.encode(x=x, y=_y("model", models)), interval, _even(top), text)
        .properties(width=WIDTH - 130, height=ROW * len(models) + 20)
    )  # fmt: skip


def _shape(field: str, colour: str) -> alt.Shape:
    """Told apart by shape, named above the chart."""
    legend = alt.Legend(
        orient="top",
        labelLimit=300,
        symbolFillColor=tokens()[colour],
        symbolStrokeColor=tokens()[colour],
    )
    return alt.Shape(f"{field}:N", title=None, legend=legend)


def _lead_dots(rows: list[dict], title: str, by: str, sort: list[str], name: str) -> Chart:
    """Every lead of a list as a dot, one line a choice, one colour, no lead at 1."""
    rows = [row for row in rows if row["lead"]]
    top = max(row["high"] for row in rows) * 1.08
    x = alt.X("lead:Q", title=title, scale=alt.Scale(domain=[0, top], nice=False))
    base = alt.Chart(alt.Data(values=rows))
    dots = base.mark_point(
        filled=True, size=60, opacity=0.9, color=tokens()["jalapeno"]
    ).encode(x=x, y=_y(by, sort), shape=_shape(name, "jalapeno"))  # fmt: skip
    shown = [key for key in sort if any(row[by] == key for row in rows)]
    return alt.layer(dots, _even(top)).properties(width=WIDTH - 230, height=26 * len(shown))


def power(questions: Questions) -> Question:
    """The lead in peak throughput per kW, by what is charged to a package."""
    ours, theirs = questions.own_power(), questions.rival_power()
    controls = [
        Control("ours", "Power of a Jalapeño package", "select", "rating", ours),
        Control("theirs", "Power of a comparator’s package", "select", "rating", theirs),
    ]
    rows, lines, static = [], {}, []
    for own in ours:
        for other in theirs:
            key = f"{own}|{other}"
            answers = questions.power(own, other)
            lines[key] = [_line(questions, answer, "a lead of") for answer in answers]
            if own not in ("rating", "measured") and other not in ("rating", "measured"):
                lines[key].append(
                    "One source gives both figures side by side."
                    if questions.same_source(own, other)
                    else "Two sources: they need not count the same things around the package."
                )
            rows += [_row(questions, key, answer) for answer in answers if answer.quantity]
            for answer in answers:
                if answer.quantity:
                    static.append(
                        {**_row(questions, key, answer), "basis": _basis(questions, own, other)}
                    )
    models = [questions.model_name(model) for model in questions.data.models]
    title = "Lead in peak throughput per kW (×)"
    chart = _lead_bars(rows, "ours + '|' + theirs", title, models)
    sort = ["package rating", "all-in, one source", "all-in, two sources"]
    return Question(
        controls,
        answering(
            chart, "ask-power", controls, "answers[ours + '|' + theirs]",
            datasets={"rows": rows}, known={"answers": lines},
        ),
        _lead_dots(static, title, "model_basis", _pairs(static, models, sort), "basis"),
    )  # fmt: skip


def _basis(questions: Questions, own: str, other: str) -> str:
    if own == "rating":
        return "package rating"
    same = questions.same_source(own, other)
    return "all-in, one source" if same else "all-in, two sources"


def _pairs(rows: list[dict], models: list[str], sort: list[str]) -> list[str]:
    """Name each row by its model alone; returns the order of the lines."""
    for row in rows:
        row["model_basis"] = row["model"]
    return models


def baseline(questions: Questions) -> Question:
    """The lead at peak, or in decode speed, by what Jalapeño is set against."""
    options = questions.baselines()
    metrics = {"peak": "peak throughput per rated kW", "speed": "highest decode speed"}
    controls = [
        Control("base", "Set Jalapeño against", "select", "stp", options),
        Control("metric", "In", "select", "peak", metrics),
    ]
    rows, lines, static = [], {}, []
    for base, name in options.items():
        for metric, words in metrics.items():
            key = f"{base}|{metric}"
            answers = questions.baseline(base, metric)
            lines[key] = [_line(questions, answer, f"in {words} a lead of") for answer in answers]
            if base.endswith("mtp"):
                lines[key].append("Jalapeño itself decodes one token at a time here.")
            rows += [_row(questions, key, answer) for answer in answers if answer.quantity]
            if metric == "peak":
                static += [
                    {**_row(questions, key, answer), "base": name.partition(" (")[0]}
                    for answer in answers
                ]
    models = [questions.model_name(model) for model in questions.data.models]
    chart = _lead_bars(rows, "base + '|' + metric", "Jalapeño’s lead (×)", models)
    order = [name.partition(" (")[0] for name in options.values()]
    return Question(
        controls,
        answering(
            chart, "ask-baseline", controls, "answers[base + '|' + metric]",
            datasets={"rows": rows}, known={"answers": lines},
        ),
        _lead_dots(
            static, "Lead in peak throughput per rated kW (×)", "base", order, "model"
        ),
    )  # fmt: skip


# -- equal speed --------------------------------------------------------------------------


def _curve_name(questions: Questions, key: str) -> str:
    model, decoding = questions.fronts()[key]
    with_mtp = " with MTP" if decoding == "mtp" else ""
    return f"{questions.model_name(model)} on {questions.rival_name(model)}{with_mtp}"


def _read(at: At) -> list:
    """What an answer says of one reading, in the order in which ``READING`` takes it."""
    value, lead = (graded(quantity.grade) for quantity in (at.value, at.lead))
    allowed = at.lead.range() if at.exact else outward_text(at.lead.low, at.lead.high)
    texts = [at.speed.text(4), at.value.text(4), value, at.share.text(2), f"{allowed}×", lead]
    return [*texts, at.measured, at.exact]


# the lines of an answer, for a reading "r" of a comparator "rival"
READING = (
    "[(toNumber(percent) < slowest[curve] ? 'The public rows begin at a higher speed. ' : '')"
    " + 'At ' + r[0] + ' tok/s/user ' + rival + ' does ' + r[1] + ' mixed tok/s per rated kW ('"
    " + r[2] + '): ' + (r[6] ? 'a measured point.' : 'read between two measured points.'),"
    " 'There it stands at ' + r[3] + ' % of its own peak.',"
    " (r[7] ? 'Jalapeño’s published point is at this speed: a lead of '"
    " : 'Jalapeño’s curve is not public; its published points allow any lead of ') + r[4]"
    " + ' (' + r[5] + ').']"
)


def _curve_rows(questions: Questions, key: str) -> list[dict[str, Any]]:
    return [
        {
            "key": key, "curve": _curve_name(questions, key), "percent": at.percent,
            "speed": at.speed.middle, "value": at.value.middle, "share": at.share.middle,
            "measured": at.measured,
        }
        for at in questions.at_speeds(key)
    ]  # fmt: skip


def speed(questions: Questions) -> Question:
    """The comparator's throughput at a speed, and its place on its own curve."""
    fronts = {key: _curve_name(questions, key) for key in questions.fronts()}
    controls = [
        Control("curve", "Model and comparator", "select", "dsr1", fronts),
        Control("percent", "Speed, of the comparator’s fastest", "range", 60, low=5, unit=" %"),
    ]
    rows, readings = [], {}
    for key in fronts:
        rows += _curve_rows(questions, key)
        readings[key] = {str(at.percent): _read(at) for at in questions.at_speeds(key)}
    rivals = {
        key: questions.rival_name(model) + (" with MTP" if decoding == "mtp" else "")
        for key, (model, decoding) in questions.fronts().items()
    }
    at = "max(toNumber(percent), slowest[curve])"
    chart = _speed_chart(f"datum.key == curve && datum.percent == {at}")
    chart = chart.add_params(
        alt.param(name="r", expr=f"readings[curve]['' + {at}]"),
        alt.param(name="rival", expr="rivals[curve]"),
    )
    known = {"readings": readings, "rivals": rivals, "slowest": _slowest(rows)}
    return Question(
        controls,
        answering(
            chart, "ask-speed", controls, READING,
            datasets={"rows": rows, "published": _published(questions)}, known=known,
        ),
        _speed_static([row for row in rows if not row["key"].endswith("mtp")]),
    )  # fmt: skip


def _published(questions: Questions) -> list[dict[str, Any]]:
    """The subject's published points, by the curve that they are compared with."""
    return [
        {"key": key, "speed": speed.middle, "value": value.middle, "text": "Jalapeño, published"}
        for key in questions.fronts()
        for speed, value in questions.published(key)
    ]


def _slowest(rows: list[dict]) -> dict[str, int]:
    return {key: min(r["percent"] for r in rows if r["key"] == key) for key in
            dict.fromkeys(row["key"] for row in rows)}  # fmt: skip


def _speed_chart(chosen: str) -> alt.LayerChart:
    colour, ink = tokens()["comparator"], tokens()["ink"]
    base = alt.Chart(alt.NamedData("rows")).transform_filter("datum.key == curve")
    x = alt.X("speed:Q", title="Decode speed (tok/s/user)", axis=alt.Axis(grid=False, tickCount=6))
    y = alt.Y("value:Q", title="Mixed tok/s per rated kW (logarithmic axis)",
              scale=alt.Scale(type="log"), axis=alt.Axis(tickCount=4, format="~s"))  # fmt: skip
    line = base.mark_line(color=colour, strokeDash=[4, 3], strokeWidth=1.5).encode(x=x, y=y)
    points = (
        base.transform_filter("datum.measured")
        .mark_point(filled=True, size=55, color=colour, opacity=1)
        .encode(x=x, y=y)
    )
    read = alt.Chart(alt.NamedData("rows")).transform_filter(chosen)
    rule = read.mark_rule(color=ink, strokeWidth=1).encode(x=x)
    ring = read.mark_point(filled=False, size=180, strokeWidth=2, color=ink, opacity=1).encode(
        x=x, y=y
    )
    own = alt.Chart(alt.NamedData("published")).transform_filter("datum.key == curve")
    dot = own.mark_point(
        shape="diamond", filled=True, size=90, color=tokens()["jalapeno"], opacity=1
    )
    name = own.mark_text(align="right", dx=-9, color=tokens()["jalapeno"])
    return alt.layer(
        line, points, rule, ring, dot.encode(x=x, y=y), name.encode(x=x, y=y, text="text:N")
    ).properties(width=WIDTH - 60, height=HEIGHT)


def _speed_static(rows: list[dict]) -> alt.LayerChart:
    x = alt.X("percent:Q", title="Decode speed, of the comparator’s fastest (%)",
              scale=alt.Scale(domain=[0, 100]), axis=alt.Axis(grid=False))  # fmt: skip
    y = alt.Y("share:Q", title="Throughput, of its own peak (%)", scale=alt.Scale(domain=[0, 100]))
    base = alt.Chart(alt.Data(values=rows))
    line = base.mark_line(color=tokens()["comparator"], strokeDash=[4, 3], strokeWidth=1.5)
    dots = base.transform_filter("datum.measured").mark_point(
        filled=True, size=55, opacity=1, color=tokens()["comparator"]
    )
    shape = _shape("curve", "comparator")
    return alt.layer(
        line.encode(x=x, y=y, detail="curve:N"), dots.encode(x=x, y=y, shape=shape)
    ).properties(width=WIDTH - 60, height=HEIGHT - 40)


# -- times: agent steps and the parts of a latency ----------------------------------------


def _systems(questions: Questions) -> list[dict[str, Any]]:
    """A row for each model and system with the bounds of its latency (s) and its TBT (s)."""
    rows = []
    for model in questions.data.models:
        names = ("Jalapeño", questions.rival_name(model))
        both = zip(names, questions.latencies(model), questions.gaps_between_tokens(model))
        for name, e2e, tbt in both:
            rows.append({
                "name": f"{questions.model_name(model)}, {name}",
                "system": "Jalapeño" if name == "Jalapeño" else "comparator",
                "e2e": e2e.middle, "low": float(e2e.low), "high": float(e2e.high),
                "tbt": tbt.middle / 1000, "tbt_low": float(tbt.low / 1000),
                "tbt_high": float(tbt.high / 1000),
            })  # fmt: skip
    return rows


def _stacked(
    base: alt.Chart,
    parts: list[tuple[str, str, float]],
    title: str,
    names: list[str],
    scale: alt.Scale,
) -> alt.LayerChart:
    """Bars of two parts laid end to end; a part is (from, to, opacity) by field name."""
    axis = alt.Axis(tickCount=6, titleAnchor="end")  # a long title may reach over the labels
    colour = alt.Color("system:N", legend=None, scale=charts.colours(["Jalapeño", "comparator"]))
    layers = [
        base.mark_bar(height={"band": 0.66}, opacity=opacity).encode(
            x=alt.X(f"{start}:Q", title=title, scale=scale, axis=axis),
            x2=f"{end}:Q", y=_y("name", names), color=colour,
        )
        for start, end, opacity in parts
    ]  # fmt: skip
    text = base.mark_text(align="left", dx=6).encode(
        x=alt.X(f"{parts[-1][1]}:Q"), y=_y("name", names), text="label:N"
    )
    return alt.layer(*layers, text).properties(width=WIDTH - 190, height=24 * len(names) + 10)


def _span(low: str, high: str, form: str, unit: str) -> str:
    """An expression for "low to high unit", or for one number where both print alike."""
    ends = [f"format({end}, '{form}')" for end in (low, high)]
    return f"{ends[0]} + ({ends[0]} == {ends[1]} ? '' : ' to ' + {ends[1]}) + '{unit}'"


# steps that may overlap run at once and so wait as long as one of them
CHAIN = "(n - round(n * share / 100) + (round(n * share / 100) > 0 ? 1 : 0))"


def agents(questions: Questions) -> Question:
    """What remains of the saved latency when steps wait for tools, and overlap."""
    controls = [
        Control("steps", "Steps", "range", 10, low=1, high=50),
        Control("tool", "Tools and network, each step", "range", 0, high=30, step=0.5, unit=" s"),
        Control("parallel", "Steps that can run at once", "range", 0, step=5, unit=" %"),
    ]
    steps, tool, parallel = (control.number for control in controls)
    rows = _systems(questions)
    chain = CHAIN.replace("share", parallel).replace("n ", f"{steps} ")
    lines = []
    for model in questions.data.models:
        own, other = questions.latencies(model)
        saved = other - own
        low, high = float(saved.low), float(saved.high)
        less = f"100 * (1 - ({float(own.high)} + {tool}) / ({float(other.low)} + {tool}))"
        more = f"100 * (1 - ({float(own.low)} + {tool}) / ({float(other.high)} + {tool}))"
        lines.append(
            f"'{questions.model_name(model)} against {questions.rival_name(model)}: '"
            f" + {_span(f'chain * {low!r}', f'chain * {high!r}', ',.1f', ' s')}"
            f" + ' saved, ' + {_span(less, more, '.0f', ' % of the whole.')}"
        )
    what_if = (
        f"A what-if ({graded(Grade.ASSUMED)}): ' + format(chain, 'd') + ' '"
        " + (chain == 1 ? 'step takes' : 'steps follow one another, each taking')"
        " + ' the lowest measured latency; steps that run at once count as one."
    )
    answer = f"[{', '.join(lines)}, '{what_if}']"
    base = (
        alt.Chart(alt.NamedData("rows"))
        .transform_calculate(model="chain * datum.e2e", whole=f"chain * (datum.e2e + {tool})")
        .transform_calculate(zero="0", label="format(datum.whole, ',.1f') + ' s'")
    )
    names, longest = [row["name"] for row in rows], max(row["e2e"] for row in rows)
    top = {"expr": f"{ROOM} * chain * ({longest!r} + {tool})"}
    chart = _stacked(
        base, [("zero", "model", 1), ("model", "whole", 0.35)],
        "Time of all steps (s); pale: tools and network", names,
        alt.Scale(domain=[0, top], nice=False),
    )  # fmt: skip
    chart = chart.add_params(alt.param(name="chain", expr=chain))
    return Question(
        controls,
        answering(chart, "ask-agents", controls, answer, datasets={"rows": rows}),
        _fading(questions),
    )


def _fading(questions: Questions) -> alt.LayerChart:
    """The saving as a share of a step, against the time that tools take in it."""
    rows = []
    for model in questions.data.models:
        own, other = (latency.middle for latency in questions.latencies(model))
        for tenth in range(0, 301, 5):
            tool = tenth / 10
            share = 100 * (other - own) / (other + tool)
            rows.append({"model": questions.model_name(model), "tool": tool, "share": share})
    # the lines fall: a name clears its own above to the right of a point, or below to the left;
    # the second highest line runs close below the highest, so its name goes below
    named = [row for row in rows if row["tool"] == 6]
    lower = sorted((row["share"], row["model"]) for row in named)[-2][1]
    base = alt.Chart(alt.Data(values=rows))
    x = alt.X("tool:Q", title="Tools and network, each step (s)",
              scale=alt.Scale(domain=[0, 30]), axis=alt.Axis(grid=False))  # fmt: skip
    y = alt.Y("share:Q", title="Saved, of the whole step (%)", scale=alt.Scale(domain=[0, 80]))
    lines = base.mark_line(color=tokens()["jalapeno"], strokeWidth=2).encode(
        x=x, y=y, detail="model:N"
    )
    marks = alt.Chart(alt.Data(values=named))
    names = [
        marks.transform_filter(f"{'' if below else '!'}(datum.model == '{lower}')")
        .mark_text(
            align="right" if below else "left", dx=-4 if below else 4, dy=10 if below else -8
        )
        .encode(x=x, y=y, text="model:N")
        for below in (False, True)
    ]
    return alt.layer(lines, *names).properties(width=WIDTH - 60, height=HEIGHT - 60)


def length(questions: Questions) -> Question:
    """The lowest E2E latency taken apart for an assumed average output length."""
    controls = [
        Control("tokens", "Average output", "range", 922, low=100, high=1024, unit=" tokens")
    ]
    tokens_ = controls[0].number
    rows = _systems(questions)
    lines = []
    for row in rows:
        decode = [f"({tokens_} - 1) * {row[end]!r}" for end in ("tbt_low", "tbt_high")]
        first = [f"({row['low']!r} - {decode[1]})", f"({row['high']!r} - {decode[0]})"]
        # the longest decoding that rounding allows still has to fit into the latency
        lines.append(
            f"'{row['name']}: ' + ({first[1]} < 0 ? 'not possible: decoding alone would take longer"
            f" than the latency.' : {_span(*decode, '.2f', ' s')} + ' to decode, ' +"
            f" ({first[0]} < 0 ? 'at most ' + format({first[1]}, '.2f') + ' s' :"
            f" {_span(*first, '.2f', ' s')}) + ' before it.')"
        )
    note = (
        f"Assumes that both lowest figures belong to one operating point ({graded(Grade.ASSUMED)})."
    )
    answer = f"[{', '.join(lines)}, '{note}']"
    names = [row["name"] for row in rows]
    chart = _length_chart(alt.NamedData("rows"), names, tokens_)
    return Question(
        controls,
        answering(chart, "ask-length", controls, answer, datasets={"rows": rows}),
        _length_chart(alt.Data(values=rows), names, controls[0].value),
    )


def _length_chart(data: Any, names: list[str], count: str | float) -> alt.LayerChart:
    base = (
        alt.Chart(data)
        .transform_calculate(decode=f"({count} - 1) * datum.tbt")
        .transform_calculate(
            first="datum.high < datum.decode ? 0 : max(datum.e2e - datum.decode, 0)"
        )
        .transform_calculate(
            zero="0", whole="datum.first + datum.decode",
            label="datum.high < datum.decode ? 'not possible'"
            " : format(datum.first, '.2f') + ' s + ' + format(datum.decode, '.2f') + ' s'",
        )
    )  # fmt: skip
    scale = alt.Scale(domain=[0, {"expr": f"6 * {ROOM}"}], nice=False)
    return _stacked(
        base, [("zero", "first", 0.35), ("first", "whole", 1)],
        "Lowest E2E latency (s); pale: before decoding", names, scale,
    )  # fmt: skip


# -- cost ---------------------------------------------------------------------------------


def _unknown(name: str, label: str, low: float, high: float) -> Control:
    """A number that nobody knows: without a default."""
    return Control(
        name, label, "number", low=low, high=high, step=0.01 if low < 1 or high < 90 else 1
    )


def cost(questions: Questions) -> Question:
    """What would have to be true for a token to cost less; nothing is said before all is set."""
    over, use = "All-in power over rated power,", "Utilisation of"
    controls = [
        _unknown("price", "Price of a package over the comparator’s, without power (×)", 0.01, 100),
        _unknown("energy", "Share of power in the comparator’s cost (%)", 1, 90),
        _unknown("own_use", f"{use} Jalapeño (%)", 1, 100),
        _unknown("other_use", f"{use} the comparator (%)", 1, 100),
        _unknown("own_over", f"{over} Jalapeño (×)", 1, 5),
        _unknown("other_over", f"{over} comparator (×)", 1, 5),
    ]
    price, energy, own_use, other_use, own_over, other_over = (c.number for c in controls)
    ready = " && ".join(f"{c.number} > 0" for c in controls) + f" && {energy} < 100"
    rows, lines = [], []
    for model in questions.data.models:
        work, power = questions.work_of_a_package(model), questions.rated_power(model)
        rows.append(
            {"model": questions.model_name(model), "work": work.middle, "power": float(power.low)}
        )
        watts = f"{energy} / 100 * {float(power.low)!r} * {own_over} / {other_over}"
        used = [f"{float(end)!r} * {own_use} / {other_use}" for end in (work.high, work.low)]
        spent = f"((1 - {energy} / 100) * {price} + {watts})"
        even = f"({used[1]} - {watts}) / (1 - {energy} / 100)"
        rival = questions.rival_name(model)
        lines.append(
            f"'{questions.model_name(model)}: a token costs '"
            f" + format({spent} / ({used[0]}), '.2f') + ' times what it costs on {rival};"
            f" they cost the same ' + ({even} > 0 ?"
            f" 'at a price of ' + format({even}, '.2f') + ' times.' : 'at no price.')"
        )  # fmt: skip
    note = f"Your own assumptions ({graded(Grade.ASSUMED)}), at both systems’ published peaks."
    empty = "Nothing is shown until every unknown is set to more than zero, utilisation to at most 100 %."
    answer = f"({ready}) ? [{', '.join(lines)}, '{note}'] : ['{empty}']"
    grid = [{**row, "price": tenth / 10} for row in rows for tenth in range(0, 31)]
    share = f"(({ready}) ? {energy} / 100 : 0)"
    watts = f"(({ready}) ? {own_over} / {other_over} : 0)"
    chart = _cost_chart(alt.NamedData("rows"), share, watts)
    own = alt.Chart(alt.NamedData("one")).transform_filter(ready).transform_calculate(
        price=price, use=f"{own_use} / {other_use}"
    ).mark_point(shape="cross", filled=True, size=160, color=tokens()["ink"], opacity=1).encode(
        x="price:Q", y="use:Q"
    )  # fmt: skip
    shown = chart.transform_filter(ready)
    live = alt.layer(shown, own).properties(width=WIDTH - 130, height=HEIGHT)
    return Question(
        controls,
        answering(live, "ask-cost", controls, answer, datasets={"rows": grid, "one": [{}]}),
        _cost_chart(alt.Data(values=grid), "0", "0").properties(width=WIDTH - 130, height=HEIGHT),
    )


def _cost_chart(data: Any, share: str, watts: str) -> alt.LayerChart:
    """Lines of equal cost: above each a token costs less on Jalapeño, below it more."""
    use = f"((1 - {share}) * datum.price + {share} * datum.power * {watts}) / datum.work"
    base = alt.Chart(data).transform_calculate(use=use)
    # the lines end at 3: room for their names
    reach = {"expr": "width < 320 ? 5 : 4"}
    x = alt.X(
        "price:Q",
        title="Price of its package over the comparator’s (×)",
        scale=alt.Scale(domain=[0, reach], nice=False),
        axis=alt.Axis(grid=False, tickCount=4, titleAnchor="end"),
    )
    y = alt.Y(
        "use:Q",
        title="Jalapeño’s utilisation over the comparator’s (×)",
        scale=alt.Scale(domain=[0, 4]),
    )
    lines = base.mark_line(color=tokens()["ink"], strokeWidth=1.5).encode(
        x=x, y=y, detail="model:N"
    )
    names = (
        base.transform_filter("datum.price == 3")
        .mark_text(align="left", dx=6)
        .encode(x=x, y=y, text="model:N")
    )
    return alt.layer(lines, names)
