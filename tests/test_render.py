"""The document's renderer: what it makes of a document that uses every construct."""

from __future__ import annotations

import os
import re
import subprocess
import sys

import pypdf
import pytest
import render
from evidence import assets
from render_helpers import ROOT, html_text, make_project, missing_values, pdf_text, squeezed

PACKED = assets.packed("var vegaEmbed = function () { return Promise.resolve(); };")


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    project = make_project(tmp_path_factory.mktemp("render"))
    project.write(PACKED, "_generated/vega-bundle.b64")
    project.render()
    return project


@pytest.fixture(scope="module")
def texts(project):
    return {"html": html_text(project.html), "pdf": pdf_text(project.pdf)}


@pytest.mark.parametrize("output", ["html", "pdf"])
@pytest.mark.parametrize(
    "words",
    [
        "A document with every construct",
        "For the tests",
        "Version abc1234 of 2026-11-30",
        "The ratio is 1.90×.",
        "See Table 1, Figure 1, Section 2 and Section 1.1; section 2 again; Table 1, Figure 1.",
        "The vendor says so (The vendor 2026, appendix).",
        "Table 1: Peaks of two chips; the ratio is 1.90×.",
        "Figure 2: The same bars again.",
        "Table 3: Documents in two scripts.",
        "A titled note",
        "What the caution says.",
        "Proven",
        "Not yet verified",
        "Not proven, said here as a caveat",
        "首款推理芯片的第一批结果",
        "自研晶片與輝達比較",
        "from 1.9005 to 1.9006.",
        "The slow peak is 6,450 tok/s/kW.",
        "fast / slow",
        "01-peak.ipynb, cell peaks",
        "(The analyst 2026, section “Power”)",
    ],
)
def test_both_outputs_say(texts, output, words):
    assert squeezed(words) in texts[output]


def test_conditional_blocks(texts):
    assert "Onlyonthepage." in texts["html"] and "OnlyinthePDF." not in texts["html"]
    assert "OnlyinthePDF." in texts["pdf"] and "Onlyonthepage." not in texts["pdf"]


def test_both_outputs_carry_the_same_values(project):
    assert missing_values(project, project.html, project.pdf) == []


def test_trace_holds_inputs_that_the_text_never_names(project):
    project_ids = re.findall(r'id="trace-([^"]+)"', project.html)
    assert set(project_ids) == {"ratio", "fast", "slow", "power", "guess", "never"}
    assert len(project_ids) == len(set(project_ids))


@pytest.mark.parametrize(("grade", "mark"), [("stated", "△"), ("assumed", "◌"), ("open", "○")])
def test_grades_show_by_shape_and_word(texts, grade, mark):
    for text in texts.values():
        assert mark + grade in text


def test_every_internal_link_of_the_page_leads_somewhere(project):
    ids = re.findall(r'\sid="([^"]+)"', project.html)
    assert len(ids) == len(set(ids))
    assert set(re.findall(r'href="#([^"]+)"', project.html)) <= set(ids)
    assert set(re.findall(r"url\(#([^)]+)\)", project.html)) <= set(ids)


def test_page_tells_its_chart_in_words_and_numbers(project):
    chart = project.html[project.html.index('class="chart"') :]
    assert 'role="img" aria-label="Two bars; the fast chip’s' in chart
    assert '<script type="application/json" id="spec-fig-bars">' in chart
    assert "Numbers of this chart" in chart
    assert project.html.count(PACKED) == 1


def test_without_the_bundle_the_charts_stay_pictures(tmp_path):
    project = make_project(tmp_path)
    project.render()
    assert 'id="vega-bundle"' not in project.html and "<svg" in project.html


def test_only_a_chart_with_controls_brings_its_specification(project):
    assert project.html.count('<form class="controls"') == 1
    assert project.html.count('id="control-bars-top"') == 1
    assert project.html.count('<script type="application/json"') == 1


def test_page_loads_nothing(project):
    finder = render.ResourceFinder()
    finder.feed(project.html)
    assert finder.found == []
    assert "default-src 'none'" in project.html


@pytest.mark.parametrize(
    "piece",
    [
        '<img src="https://example.org/a.png">',
        '<script src="//example.org/a.js"></script>',
        '<link href="https://example.org/a.css" rel="stylesheet">',
        '<p style="background: url(https://example.org/a.png)">',
        "<style>@import 'a.css';</style>",
        '<img srcset="a.png 2x">',
    ],
)
def test_a_page_that_would_load_something_is_refused(piece):
    with pytest.raises(render.RenderError, match="the page would load"):
        render.check_page(f"<html>{piece}</html>".encode())


def test_a_page_may_link_and_embed():
    render.check_page(
        b'<a href="https://example.org">x</a><img src="data:image/png;base64,AA"><a href="#x">y</a>'
    )


def test_a_heavy_page_is_refused():
    with pytest.raises(render.RenderError, match="bytes, more than"):
        render.check_page(b"x" * (render.MAX_PAGE_BYTES + 1))


def test_pdf_says_what_it_is(project):
    pdf = project.pdf
    assert pdf.metadata.title == "A document with every construct"
    assert pdf.metadata.author == "The project"
    assert pdf.metadata.creation_date.year == 2026
    assert pdf.trailer["/Root"]["/Lang"] == "en"
    metadata = pdf.trailer["/Root"]["/Metadata"].get_data().decode()
    assert "<pdfuaid:part>1<" in metadata
    assert "<pdfaid:part>2<" in metadata and "<pdfaid:conformance>A<" in metadata


def test_pdf_has_an_outline_and_page_numbers(project):
    titles = [entry.title for entry in project.pdf.outline if not isinstance(entry, list)]
    assert [re.sub(r"^[\d.]+\s*", "", title) for title in titles][-4:] == [
        "First section", "Second section", "Trace", "References",
    ]  # fmt: skip
    assert f"Page1of{len(project.pdf.pages)}" in squeezed(project.pdf.pages[0].extract_text())


def test_pdf_embeds_every_font(project):
    fonts = set()
    for page in project.pdf.pages:
        for font in page["/Resources"].get("/Font", {}).values():
            inner = font.get_object()["/DescendantFonts"][0].get_object()
            descriptor = inner["/FontDescriptor"].get_object()
            assert {"/FontFile2", "/FontFile3"} & set(descriptor)
            fonts.add(str(inner["/BaseFont"]))
    names = " ".join(sorted(fonts))
    for family in ("SourceSerif4", "IBMPlexSans", "NotoSansCJKsc", "NotoSansCJKtc"):
        assert family in names


def run(project, out, **changes):
    command = [sys.executable, str(ROOT / "report" / "render.py"), "--renderer", "embedded"]
    command += ["--project", str(project.folder), "--out", str(out)]
    cwd = changes.pop("cwd", ROOT)
    return subprocess.run(
        command, cwd=cwd, env={**os.environ, **changes}, capture_output=True, text=True, check=False
    )


def test_same_bytes_in_another_place_and_time_zone(project, tmp_path):
    moved = make_project(tmp_path / "elsewhere")
    moved.write(
        (project.folder / "_generated" / "vega-bundle.b64").read_text(),
        "_generated/vega-bundle.b64",
    )
    done = run(
        moved,
        moved.out,
        TZ="Asia/Shanghai",
        LANG="de_DE.UTF-8",
        LC_ALL="C",
        QUARTO_PROJECT_DIR="/nowhere",
        cwd="/",
    )
    assert done.returncode == 0, done.stderr
    for name in ("index.html", "report.pdf"):
        assert (moved.out / name).read_bytes() == (project.out / name).read_bytes()


def test_a_failing_render_leaves_the_last_good_outputs(tmp_path):
    project = make_project(tmp_path)
    project.body("Good.\n")
    project.render()
    before = {path.name: path.read_bytes() for path in project.out.iterdir()}
    project.body("[nothing]{.val}\n")
    done = run(project, project.out)
    assert done.returncode == 1
    assert done.stderr.startswith("report/index.qmd:5: ") and "Traceback" not in done.stderr
    assert done.stderr.count("\n") == 1
    assert {path.name: path.read_bytes() for path in project.out.iterdir()} == before


def test_without_quarto_the_message_says_what_to_do(tmp_path, monkeypatch):
    monkeypatch.setattr(render.shutil, "which", lambda name: None)
    project = make_project(tmp_path)
    with pytest.raises(render.RenderError, match="environment.yml.*RENDERER=embedded"):
        render.render(project.folder, project.out, "quarto")


FAKE_QUARTO = """#!/bin/sh
exec "{python}" - "$@" <<'END'
import pathlib, sys
assert sys.argv[1] == "render"
out = pathlib.Path(sys.argv[2]) / "_output"
out.mkdir(parents=True, exist_ok=True)
(out / "index.html").write_text({html!r})
(out / "index.pdf").write_bytes(b"%PDF-1.7")
END
"""


@pytest.mark.parametrize(
    ("html", "message"),
    [
        ("<p>good</p>", None),
        ('<a href="#fig-x" class="quarto-xref"><span>?@fig-x</span></a>', "@fig-x leads nowhere"),
        ("<p>(<strong>missing-source?</strong>)</p>", "@missing-source leads nowhere"),
    ],
)
def test_what_quarto_made_is_checked_and_moved(tmp_path, monkeypatch, html, message):
    project = make_project(tmp_path)
    quarto = tmp_path / "bin" / "quarto"
    quarto.parent.mkdir()
    quarto.write_text(FAKE_QUARTO.format(python=sys.executable, html=html))
    quarto.chmod(0o755)
    monkeypatch.setenv("PATH", str(quarto.parent), prepend=os.pathsep)
    if message:
        with pytest.raises(render.RenderError, match=message):
            render.render(project.folder, project.out, "auto")
    else:
        render.render(project.folder, project.out, "auto")
        assert project.html == html
        assert (project.out / "report.pdf").read_bytes() == b"%PDF-1.7"


HOSTILE = [
    "<script>alert(1)</script>",
    "](javascript:alert(1)) [x](javascript:alert(2))",
    '#eval("1+1") #{panic()} $x$ *b* _i_ @ratio <label> \\ // c',
    "{{< include ../../secret >}}",
    "`{=html}<b>` ```{=typst}``` [ratio]{.val} ::: proven",
    '"]] os.exit(1) --[[ %s %d %1',
    "<!-- comment --> &amp; <img src=x onerror=alert(1)> ${x}",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_data_is_never_markup(tmp_path, text):
    project = make_project(tmp_path)
    values = project.data("values.json")
    for key in ("text", "range", "suffix", "label", "formula", "cell"):
        values["power"][key] = text
    values["power"]["sources"][0]["place"] = text
    values["power"]["inputs"] = [text]
    project.write_data("values.json", values)
    table = {
        "columns": [{"title": text, "align": "left"}],
        "rows": [[{"text": text}], [{"text": text, "lang": "zh-Hans"}]],
    }
    project.write_data("tables/hostile.json", table)
    meta = project.data("figures/bars.meta.json")
    project.write_data("figures/bars.meta.json", {**meta, "alt": text})
    project.write_data("figures/bars.vl.json", {"title": "</script>" + text})
    project.body(
        "[power]{.val}\n\n# Head of [power]{.val}\n\n"
        "::: {#tbl-h generated-table=hostile}\nHostile.\n:::\n\n"
        '::: {#fig-b generated-figure="bars"}\nBars.\n:::\n\n::: {generated-trace="all"}\n:::\n'
    )
    project.render()
    wanted = squeezed(text)
    assert html_text(project.html).count(wanted) >= 8
    assert pdf_text(project.pdf).count(wanted) >= 4
    for harm in ("<script>alert", "<img src=x", 'href="javascript:', "<b>"):
        assert harm not in project.html


def test_pdf_reader_sees_a_table_row_whole(tmp_path):
    project = make_project(tmp_path)
    rows = [[{"text": f"row {number} " + "long words " * 30}] for number in range(40)]
    project.write_data("tables/long.json", {"columns": [{"title": "Head of it"}], "rows": rows})
    project.body("::: {#tbl-l generated-table=long}\nLong.\n:::\n")
    project.render()
    pages = [
        squeezed(page.extract_text()) for page in pypdf.PdfReader(project.out / "report.pdf").pages
    ]
    with_rows = [page for page in pages if "longwords" in page]
    assert len(with_rows) > 1
    assert all("Headofit" in page for page in with_rows)
    for page in with_rows:
        for row in re.findall(r"row\d+((?:longwords)*)", page):
            assert row == "longwords" * 30


def test_a_head_without_text_continues_the_one_above(tmp_path):
    project = make_project(tmp_path)
    heads = ["First", "", "", "Second"]
    rows = [
        [{"text": head, "header": True}, {"text": f"cell {at}"}] for at, head in enumerate(heads)
    ]
    columns = [{"title": "Head"}, {"title": "Cell"}]
    project.write_data("tables/heads.json", {"columns": columns, "rows": rows})
    project.body("::: {#tbl-h generated-table=heads}\nHeads.\n:::\n")
    project.render()
    assert '<th rowspan="3"' in project.html
    assert project.html.count("<th") - project.html.count("<thead") == 4
    assert pdf_text(project.pdf).count("First") == 1


def test_a_column_under_another_is_beneath_it_in_the_pdf_alone(tmp_path):
    project = make_project(tmp_path)
    columns = [{"title": "Claim"}, {"title": "By", "under": True}, {"title": "Verdict"}]
    rows = [
        [{"text": "one", "header": True}, {"text": "someone"}, {"text": "holds"}],
        [{"text": "two", "header": True}, {"text": ""}, {"text": "fails"}],
    ]
    table = {"columns": columns, "rows": rows, "widths": [1, 1, 2]}
    project.write_data("tables/under.json", table)
    project.body("::: {#tbl-u generated-table=under}\nUnder.\n:::\n")
    project.render()
    assert project.html.count("<th") - project.html.count("<thead") == 3 + 2
    assert project.html.count("<td") == 4
    place = places_in_pdf(project.out / "report.pdf")
    (one, above), (someone, below), (holds, _) = place["one"], place["someone"], place["holds"]
    assert one == someone < holds and below < above
    assert place["Claim"][0] == place["By"][0] and place["two"][0] == one


def places_in_pdf(path):
    """Each piece of text, and where it starts (x to the right, y upwards, in points)."""
    found = {}

    def visit(text, matrix, text_matrix, font, size):
        if text.strip():
            x, y = text_matrix[4], text_matrix[5]
            a, b, c, d, e, f = matrix
            found.setdefault(text.strip(), (round(a * x + c * y + e), round(b * x + d * y + f)))

    for page in pypdf.PdfReader(path).pages:
        page.extract_text(visitor_text=visit)
    return found


def test_the_filters_message_is_found_among_those_of_quarto(tmp_path):
    project = make_project(tmp_path)
    noise = "pandoc\n  to: html\nreport/index.qmd:7: what was found. How to mend it.\nError\n"
    message = render.from_quarto(project.folder, noise)
    assert message == "report/index.qmd:7: what was found. How to mend it."
    assert render.from_quarto(project.folder, "Error\n") == "quarto render failed:\nError"


def test_trace_leaves_out_a_formula_that_only_names_its_value(tmp_path):
    project = make_project(tmp_path)
    values = project.data("values.json")
    values["fast"].update(formula="fast", inputs=["fast"])
    project.write_data("values.json", values)
    project.body('[fast]{.val}\n\n::: {generated-trace="all"}\n:::\n')
    project.render()
    assert "<dt>Formula" not in project.html and "<dt>From" not in project.html
