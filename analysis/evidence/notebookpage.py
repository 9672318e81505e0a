"""Executed notebooks as pages that load nothing and run nothing."""

from __future__ import annotations

import html
import os
import re
from functools import lru_cache
from pathlib import Path
from typing import Any

import nbformat

HEAD = """<!DOCTYPE html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; img-src data:; \
style-src 'unsafe-inline'">
<title>{title}</title>
<style>
{highlighting}
body {{ font: 16px/1.5 sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }}
.prompt, .anchor-link {{ display: none; }}
pre, .output_area {{ overflow-x: auto; }}
.highlight {{ border-left: 3px solid #999; padding: .1rem .8rem; }}
svg, img {{ max-width: 100%; height: auto; }}
table {{ border-collapse: collapse; }}
td, th {{ padding: .2rem .6rem; border-bottom: 1px solid #ccc; text-align: left; }}
</style>
</head>
<body>
<nav><a href="../index.html">The report</a> · <a href="{file}">{file}</a></nav>
<main>
"""


def page(notebook: Path) -> str:
    """The notebook ``notebook``, executed, as one HTML page."""
    from pygments.formatters import HtmlFormatter

    executed = nbformat.read(notebook, as_version=4)
    _tell_apart(executed)
    body, _ = _exporter().from_notebook_node(executed)
    head = HEAD.format(
        title=html.escape(notebook.stem),
        file=html.escape(notebook.name),
        highlighting=HtmlFormatter().get_style_defs(".highlight"),
    )
    return f"{head}{body.strip()}\n</main>\n</body>\n</html>\n"


@lru_cache(maxsize=1)
def _exporter() -> Any:
    """One for all notebooks: it compiles its templates once."""
    # a template of the same name in the user's own folders must not stand in for this one
    os.environ["JUPYTER_PREFER_ENV_PATH"] = "1"
    from nbconvert import HTMLExporter

    return HTMLExporter(template_name="basic")


def _tell_apart(notebook: nbformat.NotebookNode) -> None:
    """Give the names inside each picture a prefix: two pictures of a page share none."""
    for number, cell in enumerate(notebook.cells):
        for output in cell.get("outputs", []):
            svg = output.get("data", {}).get("image/svg+xml")
            if svg:
                output.data["image/svg+xml"] = re.sub(
                    r'(\sid="|url\(#|href="#)', rf"\g<1>cell{number}-", svg
                )
