"""What people may write in data/: the pydantic models of its tables.

Whatever is not given is ``None`` and prints "not given"; nothing is guessed.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, StringConstraints


def _date(value: str) -> str:
    if not re.fullmatch(r"\d{4}(-(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?)?", value):
        raise ValueError("a date is written 2026-08-25, 2026-08 or 2026")
    return value


def _url(value: str) -> str:
    if not re.fullmatch(r"https?://[^\s<>\"'`{}\\]+", value):
        raise ValueError("a URL begins with https:// or http:// and holds no spaces or quotes")
    return value


Text = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1, max_length=2000)]
SourceId = Annotated[str, StringConstraints(pattern=r"^[a-z0-9][a-z0-9-]*$", max_length=60)]
Name = Annotated[str, StringConstraints(pattern=r"^[a-z][a-z0-9_]*$", max_length=80)]
Date = Annotated[str, AfterValidator(_date)]
Url = Annotated[str, AfterValidator(_url)]
Kind = Literal["vendor", "analyst", "press", "data", "method"]
Stands = Literal["primary", "witness", "restates"]


class Strict(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(Strict):
    """A document of the record.

    ``stands`` says how near it is to the matter: the primary document, a witness of the
    runs, or a text that restates others.
    ``read`` says whether the document itself was read or only notes on it.
    """

    id: SourceId
    publisher: Text | None = None
    title: Text | None = None
    gloss: Text | None = Field(default=None, description="our English gloss of the title")
    author: Text | None = None
    date: Date | None = None
    url: Url | None = None
    language: Literal["en", "zh-Hans", "zh-Hant"]
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
    question: Text


class Measurement(Strict):
    """A published benchmark figure, exactly as it is printed."""

    model: Name
    system: Name
    decoding: Name | None = None
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
