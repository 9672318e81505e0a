"""The RO-Crate of a publication: outputs tied to their inputs, code and environment."""

from __future__ import annotations

import mimetypes
from pathlib import Path
from typing import Any

from .cite import LICENCES, authors
from .manifest import NAME as MANIFEST
from .manifest import contents, sha256
from .outputs import as_json

NAME = "ro-crate-metadata.json"
INPUTS = ("data/", "environment/")
TYPES = {".ipynb": "application/x-ipynb+json", ".yml": "application/yaml", ".md": "text/markdown"}


def text(folder: Path, version: dict, renderer: dict, cited: dict) -> str:
    """The crate's metadata for all files in ``folder``, and for the manifest to come."""
    from rocrate.rocrate import ROCrate

    crate = ROCrate(gen_preview=False)
    files = [_file(crate, name, path) for name, path in contents(folder)]
    about = {"name": "Checksums of every other file", "encodingFormat": "application/json"}
    crate.add_file(dest_path=MANIFEST, properties=about)
    people = [_entity(crate, f"#author-{number}", "Organization", name=name)
              for number, name in enumerate(authors(cited), 1)]  # fmt: skip
    _describe(crate.root_dataset, version, cited, people)
    code = _entity(
        crate, "#code", "SoftwareSourceCode", name="The report's source",
        version=version["commit"] or "unversioned", license=LICENCES["MIT"],
    )  # fmt: skip
    tool = _entity(
        crate, "#renderer", "SoftwareApplication", name=renderer["name"],
        softwareVersion=renderer["version"],
    )  # fmt: skip
    build = _entity(
        crate, "#build", "CreateAction", name="make publish", endTime=version["date"],
    )  # fmt: skip
    build["instrument"] = [code, tool]
    build["object"] = [file for file in files if file.id.startswith(INPUTS)]
    build["result"] = [file for file in files if not file.id.startswith(INPUTS)]
    crate.root_dataset["mentions"] = [build]
    return as_json(crate.metadata.generate())


def _describe(root: Any, version: dict, cited: dict, people: list) -> None:
    root["name"] = cited["title"]
    root["description"] = " ".join(cited["abstract"].split())
    root["datePublished"] = version["date"]
    root["version"] = version["commit"] or "unversioned"
    root["license"] = LICENCES["CC-BY-4.0"]
    root["author"] = people


def _file(crate: Any, name: str, path: Path) -> Any:
    content = path.read_bytes()
    kind = TYPES.get(path.suffix) or mimetypes.types_map.get(path.suffix, "text/plain")
    return crate.add_file(
        dest_path=name,
        properties={
            "name": name,
            "encodingFormat": kind,
            "contentSize": str(len(content)),
            "sha256": sha256(content),
        },
    )


def _entity(crate: Any, id: str, kind: str, **properties: Any) -> Any:
    from rocrate.model.contextentity import ContextEntity

    return crate.add(ContextEntity(crate, id, properties={"@type": kind, **properties}))
