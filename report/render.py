"""Render the document: index.qmd and its sections to index.html and report.pdf.

Two renderers read the same ``_quarto.yml``, sources, filters and theme:

``quarto``    a Quarto on the PATH does all of it
``embedded``  pandoc (wheel pypandoc_binary) and Typst (wheel typst) do the same without a Quarto

The embedded renderer knows the constructs named in README.md and stops at any other, with file
and line, so that nothing goes missing in silence.
Both outputs are made first and put in place last: a failing render leaves the last good ones.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from html.parser import HTMLParser
from importlib import metadata
from pathlib import Path

import pypandoc
import typst
import yaml

MAX_PAGE_BYTES = 2_500_000
PDF_STANDARDS = ["ua-1", "a-2a"]
FILTER_STOPPED = 2  # the exit code of filters/sources.lua

# the keys of _quarto.yml that both renderers honour; None: any plain value
KNOWN_KEYS = {
    "project": {"type": None, "output-dir": None, "render": None},
    "lang": None,
    "engine": None,
    "bibliography": None,
    "link-citations": None,
    "number-sections": None,
    "toc": None,
    "toc-depth": None,
    "filters": None,
    "format": {
        "html": {
            "theme": None,
            "minimal": None,
            "embed-resources": None,
            "citeproc": None,
            "html-math-method": None,
            "template": None,
            "css": None,
            "include-in-header": None,
        },
        "typst": {
            "citeproc": None,
            "papersize": None,
            "section-numbering": None,
            "font-paths": None,
            "pdf-standard": None,
            "template-partials": None,
        },
    },
}

# values without which the two renderers would not give the same document
NEEDED_VALUES = {
    ("project", "type"): "default",
    ("project", "render"): ["index.qmd"],
    ("engine",): "markdown",
    ("format", "html", "theme"): "none",
    ("format", "html", "minimal"): True,
    ("format", "html", "embed-resources"): True,
    ("format", "html", "citeproc"): True,
    ("format", "html", "html-math-method"): "mathml",
    ("format", "typst", "citeproc"): True,
    ("format", "typst", "papersize"): "a4",
    ("format", "typst", "pdf-standard"): PDF_STANDARDS,
    ("format", "typst", "template-partials"): ["theme/typst-template.typ", "theme/typst-show.typ"],
}

KNOWN_FRONT_MATTER = dict.fromkeys(
    ["title", "subtitle", "author", "abstract", "description", "keywords"]
)

INCLUDE = re.compile(r"^\s*\{\{<\s*include\s+(\S+)\s*>\}\}\s*$")
SHORTCODE = re.compile(r"\{\{<.*")
FENCE = re.compile(r"^\s*(`{3,}|~{3,})(.*)$")
CELL = re.compile(r"^\s*\{+\s*[A-Za-z]")
INLINE_CODE = re.compile(r"`[^`]*`")
INLINE_CELL = re.compile(r"^`(\{[A-Za-z]+\}|r)\s")

NO_QUARTO = (
    "no quarto on the PATH. Get it with the conda environment in environment.yml, or run "
    "`make report RENDERER=embedded`, which makes the same document without it"
)


class RenderError(Exception):
    """What a person has to mend; its text is the whole message."""


@dataclass(frozen=True)
class Line:
    """A line of the expanded document and where it was written."""

    file: str
    number: int
    text: str

    @property
    def position(self) -> str:
        return f"{self.file}:{self.number}"


def stop(position: str, found: str, mend: str) -> None:
    """Raise the one form of message: where, what was found, how to mend it."""
    raise RenderError(f"{position}: {found}. {mend}.")


# ---------------------------------------------------------------- configuration


def shown(project: Path, file: Path) -> str:
    """How a file of the project is named in messages."""
    return str(Path(project.name) / file.relative_to(project))


def check_keys(node: yaml.Node, known: dict, file: str, offset: int = 0, path: str = "") -> None:
    """Stop at the first key outside the written list, with its line."""
    for key, value in node.value:
        position = f"{file}:{key.start_mark.line + 1 + offset}"
        if key.value not in known:
            stop(
                position,
                f'the key "{path}{key.value}" is unknown',
                "Remove it, or teach it to render.py",
            )
        inner = known[key.value]
        if inner is None:
            continue
        if not isinstance(value, yaml.MappingNode):
            stop(
                position, f'"{path}{key.value}" holds no keys', "Give it the keys that belong there"
            )
        check_keys(value, inner, file, offset, f"{path}{key.value}.")


def parse_yaml(text: str, known: dict, file: str, offset: int = 0) -> dict:
    """A YAML mapping whose keys are all known."""
    try:
        node = yaml.compose(text, Loader=yaml.SafeLoader)
        if not isinstance(node, yaml.MappingNode):
            stop(f"{file}:{1 + offset}", "no keys were found", "Write key: value lines")
        check_keys(node, known, file, offset)
        return yaml.safe_load(text)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        line = (mark.line if mark else 0) + 1 + offset
        stop(f"{file}:{line}", f"no valid YAML ({getattr(error, 'problem', error)})", "Correct it")


def read_config(project: Path) -> dict:
    """``_quarto.yml``, checked: known keys only, and the values that both renderers need."""
    path = project / "_quarto.yml"
    if not path.is_file():
        stop(shown(project, path), "the file is missing", "Restore it from git")
    file = shown(project, path)
    config = parse_yaml(path.read_text("utf-8"), KNOWN_KEYS, file)
    for keys, wanted in NEEDED_VALUES.items():
        found = config
        for key in keys:
            found = found.get(key) if isinstance(found, dict) else None
        if found != wanted:
            stop(
                file,
                f"{'.'.join(keys)} is {found!r}",
                f"Set it to {wanted!r}; the two renderers differ otherwise",
            )
    return config


def read_build(project: Path) -> dict:
    """``_generated/build.json``: the version that is built, and its time."""
    path = project / "_generated" / "build.json"
    try:
        build = json.loads(path.read_text("utf-8"))
        build["epoch"] = int(build["epoch"])
    except (OSError, ValueError, KeyError, TypeError) as error:
        stop(
            shown(project, path),
            f"cannot be read ({error.__class__.__name__})",
            "Run the notebooks first",
        )
    return build


# ---------------------------------------------------------------- sources


def expand(project: Path, path: Path, chain: tuple[Path, ...] = ()) -> list[Line]:
    """The lines of a file with its includes put in, each with where it was written."""
    file = shown(project, path)
    lines: list[Line] = []
    for number, text in enumerate(path.read_text("utf-8").splitlines(), start=1):
        if number == 1 and chain and text.strip() == "---":
            stop(
                f"{file}:1",
                "an included file starts with front matter",
                "Only index.qmd has front matter",
            )
        match = INCLUDE.match(text)
        if match:
            lines += expand(
                project,
                included(project, path, match[1], f"{file}:{number}", chain),
                (*chain, path),
            )
        else:
            lines.append(Line(file, number, text))
    return lines


def included(project: Path, path: Path, name: str, position: str, chain: tuple[Path, ...]) -> Path:
    """The file that an include names; it lies in the project and does not include itself."""
    target = (path.parent / name).resolve()
    if not target.is_relative_to(project):
        stop(
            position,
            f"the include of {name} leads out of the document's folder",
            "Keep what is included inside it",
        )
    if not target.is_file():
        stop(
            position,
            f"the included file {name} is missing",
            "Correct its path; it is relative to this file",
        )
    if target in (*chain, path):
        stop(position, f"the file {name} includes itself", "Remove one of the includes")
    return target


def read_sources(project: Path) -> list[Line]:
    """The whole document in its lines, without what only Quarto would understand."""
    index = project / "index.qmd"
    if not index.is_file():
        stop(shown(project, index), "the file is missing", "Restore it from git")
    lines = expand(project, index)
    check_front_matter(lines)
    check_lines(lines)
    return lines


def check_front_matter(lines: list[Line]) -> None:
    """The YAML at the head holds known keys only."""
    ends = [at for at, line in enumerate(lines) if line.text.strip() in ("---", "...") and at > 0]
    if not lines or lines[0].text.strip() != "---" or not ends:
        stop(
            lines[0].position if lines else "index.qmd",
            "no front matter",
            "Start the file with title: between two --- lines",
        )
    text = "\n".join(line.text for line in lines[1 : ends[0]])
    head = parse_yaml(text, KNOWN_FRONT_MATTER, lines[0].file, offset=1)
    if not head.get("title"):
        stop(lines[0].position, "the document has no title", "Add title: to the front matter")


def check_lines(lines: list[Line]) -> None:
    """Stop at shortcodes and at code that Quarto would run; the filters check the rest."""
    fence = ""
    for line in lines:
        match = FENCE.match(line.text)
        if fence:
            if match and match[1].startswith(fence) and not match[2].strip():
                fence = ""
            continue
        if match:
            fence = match[1]
            if CELL.match(match[2]):
                stop(
                    line.position,
                    f"a code cell {match[2].strip()}",
                    "The document runs no code: compute it in a notebook",
                )
            continue
        for code in INLINE_CODE.findall(line.text):
            if INLINE_CELL.match(code):
                stop(
                    line.position,
                    f"inline code {code}",
                    "The document runs no code: name a value, [id]{.val}",
                )
        shortcode = SHORTCODE.search(INLINE_CODE.sub("", line.text))
        if shortcode:
            stop(
                line.position,
                f"the shortcode {shortcode[0].strip()}",
                "Only {{< include file >}}, alone on its line, is known",
            )


# ---------------------------------------------------------------- embedded renderer


def common_options(config: dict) -> list[str]:
    """pandoc's options for both formats, as Quarto would set them from ``_quarto.yml``."""
    options = ["--from", "markdown", "--standalone", "--fail-if-warnings"]
    options += ["--lua-filter", "filters/constructs.lua"]
    for name in config["filters"]:
        options += ["--lua-filter", name]
    options += ["--lua-filter", "filters/embedded.lua", "--citeproc"]
    if config.get("number-sections"):
        options += ["--number-sections"]
    if config.get("toc"):
        options += ["--toc", "--toc-depth", str(config.get("toc-depth", 3))]
    for key in ("bibliography", "lang", "link-citations"):
        if key in config:
            options += ["--metadata", f"{key}={yaml_scalar(config[key])}"]
    return options


def yaml_scalar(value: object) -> str:
    """A plain value as pandoc reads it on its command line."""
    return str(value).lower() if isinstance(value, bool) else str(value)


def html_options(config: dict) -> list[str]:
    html = config["format"]["html"]
    options = ["--to", "html5", "--section-divs", "--mathml", "--wrap", "none"]
    options += ["--template", html["template"]]
    for name in as_list(html.get("css")):
        options += ["--css", name]
    for name in as_list(html.get("include-in-header")):
        options += ["--include-in-header", name]
    return options


def typst_options(config: dict) -> list[str]:
    numbering = config["format"]["typst"].get("section-numbering", "1.1")
    return [
        "--to",
        "typst",
        "--wrap",
        "none",
        "--template",
        "theme/template.typ",
        "--variable",
        f"section-numbering={numbering}",
    ]


def as_list(value: object) -> list:
    return value if isinstance(value, list) else [] if value is None else [value]


def clean_environment(build: dict) -> dict[str, str]:
    """The tools' environment: no Quarto around us, and the time of the version that is built."""
    kept = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("QUARTO_", "PANDOC_", "TYPST_"))
    }
    return {**kept, "SOURCE_DATE_EPOCH": str(build["epoch"]), "TZ": "UTC", "LC_ALL": "C.UTF-8"}


def start_pandoc(project: Path, options: list[str], build: dict) -> subprocess.Popen:
    return subprocess.Popen(
        [pypandoc.get_pandoc_path(), *options],
        cwd=project,
        env=clean_environment(build),
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )


def finish_pandoc(run: subprocess.Popen, source: Path, lines: list[Line]) -> bytes:
    """What a pandoc that was started makes; RenderError with its message placed if it fails."""
    made, errors = run.communicate()
    if run.returncode:
        raise RenderError(located(errors.decode("utf-8", "replace"), run.returncode, source, lines))
    return made


def located(message: str, code: int, source: Path, lines: list[Line]) -> str:
    """pandoc's message with the places of the expanded text turned into file and line."""

    def place(match: re.Match) -> str:
        number = int(match[1])
        return lines[number - 1].position if 0 < number <= len(lines) else match[0]

    message = message.replace(str(source), "the document").replace(
        "Failing because there were warnings.", ""
    )
    if code == FILTER_STOPPED:
        message = message.strip().splitlines()[-1]
    message = re.sub(r"line (\d+)(?:,? column \d+)?", place, message)
    return message.strip() or "pandoc failed without a message"


def compile_pdf(project: Path, config: dict, source: bytes, build: dict) -> bytes:
    """The PDF, from the fonts of the project alone, dated by the version that is built."""
    fonts = [str(project / name) for name in as_list(config["format"]["typst"].get("font-paths"))]
    try:
        return typst.compile(
            source,
            root=str(project),
            font_paths=fonts,
            ignore_system_fonts=True,
            format="pdf",
            pdf_standards=PDF_STANDARDS,
            timestamp=build["epoch"],
        )
    except (typst.TypstError, RuntimeError) as error:
        raise RenderError(f"Typst could not set the PDF: {error}") from None


def with_styles(project: Path, html: bytes) -> bytes:
    """The page with its stylesheets in it: they are all that it would load.

    pandoc's own --embed-resources parses the whole page again, which takes longer than making it.
    """

    def style(link: re.Match) -> bytes:
        return b"<style>\n" + (project / link[1].decode()).read_bytes() + b"</style>"

    return re.sub(rb'<link rel="stylesheet" href="([\w./-]+)">', style, html)


def render_embedded(
    project: Path, config: dict, lines: list[Line], build: dict
) -> tuple[bytes, bytes]:
    """The page and the PDF, made side by side; if both fail, the page's message is told."""
    common = common_options(config)
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor() as pool:
        source = Path(scratch) / "document.md"
        source.write_bytes(("\n".join(line.text for line in lines) + "\n").encode())
        for_page, for_pdf = (
            start_pandoc(project, [*common, *options, str(source)], build)
            for options in (html_options(config), typst_options(config))
        )

        def make_page() -> bytes:
            return finished(with_styles(project, finish_pandoc(for_page, source, lines)))

        def make_pdf() -> bytes:
            return compile_pdf(project, config, finish_pandoc(for_pdf, source, lines), build)

        page, pdf = pool.submit(make_page), pool.submit(make_pdf)
        return page.result(), pdf.result()


# ---------------------------------------------------------------- Quarto


def render_quarto(project: Path, config: dict, build: dict) -> tuple[bytes, bytes]:
    """The same two documents from a Quarto on the PATH."""
    quarto = shutil.which("quarto")
    if not quarto:
        raise RenderError(NO_QUARTO)
    folder = (project / config["project"]["output-dir"]).resolve()
    outputs = [folder / "index.html", folder / "index.pdf"]
    for output in outputs:
        output.unlink(missing_ok=True)
    environment = {**clean_environment(build), "TYPST_IGNORE_SYSTEM_FONTS": "true"}
    command = [quarto, "render", str(project)]
    run = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    if run.returncode:
        raise RenderError(from_quarto(project, run.stderr))
    for output in outputs:
        if not output.is_file():
            stop(
                str(output.name),
                "quarto render did not make it",
                "Read the messages of `quarto render` in the document's folder",
            )
    html, pdf = (output.read_bytes() for output in outputs)
    check_resolved(html.decode("utf-8"))
    return finished(html), pdf


def from_quarto(project: Path, messages: str) -> str:
    """The filters' own message where there is one among Quarto's, else all of them."""
    own = re.search(rf"^{re.escape(project.name)}/\S+: .*$", messages, re.MULTILINE)
    return own[0] if own else f"quarto render failed:\n{messages.strip()}"


def check_resolved(html: str) -> None:
    """Quarto only warns of a dead reference or citation, and prints a question mark."""
    found = re.search(r"\?@((?:fig|tbl|sec)-[\w-]+)|<strong>([\w:.-]+)\?</strong>", html)
    if found:
        name = next(group for group in found.groups() if group)
        raise RenderError(
            f"index.html: the reference or citation @{name} leads nowhere. "
            "Correct it, or give its target."
        )


# ---------------------------------------------------------------- outputs


class ResourceFinder(HTMLParser):
    """Collects what a page would load from elsewhere; links that a reader follows are none."""

    LOADING = ("src", "href", "xlink:href", "data", "poster", "srcset", "action", "background")

    def __init__(self) -> None:
        super().__init__()
        self.found: list[str] = []
        self.in_style = False

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.in_style = tag == "style"
        for name, value in attrs:
            if (
                name in self.LOADING
                and tag != "a"
                and not re.match(r"data:|#|$", (value or "").strip())
            ):
                self.found.append(f"<{tag} {name}={value}>")
            if name == "style":
                self.find_css(value or "")

    handle_startendtag = handle_starttag

    def handle_endtag(self, tag: str) -> None:
        self.in_style = False

    def handle_data(self, data: str) -> None:
        if self.in_style:
            self.find_css(data)

    def find_css(self, css: str) -> None:
        self.found += re.findall(r"@import[^;]*|url\(\s*[\"']?(?!data:|#)[^)]*\)", css)


def demoted(html: bytes) -> bytes:
    """The page with the title as its only first-level heading.

    Sections begin at the first level, which is right in the PDF and for the numbering of both
    renderers; so the page's levels are lowered here, after either has made it.
    """
    head, main, body = html.partition(b"<main")
    text, script, rest = body.partition(b"<script>")
    lower = re.compile(rb"<(/?)h([1-5])(?=[\s>])")
    text = lower.sub(lambda tag: b"<%sh%d" % (tag[1], int(tag[2]) + 1), text)
    return head + main + text + script + rest


def finished(html: bytes) -> bytes:
    """The page as either renderer made it, with its levels lowered, and checked."""
    html = demoted(html)
    check_page(html)
    return html


def check_page(html: bytes) -> None:
    """The page loads nothing from anywhere and is not too heavy."""
    finder = ResourceFinder()
    finder.feed(html.decode("utf-8"))
    if finder.found:
        stop(
            "index.html",
            f"the page would load {finder.found[0]}",
            "Put it into the page, or leave it out",
        )
    if len(html) > MAX_PAGE_BYTES:
        stop(
            "index.html",
            f"the page has {len(html):,} bytes, more than {MAX_PAGE_BYTES:,}",
            "Make its charts smaller",
        )


def version_of(renderer: str) -> str:
    """What rendered, with its version, for whoever wants the same bytes again."""
    if renderer == "embedded":
        return f"pandoc {pypandoc.get_pandoc_version()}, Typst {metadata.version('typst')}"
    run = subprocess.run(["quarto", "--version"], capture_output=True, text=True, check=False)
    return f"Quarto {run.stdout.strip()}"


def write_outputs(out: Path, files: dict[str, bytes]) -> None:
    """Put the files in place, each at once, after all of them are written."""
    out.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=out, prefix=".new-") as scratch:
        for name, content in files.items():
            (Path(scratch) / name).write_bytes(content)
        for name in files:
            os.replace(Path(scratch) / name, out / name)


def render(project: Path, out: Path, renderer: str) -> None:
    """Render the project into ``out``; RenderError, and nothing touched, when anything fails."""
    if renderer == "auto":
        renderer = "quarto" if shutil.which("quarto") else "embedded"
    config = read_config(project)
    build = read_build(project)
    lines = read_sources(project)
    if renderer == "quarto":
        html, pdf = render_quarto(project, config, build)
    else:
        html, pdf = render_embedded(project, config, lines, build)
    used = json.dumps({"name": renderer, "version": version_of(renderer)}) + "\n"
    # the page comes last: make takes it for the sign that all are there
    write_outputs(out, {"renderer.json": used.encode(), "report.pdf": pdf, "index.html": html})


def main(arguments: list[str] | None = None) -> int:
    here = Path(__file__).resolve().parent
    parser = argparse.ArgumentParser(
        description="Render the document to index.html and report.pdf."
    )
    parser.add_argument("--renderer", choices=["auto", "embedded", "quarto"], default="auto")
    parser.add_argument(
        "--out",
        type=Path,
        default=here.parent / "build" / "report",
        help="folder of the two outputs",
    )
    parser.add_argument(
        "--project", type=Path, default=here, help="folder of the document (default: this one)"
    )
    options = parser.parse_args(arguments)
    try:
        render(options.project.resolve(), options.out.resolve(), options.renderer)
    except RenderError as error:
        print(error, file=sys.stderr)
        return 1
    except OSError as error:
        print(f"error: the report cannot be written: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
