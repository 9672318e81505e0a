"""The charts that the notebooks made: each a valid specification with its words and numbers."""

import json

import altair as alt
import jsonschema
import pytest
from altair.utils import schemapi
from evidence.paths import generated

FIGURES = sorted((generated() / "figures").glob("*.vl.json"))


def test_there_are_charts():
    assert len(FIGURES) >= 9


@pytest.mark.parametrize("path", FIGURES, ids=lambda path: path.stem)
def test_a_chart_fits_the_schema_and_is_told_in_words_and_numbers(path):
    spec = json.loads(path.read_text(encoding="utf-8"))
    schemapi.validate_jsonschema(spec, alt.load_schema())
    name = path.name.removesuffix(".vl.json")
    meta = json.loads((path.parent / f"{name}.meta.json").read_text(encoding="utf-8"))
    assert len(meta["alt"]) > 40
    assert (generated() / "tables" / f"{meta['table']}.json").exists()


def test_a_wrong_chart_would_be_found():
    spec = json.loads(FIGURES[0].read_text(encoding="utf-8"))
    spec["width"] = {"no": "width"}
    with pytest.raises(jsonschema.ValidationError):
        schemapi.validate_jsonschema(spec, alt.load_schema())
