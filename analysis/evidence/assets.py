"""What the report takes from installed packages: fonts, so that no machine's own are needed,
and the Vega libraries for the page, so that it loads nothing from elsewhere.

    python -m evidence.assets
"""

from __future__ import annotations

import base64
import gzip
from importlib import metadata
from importlib.resources import files
from pathlib import Path

from .errors import run
from .paths import CACHE, generated, write_atomically

# package, folder inside it: text, charts and tables, Chinese (Simplified and Traditional)
PACKAGES = (
    ("fontpkg_source_serif_4", "files"),
    ("fontpkg_ibm_plex_sans", "files"),
    ("noto_cjk_sans_otc", "."),
)


def folders() -> list[Path]:
    """The folders of the installed font packages."""
    return [Path(str(files(package))) / inside for package, inside in PACKAGES]


def copy_fonts(target: Path) -> None:
    """Copy the fonts to ``target``, where both renderers look for them."""
    target.mkdir(parents=True, exist_ok=True)
    for folder in folders():
        for font in sorted(folder.glob("*.[to]t[fc]")):
            copied = target / font.name
            if not copied.exists() or copied.stat().st_size != font.stat().st_size:
                write_atomically(copied, font.read_bytes())


def bundle() -> str:
    """Vega, Vega-Lite, vega-embed and their interpreter as one script.

    Bundling takes seconds and depends on nothing but the version of vl-convert, so it is done
    once and kept in ``CACHE``, which ``make clean`` leaves alone.
    """
    kept = CACHE / f"vega-bundle-{metadata.version('vl-convert-python')}.js"
    if not kept.exists():
        import vl_convert

        write_atomically(kept, vl_convert.javascript_bundle())
    return kept.read_text(encoding="utf-8")


def packed(script: str) -> str:
    """``script`` gzipped, as base64: much lighter, and the same bytes every time."""
    return base64.b64encode(gzip.compress(script.encode(), mtime=0)).decode()


def main() -> None:
    copy_fonts(generated() / "fonts")
    write_atomically(generated() / "vega-bundle.b64", packed(bundle()))


if __name__ == "__main__":
    run(main)
