"""What changed for the reader between two versions.

Pure comparison of two snapshots; ``review`` writes it down for a pull request.
"""

from __future__ import annotations

import difflib
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .pagetext import PageText, Sentence
from .snapshot import Snapshot

PROVEN = frozenset(("reproduced", "published"))
STRENGTH = {"reproduced": 4, "published": 3, "stated": 2, "assumed": 1, "open": 0}
# what a reader sees of a value besides its number and its grade
BACKGROUND = ("label", "formula", "inputs", "sources", "notebook", "cell")
STANDING = frozenset(("verdict", "grade", "proven"))


@dataclass(frozen=True)
class ValueChange:
    """A value of both versions whose print or interval differs.

    ``rank`` is 0 where the text prints another number, 1 where only the range or the interval
    behind it moved.
    """

    id: str
    old: str
    new: str
    direction: str
    used: tuple[str, ...]
    rank: int


@dataclass(frozen=True)
class GradeChange:
    """A value or claim whose grade or verdict differs; ``rank`` puts a new proof first."""

    id: str
    kind: str
    old: str
    new: str
    rank: int


@dataclass(frozen=True)
class TextChange:
    """Sentences that were replaced, under the heading where they stand; either may be empty."""

    heading: str
    old: tuple[str, ...]
    new: tuple[str, ...]


@dataclass(frozen=True)
class Changed:
    """Ids that were added, removed, or whose content differs (with the parts that do)."""

    added: tuple[str, ...] = ()
    removed: tuple[str, ...] = ()
    altered: tuple[tuple[str, tuple[str, ...]], ...] = ()

    def __bool__(self) -> bool:
        return bool(self.added or self.removed or self.altered)


@dataclass
class Comparison:
    """Everything that differs; ``missing`` names what one version does not have at all.

    ``looks`` names the files that shape page and PDF and differ, and the page if its bytes do.
    """

    base: Snapshot
    head: Snapshot
    values: list[ValueChange] = field(default_factory=list)
    value_ids: Changed = field(default_factory=Changed)
    grades: list[GradeChange] = field(default_factory=list)
    claims: Changed = field(default_factory=Changed)
    sources: Changed = field(default_factory=Changed)
    text: list[TextChange] = field(default_factory=list)
    figures: Changed = field(default_factory=Changed)
    missing: list[str] = field(default_factory=list)
    looks: list[str] = field(default_factory=list)

    @property
    def anything(self) -> bool:
        """Whether a reader would see any difference."""
        return any((self.values, self.value_ids, self.grades, self.claims, self.sources,
                    self.text, self.figures))  # fmt: skip


def compare(base: Snapshot, head: Snapshot) -> Comparison:
    """What differs between two snapshots, as far as both have it."""
    result = Comparison(base, head)
    uses = head.page.uses if head.page else {}
    if _both(result, "values", base.values, head.values):
        result.values = _values(base.values or {}, head.values or {}, uses)
        result.value_ids = _changed(base.values or {}, head.values or {}, BACKGROUND)
        result.grades += _grades("value", base.values or {}, head.values or {})
    if _both(result, "ledger", base.claims, head.claims):
        result.claims = _claims(base.claims or {}, head.claims or {})
        result.grades += _grades("claim", base.claims or {}, head.claims or {})
    if _both(result, "list of sources", base.sources, head.sources):
        result.sources = _sources(base.sources or {}, head.sources or {})
    result.grades.sort(key=lambda change: (change.rank, change.kind, change.id))
    result.text = _text(base, head)
    if base.looks and head.looks:
        names = sorted({*base.looks, *head.looks})
        result.looks = [name for name in names if base.looks.get(name) != head.looks.get(name)]
    if base.figures or not base.failed:
        result.figures = _changed_files(base.figures, head.figures)
    else:
        result.missing.append("the base has no figures")
    return result


def _both(result: Comparison, name: str, old: object, new: object) -> bool:
    """Whether both versions have a table; if only one has, it is noted."""
    if old is None and new is not None:
        result.missing.append(f"the base has no {name}")
    if new is None and old is not None:
        result.missing.append(f"this version has no {name}")
    return old is not None and new is not None


# -- values, grades, verdicts --------------------------------------------------------------


def printed(value: Mapping) -> str:
    """A value as the text prints it, with its range where that says more."""
    text, suffix = str(value.get("text", "")), str(value.get("suffix", ""))
    interval = str(value.get("range", ""))
    return f"{text}{suffix}" + (f" ({interval})" if interval not in ("", text) else "")


def _values(old: Mapping, new: Mapping, uses: Mapping[str, list[str]]) -> list[ValueChange]:
    changes = [
        ValueChange(
            id,
            printed(old[id]),
            printed(new[id]),
            direction(old[id], new[id]),
            tuple(_counted(uses.get(id, ()))),
            0 if _differ(old[id], new[id], ("text", "suffix", "unit")) else 1,
        )
        for id in sorted(set(old) & set(new))
        if _differ(old[id], new[id], ("text", "suffix", "unit", "range", "low", "high"))
    ]
    return sorted(changes, key=lambda change: change.rank)


def _differ(old: Mapping, new: Mapping, keys: Iterable[str]) -> bool:
    return any(old.get(key) != new.get(key) for key in keys)


def direction(old: Mapping, new: Mapping) -> str:
    """Where an interval went: up, down, wider, narrower, or only its print changed.

    With the change of the middle in per cent, where both intervals are bounded.
    """
    ends = [_ends(value) for value in (old, new)]
    if old.get("unit") != new.get("unit"):
        return "other unit"
    (low, high), (new_low, new_high) = ends
    if (low, high) == (new_low, new_high):
        return "same number, printed otherwise"
    if new_low <= low and new_high >= high:
        word = "wider"
    elif new_low >= low and new_high <= high:
        word = "narrower"
    else:
        word = "up" if new_low > low else "down"
    middle, new_middle = (low + high) / 2, (new_low + new_high) / 2
    if word in ("up", "down") and 0 < abs(middle) < float("inf") > abs(new_middle):
        word += f" by {abs(new_middle / middle - 1) * 100:.2g}%"
    return word


def _ends(value: Mapping) -> tuple[float, float]:
    low, high = value.get("low"), value.get("high")
    return (
        float(low) if isinstance(low, int | float) else float("-inf"),
        float(high) if isinstance(high, int | float) else float("inf"),
    )


def _counted(headings: Iterable[str]) -> list[str]:
    return [f"{name} ({n}×)" if n > 1 else name for name, n in Counter(headings).items()]


def _grades(kind: str, old: Mapping, new: Mapping) -> list[GradeChange]:
    changes = [
        GradeChange(id, kind, _standing(old[id]), _standing(new[id]), _rank(old[id], new[id]))
        for id in sorted(set(old) & set(new))
        if _standing(old[id]) != _standing(new[id])
    ]
    if kind == "claim":  # one that comes or goes changes what is proven too
        for id in sorted(set(new) - set(old)):
            rank = 0 if _proven(new[id]) else 3
            changes.append(GradeChange(id, kind, "(new)", _standing(new[id]), rank))
        for id in sorted(set(old) - set(new)):
            rank = 1 if _proven(old[id]) else 3
            changes.append(GradeChange(id, kind, _standing(old[id]), "(removed)", rank))
    return changes


def _standing(record: Mapping) -> str:
    verdict, grade = record.get("verdict"), record.get("grade")
    words = [str(word) for word in (verdict, grade) if word]
    if verdict and record.get("proven"):
        words.append("proven")
    return ", ".join(words)


def _proven(record: Mapping) -> bool:
    return bool(record.get("proven", record.get("grade") in PROVEN))


def _rank(old: Mapping, new: Mapping) -> int:
    """0 became proven, 1 is proven no more, 2 weaker, 3 anything else."""
    if _proven(old) != _proven(new):
        return 0 if _proven(new) else 1
    before, after = (STRENGTH.get(str(record.get("grade")), 0) for record in (old, new))
    return 2 if after < before else 3


# -- things with an id ----------------------------------------------------------------------


def _changed(old: Mapping, new: Mapping, parts: Iterable[str]) -> Changed:
    names = tuple(parts)
    altered = (
        (id, tuple(name for name in names if old[id].get(name) != new[id].get(name)))
        for id in sorted(set(old) & set(new))
    )
    return Changed(
        added=tuple(sorted(set(new) - set(old))),
        removed=tuple(sorted(set(old) - set(new))),
        altered=tuple((id, found) for id, found in altered if found),
    )


def _keys(old: Mapping, new: Mapping) -> set[str]:
    return {key for record in (*old.values(), *new.values()) for key in record}


def _claims(old: Mapping, new: Mapping) -> Changed:
    """Claims by all they say; what they are worth is compared as a grade."""
    return _changed(old, new, sorted(_keys(old, new) - STANDING))


def _sources(old: Mapping, new: Mapping) -> Changed:
    """A source known by its id alone, from a version without a bibliography, is not altered."""
    changed = _changed(old, new, sorted(_keys(old, new)))
    if all(old.values()) and all(new.values()):
        return changed
    return Changed(changed.added, changed.removed)


def _changed_files(old: Mapping[str, str], new: Mapping[str, str]) -> Changed:
    both = sorted(set(old) & set(new))
    return Changed(
        added=tuple(sorted(set(new) - set(old))),
        removed=tuple(sorted(set(old) - set(new))),
        altered=tuple((id, ()) for id in both if old[id] != new[id]),
    )


# -- text -----------------------------------------------------------------------------------


def _text(base: Snapshot, head: Snapshot) -> list[TextChange]:
    """Sentences of the pages, or of the documents' sources where one page is missing."""
    if base.page is not None and head.page is not None:
        return text_changes(base.page, head.page)
    return text_changes(base.source_text, head.source_text)


def text_changes(old: PageText, new: PageText) -> list[TextChange]:
    """The sentences that differ, replaced ones beside each other."""
    before, after = old.sentences, new.sentences
    matcher = difflib.SequenceMatcher(
        a=[sentence.key for sentence in before],
        b=[sentence.key for sentence in after],
        autojunk=False,
    )
    return [
        TextChange(
            heading=_heading(after[d:e] or before[b:c]),
            old=tuple(sentence.text for sentence in before[b:c]),
            new=tuple(sentence.text for sentence in after[d:e]),
        )
        for kind, b, c, d, e in matcher.get_opcodes()
        if kind != "equal"
    ]


def _heading(sentences: list[Sentence]) -> str:
    return sentences[0].heading
