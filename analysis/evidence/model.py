"""What people may write in data/: the pydantic models of its tables.

Whatever is not given is ``None`` and prints "not given"; nothing is guessed.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Literal

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    Field,
    StringConstraints,
    WithJsonSchema,
    model_validator,
)


def _plain(value: str) -> str:
    if any(char < " " and char not in "\n\t" or char == "\x7f" for char in value):
        raise ValueError("text holds no control characters")
    return value


def _date(value: str) -> str:
    if not re.fullmatch(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?", value):
        raise ValueError("a date is written 2026-08-25, 2026-08 or 2026")
    if len(value) == len("2026-08-25") and not is_day(value):
        raise ValueError("there is no such day")
    return value


def is_day(value: str) -> bool:
    """Whether ``value`` is a day of the calendar, written 2026-08-25."""
    if not re.fullmatch(r"\d{4}-\d\d-\d\d", value, re.ASCII):
        return False
    try:
        return bool(date.fromisoformat(value))
    except ValueError:
        return False


def _url(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s<>\"'`{}\\]+", value):
        raise ValueError("a URL begins with https:// or http:// and holds no spaces or quotes")
    return value


Text = Annotated[
    str,
    StringConstraints(strip_whitespace=True, min_length=1, max_length=2000),
    AfterValidator(_plain),
]
SourceId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
Date = Annotated[str, AfterValidator(_date)]
Language = Annotated[str, StringConstraints(pattern=r"^[a-z]{2,3}(-[A-Za-z0-9]{2,8})*$")]
Url = Annotated[str, AfterValidator(_url)]
Id = SourceId  # of claims, topics and subjects too: small letters, digits and -
Kind = Literal["vendor", "analyst", "press", "data", "method"]
Stands = Literal["primary", "witness", "restates"]
Words = Annotated[
    tuple[Text, ...],
    BeforeValidator(lambda value: (value,) if isinstance(value, str) else value),
    Field(min_length=1, max_length=10),
    WithJsonSchema({"anyOf": [{"type": "string"}, {"type": "array", "items": {"type": "string"}}]}),
]


class Strict(BaseModel):
    # schemas are built when first used, so that a command starts without those it never needs
    model_config = ConfigDict(extra="forbid", frozen=True, defer_build=True)


class Source(Strict):
    """A document of the record.

    ``stands`` says how near it is to the matter: the primary document, a witness of the
    runs, or a text that restates others.
    ``read`` says whether the document itself was read or only notes on it.
    """

    id: SourceId
    publisher: Text | None = None
    title: Text | None = None
    gloss: Text | None = Field(
        default=None,
        description="our English gloss of the title, or what stands for one that is not given",
    )
    author: Text | None = None
    date: Date | None = None
    url: Url | None = None
    language: Language
    kind: Kind
    stands: Stands
    read: Literal["primary", "secondary"]
    called: Text | None = Field(default=None, description="how the report calls it in prose")
    note: Text | None = None

    @property
    def name(self) -> str:
        """How prose calls it: as given, else by publisher and title."""
        return self.called or self.publisher or self.title or self.id


class Citation(Strict):
    """A source and the place in it."""

    source: SourceId
    place: Text


class Rated(Citation):
    """A figure of a system, as printed, with where it is printed."""

    printed: Text
    unit: Text
    exact: bool = False
    grade: Literal["published", "stated"]


class System(Strict):
    """A chip or accelerator package."""

    id: Name
    name: Text
    vendor: Text
    role: Literal["subject", "comparator"]
    package_power: Rated | None = None
    measured_power: Rated | None = None


class Model(Strict):
    """A benchmarked language model."""

    id: Name
    name: Text
    maker: Text


class Metric(Strict):
    """A benchmark metric.

    ``printed_unit`` is the unit of the printed figure, ``unit`` what it measures:
    TBT is printed in ms and is ms x user / output token.
    """

    id: Name
    name: Text
    unit: Text
    printed_unit: Text
    suffix: str = ""
    better: Literal["higher", "lower"]
    positive: bool = Field(default=True, description="a figure of zero or below is a mistake")
    question: Text


class Measurement(Strict):
    """A published benchmark figure, exactly as it is printed."""

    model: Name
    system: Name
    decoding: Literal["stp", "mtp"] | None = None
    metric: Name
    printed: Text
    unit: Text
    at: Text | None = Field(default=None, description="the speed in tok/s/user it is read at")
    lead: Text | None = Field(default=None, description="the ratio printed for this point")
    lead_source: Text | None = Field(default=None, description="'source: place; ...' of the lead")
    source: SourceId
    place: Text
    read: Literal["primary", "secondary"]
    also: Text | None = Field(default=None, description="'source: place; ...' that print it too")
    note: Text | None = None

    @property
    def id(self) -> str:
        """The natural key, as formulas and value ids name it."""
        parts = (self.model, self.system, self.decoding, self.metric)
        return "_".join(part for part in parts if part)


class Gap(Strict):
    """A subject beyond the benchmarks: what was said of it, and what is missing."""

    id: SourceId
    name: Text
    statement: Text
    said: tuple[Citation, ...] = ()
    missing: Text
    settles: Text


class Topic(Strict):
    """What claims are grouped by; ``settles`` and ``who`` serve claims that give none."""

    id: Id
    name: Text
    settles: Text | None = None
    who: Text | None = None


class Saying(Citation):
    """Where a claim stands: source and place, and what differs there from the claim's own."""

    voice: Text | None = Field(
        default=None, description="who speaks there, where it is not the source itself"
    )
    stands: Stands | None = Field(
        default=None, description="how near it stands to this matter, where farther than elsewhere"
    )
    printed: Text | None = Field(default=None, description="the figure there, where it differs")
    value: Words | None = Field(default=None, description="the value there, where it differs")


class Part(Strict):
    """One of several figures that a claim stands or falls with."""

    of: Annotated[str, StringConstraints(max_length=200)] = Field(
        description="what it is the figure of"
    )
    printed: Text | None = None
    exact: bool = False
    unit: Text | None = None
    formula: Text | None = None


class Claim(Strict):
    """A statement of the record, in our own words.

    Its verdict and its grade are computed by ``ledger``; there is no field to type them in.
    """

    id: Id
    topic: Id
    statement: Text
    said: Annotated[tuple[Saying, ...], Field(min_length=1)]
    printed: Text | None = Field(default=None, description="the figure exactly as it is printed")
    exact: bool = Field(default=False, description="the figure is a count or a rating")
    unit: Text | None = Field(default=None, description="of the figure, where none is printed")
    formula: Text | None = Field(default=None, description="what the figure should come to")
    reading: Text | None = Field(
        default=None, description="a formula of 'printed': what its words say when read literally"
    )
    parts: Annotated[tuple[Part, ...], Field(min_length=2)] | None = Field(
        default=None, description="several figures, instead of one: all of them must hold"
    )
    about: Id | None = Field(
        default=None, description="the subject on which other claims may say something else"
    )
    value: Words | None = Field(default=None, description="what it says of the subject, in a word")
    restates: Id | None = Field(default=None, description="the claim that this one retells")
    settles: Text | None = Field(default=None, description="what evidence would settle it")
    who: Text | None = Field(default=None, description="who could give that evidence")
    explain: Text | None = Field(default=None, description="one sentence on a verdict that puzzles")
    gap: bool = Field(default=False, description="it says that something has not been shown")

    @model_validator(mode="after")
    def _coherent(self) -> Claim:
        if self.parts and (self.printed or self.formula or self.reading or self.value):
            raise ValueError("give parts, or one figure, formula or value, not both")
        names = [part.of for part in self.parts or ()]
        if "" in names or len(set(names)) < len(names):
            raise ValueError("give each part a name of its own in 'of'")
        if self.value and not (self.about or self.restates):
            raise ValueError("a value says something about a subject: name it in about")
        if self.about and self.restates:
            raise ValueError("a claim that restates another shares its subject: drop about")
        if self.reading and not self.printed:
            raise ValueError("a reading needs a printed figure")
        if any(saying.printed for saying in self.said) and not self.printed:
            raise ValueError("a source prints another figure than the claim: give the claim's")
        if any(saying.value for saying in self.said) and not self.value:
            raise ValueError("a source says another value than the claim: give the claim's")
        return self

    @property
    def figures(self) -> tuple[Part, ...]:
        """The claim's figures: its parts, or its one figure as the only part."""
        if self.parts:
            return self.parts
        return (
            Part(
                of="",
                printed=self.printed,
                exact=self.exact,
                unit=self.unit,
                formula=self.formula,
            ),
        )
