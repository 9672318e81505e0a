"""The check of the document's prose: what it takes for a typed number, and what for a name."""

import prose
import pytest


def found(tmp_path, line):
    path = tmp_path / "x.qmd"
    path.write_text(line + "\n", encoding="utf-8")
    return [numeral for _, numeral in prose.numerals(path)]


@pytest.mark.parametrize(
    "line",
    [
        "It is 42 times as fast.", "It is `42` times as fast.", "It is ½ as fast.", "It took Ⅻ s.",
        "٤٢ tokens.", "四十二 tokens.", "４２ tokens.", "About 5.90² s.", "See ①.",
        "A lead of 1.9x.", "In 8k input it does 85,448.",
    ],
)  # fmt: skip
def test_a_typed_number_is_found(tmp_path, line):
    assert found(tmp_path, line)


@pytest.mark.parametrize(
    "line",
    [
        "GB200 and GB300 run GPT-OSS 120B, Kimi K2.5 and DeepSeek R1 at 8k/1k.",
        "On 25 August 2026, and in 2026-08-25.", "See @tbl-9 and [peak_ratio_dsr1]{.val show=range}.",
        "Run `make report -j2`.", "1. First of a list.", "Under CC BY 4.0, on HBM4.",
    ],
)  # fmt: skip
def test_a_name_a_date_and_markup_are_none(tmp_path, line):
    assert found(tmp_path, line) == []


def test_the_document_has_none():
    assert [prose.numerals(path) for path in prose.sources() if prose.numerals(path)] == []
