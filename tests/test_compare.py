"""What changed between two versions, and how it is written down for a pull request."""

import copy
import json
import re
import subprocess

import pytest
from evidence import checkout, review, snapshot
from evidence.compare import compare, direction, text_changes
from evidence.errors import InputError
from evidence.pagetext import from_page, from_source
from evidence.snapshot import Snapshot
from hypothesis import given
from hypothesis import strategies as st

PAGE = """<html><head><title>no text</title></head><body>
<p class="build">Version abc of 2026-08-25</p><nav>Contents</nav>
<h2><span class="header-section-number">1</span> Peak</h2>
<p>Jalapeño does <a class="val" id="use-peak-1" href="#trace-peak">{peak}</a> at most. It leads.</p>
<table><tr><th>Row</th><td><span class="val" id="use-peak-2">{peak}</span></td></tr></table>
<svg><text>4 in a chart</text></svg><script>var x = "code";</script>
<section id="sec-trace"><h2>Trace</h2><p>{peak}</p></section></body></html>"""


def value(text="1.9", low=1.85, high=1.95, grade="published", **more):
    return {
        "text": text, "range": f"{low} to {high}", "low": low, "high": high, "unit": "", "suffix": "×",
        "grade": grade, "proven": grade in ("published", "reproduced"), "formula": "a / b",
        "inputs": ["a", "b"], "sources": [], "label": "Peak", **more,
    }  # fmt: skip


def shot(**more):
    known = {
        "commit": "a" * 40,
        "values": {"peak": value()},
        "claims": {"lead": {"id": "lead", "verdict": "unsupported", "grade": "stated",
                            "proven": False, "statement": "It leads."}},
        "sources": {"vendor": {"title": "Results"}},
        "page": from_page(PAGE.format(peak="1.9×")),
        "figures": {"bars": "<svg/>"},
        "sizes": {"index.html": 10, "report.pdf": 20},
    }  # fmt: skip
    return Snapshot(**{**known, **more})


def text(base, head):
    return review.markdown(compare(base, head))


def test_what_shapes_the_page_is_never_said_to_be_unchanged():
    def looking(page="1", style="2"):
        return shot(looks={"the page": page, "report/theme/style.css": style})

    assert review.UNCHANGED in text(looking(), looking())
    said = text(looking(), looking(page="3"))
    assert review.BARE in said and "`the page`" in said and review.UNCHANGED not in said
    said = text(looking(), looking(style="3"))
    assert review.BARE in said and "`report/theme/style.css`" in said


def test_a_built_page_differs_by_its_style_and_not_by_its_version(tmp_path):
    def built(name, commit, style, date="2026-01-01"):
        root = tmp_path / name
        (root / "report/_generated").mkdir(parents=True)
        (root / "build/report").mkdir(parents=True)
        version = {"commit": commit, "short": commit[:10], "date": date}
        (root / "report/_generated/build.json").write_text(json.dumps(version))
        page = f"<style>{style}</style><p>Version {commit[:10]} of {date}, {commit}.</p>"
        (root / "build/report/index.html").write_text(page)
        return snapshot.read(root, commit=commit)

    one, other = built("a", "a" * 40, "p{}"), built("b", "b" * 40, "p{}", "2026-02-02")
    assert compare(one, other).looks == []
    assert compare(one, built("c", "c" * 40, "p{color:red}")).looks == ["the page"]


# -- the page's text ------------------------------------------------------------------------


def test_sentences_stand_under_their_headings_and_values_by_their_ids():
    page = from_page(PAGE.format(peak="1.9×"))
    assert [sentence.text for sentence in page.sentences] == [
        "Peak", "Jalapeño does 1.9× at most.", "It leads.", "Row | 1.9×",
    ]  # fmt: skip
    assert page.sentences[1].key == "Jalapeño does ⟦peak⟧ at most."
    assert page.uses == {"peak": ["Peak", "Peak"]}


def test_a_number_alone_is_no_change_of_the_text():
    old, new = (from_page(PAGE.format(peak=peak)) for peak in ("1.9×", "2.0×"))
    assert text_changes(old, new) == []


def test_the_version_is_no_change_of_the_text():
    pages = [from_page(f"<p>Built from {commit}.</p>", [commit]) for commit in ("abc", "def")]
    assert text_changes(*pages) == []


def test_text_changes_a_sentence_at_a_time():
    old = from_page("<h2>A</h2><p>One is here. Two is there. Three stays.</p>")
    new = from_page("<h2>A</h2><p>One is here. Two is gone. Three stays.</p>")
    (change,) = text_changes(old, new)
    assert (change.heading, change.old, change.new) == ("A", ("Two is there.",), ("Two is gone.",))


def test_a_document_without_a_page_is_read_from_its_source(tmp_path):
    (tmp_path / "sections").mkdir()
    (tmp_path / "index.qmd").write_text("---\ntitle: A\n---\n{{< include sections/_a.qmd >}}\n")
    (tmp_path / "sections" / "_a.qmd").write_text("::: proven\nOne.\nTwo.\n:::\n")
    assert [s.text for s in from_source(tmp_path).sentences] == ["title: A", "One.", "Two."]


# -- what differs ---------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("new", "said"),
    [
        ((2.0, 2.2), "up by 11%"),
        ((1.7, 1.8), "down by 7.9%"),
        ((1.8, 2.0), "wider"),
        ((1.88, 1.92), "narrower"),
        ((1.85, 1.95), "same number, printed otherwise"),
        ((1.9, None), "up"),
        ((None, None), "wider"),
    ],
)
def test_direction(new, said):
    assert direction(value(), value("x", *new)) == said


def test_another_unit_is_no_direction():
    assert direction(value(), value(unit="s")) == "other unit"


def test_nothing_changed_is_said():
    assert review.UNCHANGED in text(shot(), shot())


def test_a_changed_value_shows_old_new_direction_and_places():
    new = {"peak": value("2.1", 2.05, 2.15)}
    said = text(shot(), shot(values=new, page=from_page(PAGE.format(peak="2.1×"))))
    assert review.UNCHANGED not in said
    assert (
        "| `peak` | `1.9× (1.85 to 1.95)` | `2.1× (2.05 to 2.15)` | up by 11% | `Peak (2×)` |"
        in said
    )


def test_an_interval_that_moved_behind_the_same_number_is_no_changed_value():
    said = text(shot(), shot(values={"peak": value(low=1.8501)}))
    assert "### Intervals behind an unchanged number (1)" in said
    assert "### Values that changed" not in said


def test_a_new_claim_that_is_proven_stands_first_too():
    proven = {"id": "new", "verdict": "reproduces", "grade": "published", "proven": True}
    said = text(shot(), shot(claims={**shot().claims, "new": proven}))
    assert "### Became proven (1)" in said and "`reproduces, published, proven`" in said
    said = text(shot(claims={**shot().claims, "new": proven}), shot())
    assert "`(removed)`" in said


def test_a_claim_that_became_proven_stands_first():
    proven = {"lead": {"id": "lead", "verdict": "reproduces", "grade": "published", "proven": True,
                       "statement": "It leads."}}  # fmt: skip
    head = shot(claims=proven, values={"peak": value(grade="stated"), "new": value()})
    said = text(shot(), head)
    titles = re.findall(r"^### (.*)", said, re.M)
    assert titles[0] == "Became proven (1)" and titles[1].startswith("Other grades")
    assert "| claim | `lead` | `unsupported, stated` | `reproduces, published, proven` |" in said
    assert "- added `new`" in said


def test_sources_claims_and_figures_added_and_removed():
    head = shot(sources={"press": {"title": "Article"}}, claims={}, figures={"lines": "<svg/>"})
    said = text(shot(), head)
    for line in ("- added `press`", "- removed `vendor`", "- removed `lead`", "- added `lines`",
                 "- removed `bars`"):  # fmt: skip
        assert line in said


def test_a_formula_that_changed_is_told_though_the_number_did_not():
    said = text(shot(), shot(values={"peak": value(formula="b / a")}))
    assert "- changed `peak`: `formula`" in said


def test_a_base_from_before_a_table_existed():
    said = text(shot(claims=None), shot())
    assert "Not compared: the base has no ledger." in said and review.UNCHANGED not in said


def test_a_base_that_does_not_build_is_said_and_the_rest_compared():
    failed = shot(failed="make: *** ```stop```", values=None, page=None, figures={}, sizes={})
    failed.source_text = from_page("<p>Old sentence.</p>")
    head = shot()
    head.source_text = from_page("<p>New sentence.</p>")
    said = text(failed, head)
    assert "**The base does not build**" in said and "````text\nmake: *** ```stop```\n````" in said
    assert "- Old sentence." in said and "+ New sentence." in said and "not built" in said


def test_a_long_comparison_is_cut_at_whole_items_and_kept_in_full():
    base = shot(values={f"v{i}": value() for i in range(3000)})
    head = shot(values={f"v{i}": value("3", 2.5, 3.5) for i in range(3000)})
    found = compare(base, head)
    said, full = review.markdown(found), review.markdown(found, None)
    assert len(said) < 60_000 and "more in `compare/full.md`" in said
    assert full.count("| `v") == 3000
    assert all(line.endswith("|") for line in said.splitlines() if line.startswith("| `v"))


# -- what comes from data stays data ----------------------------------------------------------

HOSTILE = [
    "<img src=x onerror=alert(1)>", "@everyone look", "[click](https://evil.example)",
    "```\n# heading\n```", "`` ` ``", "| a | b |", "\x1b[31mred\x1b[0m", "a\u202eb", "#1 www.evil.example",
]  # fmt: skip


def unfenced(markdown):
    """The comment without its code spans and code blocks: what GitHub would interpret."""
    rest = re.sub(r"^(`{3,})(?:diff|text)\n.*?\n\1$", "", markdown, flags=re.S | re.M)
    return re.sub(r"(?<!`)(`+)(?!`)(.*?)(?<!`)\1(?!`)", "", rest)


@given(st.sampled_from(HOSTILE) | st.text(max_size=60))
def test_hostile_text_stays_inside_code(bad):
    head = shot(
        values={"peak": value(bad, 3, 4), bad: value()},
        sources={bad: {"title": bad}},
        figures={"bars": "<svg/>"},
        page=from_page(f"<h2>A</h2><p>{bad.replace('<', '&lt;')}.</p>"),
    )
    said = text(shot(), head)
    outside = unfenced(said).replace(review.MARK, "")
    assert not re.search(r"[<>@]|\]\(|://|www\.|\x1b|\u202e", outside), outside
    assert "\x1b" not in said and "\u202e" not in said


@given(st.text(alphabet="`a |\n~-+\\", max_size=40))
def test_no_text_leaves_its_code_span_or_its_block(bad):
    span = review.code(bad)
    assert "\n" not in span and "|" not in span
    fence = re.match("`+", span)[0]
    assert span.endswith(fence) and fence not in re.findall("`+", span[len(fence) : -len(fence)])
    block = review.diff_block([bad], [bad]).splitlines()
    fence = re.match("`+", block[0])[0]
    assert len(block) == 4 and all(fence not in line for line in block[1:-1]) and block[-1] == fence


def test_a_long_sentence_is_cut_to_what_changed():
    before, after = "a " * 300 + "85,448 yes" + " b" * 300, "a " * 300 + "85,449 yes" + " b" * 300
    old, new = review.around(before, after)
    assert "85,448 yes" in old and "85,449 yes" in new
    assert len(old) < 200 and old.startswith("… ") and old.endswith(" …")
    assert review.around("short", "texts") == ("short", "texts")


# -- pictures ---------------------------------------------------------------------------------

SVG = '<svg xmlns="http://www.w3.org/2000/svg" width="40" height="20"><rect width="{w}" height="20"/></svg>'


def test_changed_figures_are_drawn_side_by_side_with_their_difference(tmp_path):
    from PIL import Image

    base = shot(figures={"bars": SVG.format(w=10), "gone": SVG.format(w=1)})
    head = shot(figures={"bars": SVG.format(w=30)})
    review.write(base, head, tmp_path / "compare.md", tmp_path / "compare")
    names = {path.name for path in (tmp_path / "compare").iterdir()}
    assert names == {"bars.old.png", "bars.new.png", "bars.difference.png", "gone.old.png",
                     "index.html", "full.md"}  # fmt: skip
    picture = Image.open(tmp_path / "compare" / "bars.difference.png").convert("RGB")
    red = [picture.getpixel((x * picture.width // 40, 5)) == (200, 0, 30) for x in (5, 20, 35)]
    assert red == [False, True, False]


def test_a_later_comparison_leaves_no_picture_of_an_earlier_one(tmp_path):
    base, head = shot(figures={"bars": SVG.format(w=1)}), shot(figures={"bars": SVG.format(w=2)})
    review.write(base, head, tmp_path / "c.md", tmp_path / "compare")
    review.write(base, base, tmp_path / "c.md", tmp_path / "compare")
    assert [path.name for path in (tmp_path / "compare").iterdir()] == ["full.md"]


# -- versions ---------------------------------------------------------------------------------


def run(folder, *command):
    return subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout


@pytest.fixture
def repository(tmp_path):
    """A project of two commits whose report is what its one data file says."""
    root = tmp_path / "origin"
    root.mkdir()
    run(root, "git", "init", "-q", "-b", "main")
    makefile = (
        "report:\n\tmkdir -p build/report report/_generated/figures\n"
        "\tcp data.json report/_generated/values.json\n\tcp page.html build/report/index.html\n"
    )
    (root / "Makefile").write_text(makefile)
    (root / "page.html").write_text("<p>Same.</p>")
    for number in ("1", "2"):
        (root / "data.json").write_text(json.dumps({"peak": value(number, int(number), 9)}))
        run(root, "git", "add", "-A")
        run(root, "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", number)
    return root


@pytest.fixture
def elsewhere(repository, monkeypatch, tmp_path):
    """Versions come from ``repository``; the cache is in a folder of the test."""
    original = checkout.worktree
    monkeypatch.setattr(snapshot, "ROOT", tmp_path)
    monkeypatch.setattr(checkout, "worktree", lambda commit: original(commit, root=repository))
    monkeypatch.setattr(checkout, "lend_cache", lambda folder: None)
    return repository


def test_a_version_is_built_in_a_worktree_of_its_own_and_cached(elsewhere):
    commit, said = checkout.resolve("HEAD~1", elsewhere), []
    built = snapshot.of_version(commit, renderer="embedded", say=said.append)
    assert built.values["peak"]["text"] == "1" and built.page.sentences[0].text == "Same."
    again = snapshot.of_version(commit, renderer="embedded", say=said.append)
    assert again.values == built.values and said[1].endswith("is in the cache")
    assert run(elsewhere, "git", "worktree", "list").count("\n") == 1
    assert run(elsewhere, "git", "status", "--porcelain") == ""


def test_a_version_that_does_not_build_says_so_and_is_not_cached(elsewhere, tmp_path):
    (elsewhere / "Makefile").write_text("report:\n\t@echo 'no ink left'; exit 3\n")
    run(elsewhere, "git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qam", "broken")
    commit = checkout.resolve("HEAD", elsewhere)
    built = snapshot.of_version(commit, renderer="embedded", say=lambda text: None)
    assert "no ink left" in built.failed and built.values is None
    assert not list(tmp_path.rglob("complete"))


def test_a_version_that_is_not_there_is_an_error_that_says_what_to_do(repository, tmp_path):
    with pytest.raises(InputError, match="not in this clone"):
        checkout.resolve("nonsense", repository)
    with pytest.raises(InputError, match="not in this clone"):
        checkout.resolve("--upload-pack=x", repository)
    base = checkout.resolve("HEAD~1", repository)
    run(tmp_path, "git", "clone", "-q", "--depth=1", f"file://{repository}", "shallow")
    with pytest.raises(InputError, match="shallow clone.*git fetch"):
        checkout.resolve(base, tmp_path / "shallow")
    (tmp_path / "plain").mkdir()
    with pytest.raises(InputError, match="no git checkout"):
        checkout.resolve("HEAD", tmp_path / "plain")


def test_an_old_snapshot_with_odd_records_still_compares():
    odd = copy.deepcopy(shot())
    odd.values = {"peak": {"text": None, "low": "x"}, "other": {}}
    assert "peak" in text(odd, shot()) and "peak" in text(shot(), odd)
