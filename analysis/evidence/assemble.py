"""Put together what the notebooks left: values.json and the bibliography.

The only step that sees every notebook's values, so the one that refuses an id emitted twice.
"""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence

from .data import Data
from .errors import InputError, run, shown
from .model import Source
from .outputs import as_json
from .paths import generated, write_atomically
from .paths import shown as shown_path

KINDS = {"vendor": "webpage", "analyst": "article-newspaper", "press": "article-newspaper",
         "data": "dataset", "method": "software"}  # fmt: skip
LANGUAGES = {"en": "en-GB", "zh-Hans": "zh-CN", "zh-Hant": "zh-TW"}


def values(notebooks: Sequence[str]) -> dict[str, dict]:
    """All values by id; raises ``InputError`` if two notebooks emit one."""
    merged: dict[str, dict] = {}
    for notebook in notebooks:
        part = _part(notebook)
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


def forget(notebooks: Sequence[str]) -> None:
    """Remove what notebooks emitted that are there no more."""
    for part in sorted((generated() / "parts").glob("*.json")):
        if part.stem not in notebooks:
            for name in _part(part.stem)["files"]:
                (generated() / name).unlink(missing_ok=True)
            part.unlink()


def _part(notebook: str) -> dict:
    path = generated() / "parts" / f"{notebook}.json"
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError):
        raise InputError(
            f"what {notebook}.ipynb emitted is not there",
            file=shown_path(path),
            mend="run make report",
        ) from None


def reference(source: Source) -> dict:
    """A source as a CSL JSON item; what is not given is left out."""
    title = source.title or "[title not given]"
    if source.gloss:
        title = f"{title} [{source.gloss}]"
    item: dict = {
        "id": source.id,
        "type": KINDS[source.kind],
        # a citation style must not change the letters of a name
        "title": f'<span class="nocase">{title}</span>',
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
    """Write values.json and references.json into the generated folder."""
    folder = generated()
    forget(notebooks)
    references = [reference(source) for source in data.sources.values()]
    write_atomically(folder / "references.json", as_json(references))
    write_atomically(folder / "values.json", as_json(values(notebooks)))


if __name__ == "__main__":
    run(lambda: assemble(sys.argv[1:], Data()))
