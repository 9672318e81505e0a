"""Time the page in a browser beside an empty page with the same libraries; never a test.

Both are opened from a file. ``interactive`` is the mark that the page's script sets when
controls and numbers answer; ``drawn`` is the time from a control's change to the next frame
after its chart is drawn. Printed as milliseconds and as ratios to the empty page.

    python tests/bench_page.py [--rounds 5]
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import tempfile
from pathlib import Path

from evidence import assets
from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "build" / "report" / "index.html"

# the page's own clock: from the start of the navigation to its mark
INTERACTIVE = "performance.getEntriesByName('interactive')[0].startTime"
DRAWN = """([id, value]) => new Promise(done => {
  const control = document.getElementById(id), start = performance.now();
  const chart = control.closest('figure').querySelector('.chart-live');
  new MutationObserver((changes, watch) => {
    watch.disconnect();
    requestAnimationFrame(() => setTimeout(() => done(performance.now() - start)));
  }).observe(chart, { subtree: true, childList: true, attributes: true, characterData: true });
  setTimeout(() => done(NaN), 3000);  // nothing changed
  control.value = value;
  control.dispatchEvent(new Event('input', { bubbles: true }));
})"""
# a control of each view and values that each change the picture
CHANGES = {
    "ask-power": ("theirs", ["inferencex", "rating", "deck"]),
    "ask-baseline": ("base", ["b200-stp", "mi355x-stp", "stp"]),
    "ask-speed": ("percent", ["70", "40", "90"]),
    "ask-agents": ("steps", ["50", "3", "20"]),
    "ask-length": ("tokens", ["700", "1000", "300"]),
}


def empty_page(folder: Path) -> Path:
    """A page with nothing but the libraries and the same mark."""
    page = folder / "empty.html"
    script = f"(function () {{\n{assets.bundle()}\n;performance.mark('interactive');\n}})();"
    script = script.replace("</script", "<\\/script")
    page.write_text(f"<!DOCTYPE html><meta charset=utf-8><title>-</title><script>{script}</script>")
    return page


def interactive(browser, page: Path, rounds: int) -> float:
    times = []
    for _ in range(rounds):
        tab = browser.new_page(viewport={"width": 1280, "height": 900})
        tab.goto(page.as_uri())
        times.append(tab.evaluate(INTERACTIVE))
        tab.close()
    return statistics.median(times)


def drawn(browser) -> dict[str, float]:
    tab = browser.new_page(viewport={"width": 1280, "height": 900})
    tab.goto(PAGE.as_uri())
    found = {}
    for view, (name, values) in CHANGES.items():
        tab.locator(f"#{view}").scroll_into_view_if_needed()
        tab.wait_for_function(
            "id => document.getElementById(id).nextElementSibling.textContent", arg=view
        )
        times = [tab.evaluate(DRAWN, [f"control-{view}-{name}", value]) for value in values]
        found[view] = statistics.median(times)
    tab.close()
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--rounds", type=int, default=5)
    given = parser.parse_args()
    chromium = shutil.which("chromium") or "/usr/bin/chromium"
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox"])
        empty = empty_page(Path(folder))
        floor = interactive(browser, empty, given.rounds)
        whole = interactive(browser, PAGE, given.rounds)
        print(f"page interactive      {whole:6.0f} ms  {whole / floor:5.2f} × an empty page with the same libraries ({floor:.0f} ms)")  # fmt: skip
        for view, time in drawn(browser).items():
            print(f"drawn: {view:14} {time:6.0f} ms  {time / 100:5.2f} × 100 ms")
        browser.close()


if __name__ == "__main__":
    main()
