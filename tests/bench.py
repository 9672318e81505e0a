"""Time the build beside the floor of the same run, and print the ratios; never a test.

The floor of a report is what no arrangement of our own code could save: as many kernels as
there are notebooks, with the imports they make, two at a time; one pandoc run for each format
on the text without filters; one Typst run.
It is printed twice, since the text alone lacks the tables, the ledger and the trace: once with
Typst setting the text, once with Typst setting the document as it is.

    python tests/bench.py [--setup]      --setup also times a fresh environment from the locks
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
NOTEBOOKS = sorted((ROOT / "analysis" / "notebooks").glob("*.ipynb"))


def make(folder: Path, *arguments: str) -> float:
    """Seconds that ``make`` takes in ``folder``; its output is shown if it fails."""
    environment = {key: value for key, value in os.environ.items() if not key.startswith("MAKE")}
    command = ["make", "-j2", f"PYTHON={sys.executable}", "RENDERER=embedded", *arguments]
    start = time.perf_counter()
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, env=environment)
    if done.returncode:
        sys.exit(done.stdout + done.stderr)
    return time.perf_counter() - start


def imports(notebook: Path) -> str:
    """The import lines of a notebook, and the drawing module if it draws."""
    cells = json.loads(notebook.read_text())["cells"]
    source = "\n".join("".join(cell["source"]) for cell in cells if cell["cell_type"] == "code")
    lines = [line for line in source.splitlines() if re.match(r"(from|import) ", line)]
    return "\n".join([*lines, "import evidence.charts"] if "out.figure" in source else lines)


async def kernels(codes: list[str]) -> None:
    """Start a kernel for each of ``codes``, two at a time, and run it there."""
    from jupyter_client.manager import AsyncKernelManager

    gate = asyncio.Semaphore(2)

    async def one(code: str) -> None:
        async with gate:
            manager = AsyncKernelManager(kernel_name="python3")
            environment = {**os.environ, "PYTHONPATH": str(ROOT / "analysis")}
            await manager.start_kernel(env=environment, stderr=subprocess.DEVNULL)
            client = manager.client()
            client.start_channels()
            await client.wait_for_ready(timeout=60)
            await client.execute_interactive(code, timeout=60)
            client.stop_channels()
            await manager.shutdown_kernel(now=True)

    await asyncio.gather(*(one(code) for code in codes))


def floor_kernels() -> float:
    start = time.perf_counter()
    asyncio.run(kernels([imports(notebook) for notebook in NOTEBOOKS]))
    return time.perf_counter() - start


def floor_document(folder: Path) -> float:
    """pandoc for both formats and Typst on the document's text, without our filters."""
    import pypandoc
    import typst

    text = re.sub(r"\{\{<.*?>\}\}|^:::.*$", "", "\n\n".join(
        path.read_text() for path in sorted((ROOT / "report" / "sections").glob("*.qmd"))
    ), flags=re.MULTILINE)  # fmt: skip
    text = re.sub(r"[@\[\]{}<>]", "", text)
    source = folder / "floor.md"
    source.write_text(text)
    pandoc = pypandoc.get_pandoc_path()
    start = time.perf_counter()
    for target in ("html", "typst"):
        output = folder / f"floor.{target}"
        command = [pandoc, source, "-f", "commonmark", "-t", target, "-s", "-o", output]
        subprocess.run(command, check=True)
    typst.compile(str(folder / "floor.typst"), output=str(folder / "floor.pdf"))
    return time.perf_counter() - start


def floor_typst(project: Path) -> float:
    """Typst alone on the document that was built, from the source that pandoc made of it."""
    sys.path.insert(0, str(ROOT / "report"))
    import render

    report = project / "report"
    config, build = render.read_config(report), render.read_build(report)
    lines = render.read_sources(report)
    source = project / "build" / "document.md"
    source.write_text("\n".join(line.text for line in lines) + "\n")
    options = [*render.common_options(config), *render.typst_options(config), str(source)]
    made = render.finish_pandoc(render.start_pandoc(report, options, build), source, lines)
    start = time.perf_counter()
    render.compile_pdf(report, config, made, build)
    return time.perf_counter() - start


def copy(folder: Path) -> Path:
    """The project without what was built, so that the real one is left alone."""
    target = folder / "project"
    ignored = shutil.ignore_patterns(
        ".git", ".venv*", "build", "public", "_generated", ".pytest_cache", ".ruff_cache"
    )
    shutil.copytree(ROOT, target, ignore=ignored)
    return target


def row(what: str, seconds: float, floor: float | None = None, limit: str = "") -> None:
    ratio = f"{seconds / floor:5.2f} x floor" if floor else ""
    print(f"{what:<52} {seconds:7.2f} s  {ratio:<14} {limit}", flush=True)


def bench_report(folder: Path) -> None:
    project = copy(folder)
    make(project, "build/.data-checked")
    kernel, text = floor_kernels(), floor_document(folder)
    taken = make(project, "report")
    whole = floor_typst(project)
    row(f"floor: {len(NOTEBOOKS)} kernels, pandoc twice, Typst on the text", kernel + text)
    row("make -j2 report, from clean", taken, kernel + text, "at most 2.5")
    row("floor with Typst on the whole document", kernel + text + whole)
    row("make -j2 report, from clean", taken, kernel + text + whole, "at most 2.5")
    largest = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss / 1024
    print(f"{'largest process':<52} {largest:7.0f} MB                at most 1,000")
    row("make report, nothing changed", make(project, "report"), None, "at most 0.3 s")
    gaps = project / "data" / "gaps.yml"
    gaps.write_text(gaps.read_text().replace("name: Supply", "name: Deliveries"))
    row("make report, one entry of gaps.yml changed", make(project, "report"))
    row("evidence check data, process start included", make(project, "check"), None, "at most 2 s")


def bench_setup(folder: Path) -> None:
    script = str(ROOT / "analysis" / "environment.py")
    locks = [str(ROOT / name) for name in ("requirements.txt", "requirements-dev.txt")]
    start = time.perf_counter()
    subprocess.run([sys.executable, script, "sync", str(folder / "venv"), *locks], check=True)
    row("set-up from the locks", time.perf_counter() - start, None, "at most 60 s")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--setup", action="store_true", help="time a fresh environment too")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory() as temporary:
        bench_report(Path(temporary))
        if given.setup:
            bench_setup(Path(temporary))


if __name__ == "__main__":
    main()
