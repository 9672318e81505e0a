"""Figures of two versions side by side, with a picture of what differs between them."""

from __future__ import annotations

import html
import io
from collections.abc import Mapping
from pathlib import Path

from .paths import write_atomically

PAGE = """<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>Figures that changed</title>
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src 'self'; \
style-src 'unsafe-inline'">
<style>body{font:16px sans-serif;margin:1rem}div{display:flex;gap:1rem;flex-wrap:wrap}
figure{margin:0;flex:1 1 20rem}img{max-width:100%;border:1px solid #ccc}</style></head>
<body><h1>Figures that changed</h1>
"""


def write(folder: Path, old: Mapping[str, str], new: Mapping[str, str], ids: list[str]) -> None:
    """Write each figure of ``ids`` as old, new and difference PNG, and one page with them all.

    A figure that only one version has gets no difference.
    """
    page = [PAGE]
    for id in ids:
        pictures = {"old": _png(old.get(id)), "new": _png(new.get(id))}
        pictures["difference"] = difference(pictures["old"], pictures["new"])
        page.append(f"<h2>{html.escape(id)}</h2>\n<div>\n")
        for name, png in pictures.items():
            if png is not None:
                file = f"{id}.{name}.png"
                write_atomically(folder / file, png)
                page.append(
                    f'<figure><img src="{html.escape(file)}" alt="{html.escape(id)}, {name}">'
                    f"<figcaption>{name}</figcaption></figure>\n"
                )
        page.append("</div>\n")
    write_atomically(folder / "index.html", "".join(page) + "</body></html>\n")


def _png(svg: str | None) -> bytes | None:
    """The figure as pixels; None where there is none or it cannot be drawn."""
    if svg is None:
        return None
    import vl_convert

    from . import assets

    for folder in assets.folders():
        vl_convert.register_font_directory(str(folder))
    try:
        return vl_convert.svg_to_png(svg)
    except ValueError:
        return None


def difference(old: bytes | None, new: bytes | None) -> bytes | None:
    """Pixels that differ in red on the new picture in pale grey; None unless both are given."""
    if old is None or new is None:
        return None
    from PIL import Image, ImageChops

    pictures = [Image.open(io.BytesIO(png)).convert("RGBA") for png in (old, new)]
    size = tuple(max(sides) for sides in zip(*(picture.size for picture in pictures), strict=True))
    before, after = (_on_white(picture, size) for picture in pictures)
    changed = ImageChops.difference(before, after).convert("L").point(lambda v: 255 * (v > 8))
    pale = after.convert("L").point(lambda v: 170 + v // 3).convert("RGB")
    pale.paste((200, 0, 30), mask=changed)
    written = io.BytesIO()
    pale.save(written, "PNG")
    return written.getvalue()


def _on_white(picture, size: tuple[int, int]):
    from PIL import Image

    canvas = Image.new("RGB", size, "white")
    canvas.paste(picture, mask=picture)
    return canvas
