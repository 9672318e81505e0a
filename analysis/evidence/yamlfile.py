"""Read YAML that people write: safe, bounded, and with the line of every field.

Scalars stay the text that was written (models convert them), except true, false and nothing.
Anchors and repeated keys are refused: the first can expand without end, the second loses data.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import yaml

from .errors import InputError, shown

MOST_BYTES = 4_000_000
DEEPEST = 20

_Loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@dataclass
class Document:
    """``value`` and, for each path of keys and indexes, the line where it stands."""

    file: str
    value: Any
    lines: dict[tuple[str | int, ...], int] = field(default_factory=dict)

    def line(self, path: tuple[str | int, ...]) -> int | None:
        """The line of ``path``, or of the nearest thing around it."""
        while path and path not in self.lines:
            path = path[:-1]
        return self.lines.get(path)


def text_of(file: Path, shown_as: str) -> str:
    """A text file's contents; raises ``InputError`` if it is missing, too large or not UTF-8."""
    try:
        raw = file.read_bytes()
    except FileNotFoundError:
        raise InputError("the file is missing", file=shown_as, mend="restore or add it") from None
    except OSError as error:
        raise InputError(
            f"the file cannot be read ({error.strerror})", file=shown_as, mend="check its rights"
        ) from None
    if len(raw) > MOST_BYTES:
        raise InputError(
            f"the file has {len(raw):,} bytes", file=shown_as, mend=f"keep it under {MOST_BYTES:,}"
        )
    try:
        return raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte {raw[error.start]:#04x} is not UTF-8",
            file=shown_as,
            line=raw[: error.start].count(b"\n") + 1,
            mend="save the file as UTF-8",
        ) from None


def read(file: Path, shown_as: str | None = None) -> Document:
    """Parse ``file``; raises ``InputError`` with the line of what is wrong."""
    name = shown_as or str(file)
    text = text_of(file, name)
    try:
        root = yaml.compose(text, Loader=_Loader)
    except yaml.YAMLError as error:
        mark = getattr(error, "problem_mark", None)
        raise InputError(
            f"this is not YAML: {getattr(error, 'problem', None) or 'a character is not allowed'}",
            file=name,
            line=mark.line + 1 if mark else None,
            mend="check indentation, quotes and colons at that line",
        ) from None
    except RecursionError:
        raise InputError(
            "the YAML is nested too deeply", file=name, mend=f"use at most {DEEPEST} levels"
        ) from None
    document = Document(name, None)
    document.value = None if root is None else _build(root, (), document, set())
    return document


def _build(node: yaml.Node, path: tuple, document: Document, seen: set[int]) -> Any:
    line = node.start_mark.line + 1
    document.lines.setdefault(path, line)
    if id(node) in seen:
        raise InputError(
            "an alias repeats another part", file=document.file, line=line, mend="write it out"
        )
    seen.add(id(node))
    if len(path) > DEEPEST:
        raise InputError(
            "the YAML is nested too deeply",
            file=document.file,
            line=line,
            mend=f"use at most {DEEPEST} levels",
        )
    if isinstance(node, yaml.ScalarNode):
        return _scalar(node, document)
    if node.tag.rpartition(":")[2] not in ("seq", "map"):
        raise _tagged(node, document)
    if isinstance(node, yaml.SequenceNode):
        return [_build(item, (*path, i), document, seen) for i, item in enumerate(node.value)]
    mapping: dict[str, Any] = {}
    for key_node, value_node in node.value:
        key_line = key_node.start_mark.line + 1
        if not isinstance(key_node, yaml.ScalarNode):
            raise InputError(
                "a key is not plain text", file=document.file, line=key_line, mend="use a word"
            )
        key = key_node.value
        if key in mapping:
            raise InputError(
                f"the key {shown(key)} stands twice",
                file=document.file,
                line=key_line,
                mend="keep one of the two",
            )
        document.lines[(*path, key)] = key_line
        mapping[key] = _build(value_node, (*path, key), document, seen)
    return mapping


def _scalar(node: yaml.ScalarNode, document: Document) -> str | bool | None:
    kind = node.tag.rpartition(":")[2]
    if kind == "null":
        return None
    if kind == "bool":
        return node.value.lower() in ("true", "yes", "on")
    if kind in ("str", "int", "float", "timestamp"):
        return node.value
    raise _tagged(node, document)


def _tagged(node: yaml.Node, document: Document) -> InputError:
    return InputError(
        f"the tag {shown(node.tag)} is not allowed",
        file=document.file,
        line=node.start_mark.line + 1,
        mend="remove it",
    )
