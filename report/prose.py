"""Check the document's prose: no typed measurement, and no value that nobody uses.

    python report/prose.py [--text-only]

Numbers come into the text by value id. Any other numeral is refused, with file and line,
unless it belongs to a name (GB200, K2.5), a nominal length (8k/1k) or a date.
``--text-only`` leaves out the check that needs the notebooks' values.
"""

from __future__ import annotations

import argparse
import json
import re
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent

# numerals that are names, not measurements
ALLOWED = re.compile(
    r"""
    \b(?:GB|B|H|MI|A|R|N|HBM|VR\ NVL|NVL|EP|TP|FP|MXFP|NVFP|PDF/A-|PDF/UA-|M)\d+[a-zA-Z]*\b
  | \bGPT-(?:OSS\ 120B|\d(?:\.\d)?)\b | \b120B\b | \bK2\.5\b | \bK3\b | \bV4\b
  | \bGroq\ 3\b | \bGemma\ 4\b
  | \bCC\ BY\ 4\.0\b | \bGen\ [123]\b | \b8k(?:/1k)?\b | \b1k\b | \bE2E\b | \bGSM8K\b
  | \b(?:\d{1,2}\ )?(?:January|February|March|April|May|June|July|August|September|October
      |November|December)\ \d{4}\b
  | \b20[12]\d-\d\d-\d\d\b | \b20[12]\d\b
    """,
    re.VERBOSE | re.IGNORECASE,
)
# digits of every script, fractions and raised digits, Roman numerals and those of Chinese
NUMERAL = re.compile(
    r"[\d¹²³⁰-₉¼-¾⅐-Ⅻ①-⓿〇一二三四五六七八九十百千万亿][\d.,〇一二三四五六七八九十百千万亿]*"
)
# what is markup, not prose: code, attributes, spans and links by id, addresses, citations
MARKUP = re.compile(
    r"`[^`]*[A-Za-z][^`]*`|\[[a-z][a-z0-9_-]*\]\{[^}]*\}|\{\{<.*?>\}\}|\{[^}]*\}|\]\([^)]*\)"
    r"|<?https?://[^\s>)]+>?|@(?:fig|tbl|sec)-[\w-]+|\[?@[\w-]+|<!--.*?-->|^\d+\.\s"
)
SPAN = re.compile(r"\[([a-z][a-z0-9_]*)\]\{[^}]*\.val\b")


def sources() -> list[Path]:
    """The document's files."""
    return [HERE / "index.qmd", *sorted((HERE / "sections").glob("*.qmd"))]


def numerals(path: Path) -> list[tuple[int, str]]:
    """The (line, numeral) pairs that stand in the prose of ``path`` and are no name or date."""
    found, front, fence = [], False, False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.rstrip() == "---" and (number == 1 or front):
            front = not front
        elif line.startswith("```"):
            fence = not fence
        elif not (front or fence or line.startswith(":::")):
            blank = ALLOWED.sub(" ", MARKUP.sub(" ", line))
            found += [(number, match.group()) for match in NUMERAL.finditer(blank)]
    return found


def unclosed(path: Path) -> list[int]:
    """The lines of blocks (``::: name``) that ``path`` opens and does not close."""
    open_lines: list[int] = []
    fence = False
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        if line.startswith("```"):
            fence = not fence
        elif not fence and re.fullmatch(r":{3,}\s*", line):
            if open_lines:
                open_lines.pop()
        elif not fence and re.match(r":{3,}\s*\S", line):
            open_lines.append(number)
    return open_lines


def used(values: dict) -> set[str]:
    """The values that the document shows, in the text or in a table, and all their inputs."""
    text = "".join(path.read_text(encoding="utf-8") for path in sources())
    tables = set(re.findall(r'generated-table="([\w-]+)"', text))
    for figure in re.findall(r'generated-figure="([\w-]+)"', text):
        meta = HERE / "_generated" / "figures" / f"{figure}.meta.json"
        if meta.exists():
            tables.add(json.loads(meta.read_text(encoding="utf-8"))["table"])
    shown = set(SPAN.findall(text))
    for table in tables:
        path = HERE / "_generated" / "tables" / f"{table}.json"
        if path.exists():
            shown |= set(re.findall(r'"value": "([a-z0-9_]+)"', path.read_text(encoding="utf-8")))
    waiting = list(shown)
    while waiting:
        inputs = values.get(waiting.pop(), {}).get("inputs", [])
        fresh = set(inputs) - shown
        shown |= fresh
        waiting += fresh
    return shown


def problems(path: Path) -> list[str]:
    """What is wrong with the text of ``path``, one message each."""

    def message(line: int, found: str, mend: str) -> str:
        return f"error: report/{path.relative_to(HERE)}:{line}: {found}. To mend it: {mend}"

    raw = path.read_bytes()
    try:
        raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw[: error.start].count(b"\n") + 1
        return [message(line, f"byte {raw[error.start]:#04x} is not UTF-8", "save it as UTF-8")]
    emit = "let a notebook emit the value and write [id]{.val}"
    close = "close it with a line of three colons"
    return [
        message(line, f"the numeral “{numeral}” is typed", emit) for line, numeral in numerals(path)
    ] + [
        message(line, "the block that begins here is not closed", close) for line in unclosed(path)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--text-only", action="store_true", help="check the text alone")
    given = parser.parse_args()
    wrong = [problem for path in sources() for problem in problems(path)]
    if wrong:
        print("\n".join(wrong), file=sys.stderr)
        return 1
    if not given.text_only:
        values = json.loads((HERE / "_generated" / "values.json").read_text(encoding="utf-8"))
        idle = sorted(set(values) - used(values))
        if idle:
            print(
                f"warning: {len(idle)} values are emitted and shown nowhere: {', '.join(idle[:8])}"
                + (" …" if len(idle) > 8 else ""),
                file=sys.stderr,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
