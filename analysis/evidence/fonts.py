"""The fonts of the charts and the PDF, from their wheels, so that no machine's own are needed."""

from __future__ import annotations

import shutil
from importlib.resources import files
from pathlib import Path

# package, folder inside it: text, charts and tables, Chinese (Simplified and Traditional)
PACKAGES = (
    ("fontpkg_source_serif_4", "files"),
    ("fontpkg_ibm_plex_sans", "files"),
    ("noto_cjk_sans_otc", "."),
)


def folders() -> list[Path]:
    """The folders of the installed font packages."""
    return [Path(str(files(package))) / inside for package, inside in PACKAGES]


def copy(target: Path) -> None:
    """Copy the fonts to ``target``, where both renderers look for them."""
    target.mkdir(parents=True, exist_ok=True)
    for folder in folders():
        for font in sorted(folder.glob("*.[to]t[fc]")):
            copied = target / font.name
            if not copied.exists() or copied.stat().st_size != font.stat().st_size:
                partial = copied.with_suffix(".partial")
                shutil.copyfile(font, partial)
                partial.replace(copied)
