"""What stops the build: each message names file and line, what was found and how to mend it."""

from __future__ import annotations

import pytest
import render
from render_helpers import make_project


@pytest.fixture
def project(tmp_path):
    return make_project(tmp_path)


CONSTRUCTS = [
    ("{{< video a.mp4 >}}", "the shortcode {{< video"),
    ("Text {{< meta title >}}.", "the shortcode {{< meta"),
    ("```{python}\n1\n```", "a code cell {python}"),
    ("``` {r}\n1\n```", "a code cell {r}"),
    ("It is `{python} 1 + 1`.", "inline code"),
    ("It is `r 1 + 1`.", "inline code"),
    ("::: panel-tabset\nx\n:::", 'the class "panel-tabset"'),
    ("::: {.column-margin}\nx\n:::", 'the class "column-margin"'),
    ("::: {.columns}\nx\n:::", 'the class "columns"'),
    ('::: {layout-ncol="2"}\nx\n:::', 'the attribute "layout-ncol"'),
    ('::: {.callout-note collapse="true"}\nx\n:::', 'the attribute "collapse"'),
    ('::: {.content-visible when-profile="x"}\nx\n:::', 'the attribute "when-profile"'),
    ('::: {.content-visible when-format="docx"}\nx\n:::', 'the format "docx"'),
    ("::: {.content-hidden}\nx\n:::", "content-hidden without a format"),
    ("::: {#thm-x}\nx\n:::", 'the id "thm-x"'),
    ("A ratio of $a/b$.", "a TeX formula"),
    ("[x]{.aside}", 'the class "aside"'),
    ("<b>x</b>", "raw html"),
    ("```{=typst}\nx\n```", "raw typst"),
    ("![](a.png)", "an image"),
    ("[x](#nowhere)", 'the link to "#nowhere"'),
    ("# A\n\n### B", "a heading of level 3"),
    ("# A {#a}\n\n# B {#a}", 'the id "a" is given twice'),
]


@pytest.mark.parametrize(("text", "found"), CONSTRUCTS)
def test_unknown_constructs_stop_with_their_line(project, text, found):
    project.body(f"Words.\n\n{text}\n")
    message = project.refusal()
    lines = {"# A\n\n### B": 9, "# A {#a}\n\n# B {#a}": 9, "```{=typst}\nx\n```": 8}
    assert message.startswith(f"report/index.qmd:{lines.get(text, 7)}: ")
    assert found in message
    assert message.rstrip().endswith(".") and message.count(". ") >= 1


def test_the_line_is_that_of_the_included_file(project):
    project.body("{{< include sections/_a.qmd >}}\n")
    project.write("Words.\n\n{{< include deeper/_b.qmd >}}\n", "sections/_a.qmd")
    project.write("\n[ratio]{.val} and [nothing]{.val}\n", "sections/deeper/_b.qmd")
    assert project.refusal().startswith('report/sections/deeper/_b.qmd:2: the value "nothing"')


@pytest.mark.parametrize(
    ("name", "found"),
    [
        ("../secret.qmd", "leads out of the document's folder"),
        ("sections/_none.qmd", "is missing"),
        ("index.qmd", "includes itself"),
    ],
)
def test_includes(project, name, found):
    project.write("secret", "../secret.qmd")
    project.body(f"{{{{< include {name} >}}}}\n")
    message = project.refusal()
    assert message.startswith("report/index.qmd:5: ") and found in message


def test_front_matter(project):
    project.write("---\ntitle: x\nexecute: true\n---\n")
    assert project.refusal().startswith('report/index.qmd:3: the key "execute" is unknown')
    project.write("---\nsubtitle: x\n---\n")
    assert "no title" in project.refusal()
    project.write("Words\n")
    assert "no front matter" in project.refusal()
    project.write("---\ntitle: [x\n---\n")
    assert project.refusal().startswith("report/index.qmd:")


@pytest.mark.parametrize(
    ("old", "new", "found"),
    [
        ("toc: true\n", "toc: true\nexecute:\n  echo: false\n", 'the key "execute" is unknown'),
        (
            "    minimal: true\n",
            "    minimal: true\n    code-fold: true\n",
            'the key "format.html.code-fold" is unknown',
        ),
        ("    theme: none\n", "    theme: cosmo\n", "format.html.theme is 'cosmo'"),
        ("engine: markdown\n", "engine: jupyter\n", "engine is 'jupyter'"),
        ("lang: en\n", "lang: [\n", "no valid YAML"),
    ],
)
def test_configuration(project, old, new, found):
    text = (project.folder / "_quarto.yml").read_text()
    assert old in text
    text = text.replace(old, new)
    project.write(text, "_quarto.yml")
    message = project.refusal()
    assert message.startswith("report/_quarto.yml") and found in message
    if "is unknown" in found:
        key = found.split('"')[1].rsplit(".", 1)[-1]
        line = next(number for number, line in enumerate(text.splitlines(), 1) if key in line)
        assert message.startswith(f"report/_quarto.yml:{line}: ")


RULES = [
    (
        "::: proven\nThe power is [power]{.val}.\n:::",
        6,
        'a proven block holds the value "power", which is graded stated',
    ),
    (
        "[power]{.val}\n\n::: proven\n[ratio]{.val}, [power]{.val}.\n:::",
        8,
        'a proven block holds the value "power"',
    ),
    ("::: proven\n[guess]{.val show=range}\n:::", 6, "which is graded assumed"),
    (
        "::: proven\n::: {#tbl-m generated-table=mixed}\nMixed.\n:::\n:::",
        6,
        'a proven block holds the value "power"',
    ),
    (
        "::: unverified\nThe ratio is [ratio]{.val .context}.\n:::",
        5,
        "holds no value and no claim below published",
    ),
    ("::: unverified\nNothing.\n:::", 5, "holds no value and no claim below published"),
    (
        "::: unverified\n[power]{.val} and [ratio]{.val}.\n:::",
        6,
        'the proven value "ratio" without .context',
    ),
    (
        "::: unverified\n::: {#tbl-m generated-table=mixed}\nMixed.\n:::\n:::",
        6,
        'the proven value "ratio" without .context',
    ),
    ("::: proven\n::: unverified\n[power]{.val}\n:::\n:::", 6, "stands inside a proven block"),
    ("[nothing]{.val}", 5, 'the value "nothing" is not in'),
    (
        "`[nothing]{.val}`\n\n```\n[nothing]{.val}\n```\n\n"
        "<!-- [nothing]{.val} -->\n\n[nothing]{.val}",
        13,
        'the value "nothing"',
    ),
    ("[ratio]{.val show=everything}", 5, 'show="everything" is unknown'),
    ("[ratio]{.val bare=yes}", 5, 'bare="yes" is unknown'),
    ("::: {#tbl-x generated-table=nothing}\nCaption.\n:::", 5, 'the table "nothing" is not in'),
    ("::: {#tbl-x generated-table=../values}\nCaption.\n:::", 5, 'the table "../values" is not in'),
    ("::: {generated-table=peaks}\nCaption.\n:::", 5, "without an id"),
    ("::: {#tbl-x generated-table=peaks}\n:::", 5, "other than its caption"),
    ("::: {#fig-x generated-figure=nothing}\nCaption.\n:::", 5, 'the figure "nothing" needs'),
    ("::: {generated-trace=some}\n:::", 5, 'generated-trace="some" is unknown'),
    ("See @fig-nothing.", 5, "the reference @fig-nothing leads nowhere"),
    ("See @sec-x.\n\n# X {#sec-x .unnumbered}", 5, "points at an unnumbered section"),
    ("Says one [@nobody].", 5, "the citation @nobody is not in the bibliography"),
    ("[one]{.claim}", 5, "claims need _generated/ledger.json"),
]


@pytest.mark.parametrize(("text", "line", "found"), RULES)
def test_violations_stop_with_their_line(project, text, line, found):
    project.body(text + "\n")
    message = project.refusal()
    assert message.startswith(f"report/index.qmd:{line}: ") and found in message


def test_hidden_blocks_do_not_move_the_line(project):
    hidden = '::: {.content-visible when-format="typst"}\n[power]{.val}\n:::\n\n'
    hidden += '::: {.content-visible when-format="html"}\n[power]{.val}\n:::\n\n'
    project.body(hidden + "::: proven\n[power]{.val}\n:::\n")
    assert project.refusal().startswith("report/index.qmd:14: ")


def test_a_figure_file_that_is_missing(project):
    (project.folder / "_generated" / "figures" / "bars.svg").unlink()
    assert "needs _generated/figures/bars.svg, which is missing" in project.refusal()


def test_a_value_whose_grade_and_proven_differ(project):
    values = project.data("values.json")
    values["power"]["proven"] = True
    project.write_data("values.json", values)
    assert 'power is graded stated but its "proven" says otherwise' in project.refusal()


@pytest.mark.parametrize("name", ["values.json", "build.json"])
def test_before_the_notebooks_have_run(project, name):
    (project.folder / "_generated" / name).unlink()
    assert "Run the notebooks first" in project.refusal()


@pytest.mark.parametrize(
    "target", ["javascript:alert(1)", "JavaScript:alert(1)", "file:///etc/passwd", "data:text/html,x", "//x.example"]
)  # fmt: skip
def test_a_link_in_the_text_is_a_web_address(project, target):
    project.body(f"First.\n\nSee [this]({target}).\n")
    assert "is no web address" in project.refusal()


def test_a_link_in_a_table_is_a_web_address(project):
    table = {"columns": [{"title": "x"}], "rows": [[{"text": "x", "href": "javascript:alert(1)"}]]}
    project.write_data("tables/link.json", table)
    project.body("::: {#tbl-x generated-table=link}\nCaption.\n:::\n")
    assert "is no web address" in project.refusal()


CLAIMS = [
    {
        "id": "one",
        "statement": "It is fast.",
        "verdict": "confirmed",
        "grade": "published",
        "proven": True,
    },
    {"id": "two", "statement": "It is cheap.", "verdict": "open", "grade": "open", "proven": False},
]


def test_claims_follow_the_same_rules(project):
    project.write_data("ledger.json", CLAIMS)
    project.body("::: proven\n[one]{.claim} [two]{.claim}\n:::\n")
    message = project.refusal()
    assert message.startswith(
        'report/index.qmd:6: a proven block holds the claim "two", which is graded open'
    )
    project.body("::: unverified\n[two]{.claim}\n:::\n\n# Two {#claim-two}\n\n[one]{.claim}\n")
    project.render()
    assert '<a href="#claim-two" class="claim" title="two: It is cheap.">' in project.html
    assert '<span class="claim" title="one: It is fast.">' in project.html
    project.body("[three]{.claim}\n")
    assert project.refusal().startswith('report/index.qmd:5: the claim "three" is not in')


def test_a_glyph_that_no_font_has_stops_the_pdf(project):
    project.body("A sign that no font here has: \U00012000.\n")
    assert "Typst could not set the PDF" in project.refusal()


def test_pandoc_warnings_name_the_source_line(project):
    project.body("Words.\n\n::: proven\nNever closed.\n")
    message = project.refusal()
    assert "report/index.qmd:7" in message


def test_the_message_of_the_command_is_one_line(project, capsys):
    project.body("[nothing]{.val}\n")
    code = render.main(
        ["--renderer", "embedded", "--project", str(project.folder), "--out", str(project.out)]
    )
    assert code == 1
    assert capsys.readouterr().err.count("\n") == 1
