"""Put together what the notebooks left: values.json, the bibliography, the fonts, the version.

The only step that sees every notebook's values, so the one that refuses an id emitted twice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

import vl_convert

from . import fonts
from .data import Data
from .errors import InputError, run, shown
from .model import Source
from .outputs import as_json
from .paths import generated, write_atomically

KINDS = {"vendor": "webpage", "analyst": "article-newspaper", "press": "article-newspaper",
         "data": "dataset", "method": "software"}  # fmt: skip
LANGUAGES = {"en": "en-GB", "zh-Hans": "zh-CN", "zh-Hant": "zh-TW"}


def values(notebooks: Sequence[str]) -> dict[str, dict]:
    """All values by id; raises ``InputError`` if two notebooks emit one."""
    merged: dict[str, dict] = {}
    for notebook in notebooks:
        part = json.loads((generated() / "parts" / f"{notebook}.json").read_text())
        for id, value in part["values"].items():
            if id in merged:
                raise InputError(
                    f"the value {shown(id)} is emitted by {merged[id]['notebook']} too",
                    file=f"analysis/notebooks/{notebook}.ipynb",
                    field=value["cell"],
                    mend="let one notebook emit it and the other take another id",
                )
            merged[id] = value
    return merged


def reference(source: Source) -> dict:
    """A source as a CSL JSON item; what is not given is left out."""
    title = source.title or "[title not given]"
    if source.gloss:
        title = f"{title} [{source.gloss}]"
    item: dict = {
        "id": source.id,
        "type": KINDS[source.kind],
        "title": title,
        "language": LANGUAGES[source.language],
    }
    who = source.author or source.publisher or source.called
    item["author"] = [{"literal": who[0].upper() + who[1:] if who else "Not given"}]
    if source.publisher and source.author:
        item["publisher"] = source.publisher
    if source.date:
        item["issued"] = {"date-parts": [[int(part) for part in source.date.split("-")]]}
    if source.url:
        item["URL"] = source.url
    return item


def assemble(notebooks: Sequence[str], data: Data) -> None:
    """Write values.json, references.json and the fonts into the generated folder."""
    folder = generated()
    fonts.copy(folder / "fonts")
    write_atomically(folder / "vega-bundle.js", vl_convert.javascript_bundle())
    references = [reference(source) for source in data.sources.values()]
    write_atomically(folder / "references.json", as_json(references))
    write_atomically(folder / "values.json", as_json(values(notebooks)))


if __name__ == "__main__":
    run(lambda: assemble(sys.argv[1:], Data()))
