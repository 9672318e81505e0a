"""Time the ledger on synthetic claims: ``python tests/bench_ledger.py``, or ``bench()``.

Nine in ten claims carry formulas over measurements; the others restate one root with other
figures, or take sides in words on one subject. The time must grow with their number and not with
its square.
"""

from __future__ import annotations

import resource
import shutil
import sys
import tempfile
import time
from pathlib import Path

SECONDS = 10  # for 10,000 claims
MEGABYTES = 500
FIXTURE = Path(__file__).parent / "fixtures" / "example-other"


def synthetic(folder: Path, claims: int) -> Path:
    """A copy of the small example with ``claims`` synthetic ones, in files of 2,000."""
    data = folder / f"data-{claims}"
    shutil.copytree(FIXTURE, data)
    kinds = (*[_computed] * 18, _restating, _worded)
    for start in range(0, claims, 2000):
        entries = [kinds[i % 20](i) for i in range(start, min(start + 2000, claims))]
        path = data / "claims" / f"synthetic-{start}.yml"
        path.write_text("\n".join(entries), encoding="utf-8")
    return data


def _computed(i: int) -> str:
    return (
        f"computed-{i}:\n  topic: brewing\n  statement: The ratio is claimed, number {i}.\n"
        f"  said: [{{source: leaflet, place: line {i}}}]\n  printed: {1 + i % 7}.{i % 10}×\n"
        f"  formula: espresso_steamer_heat_up / espresso_classic_heat_up * {i}\n"
    )


def _restating(i: int) -> str:
    return (
        f"restating-{i}:\n  topic: brewing\n  statement: Another figure, number {i}.\n"
        f"  said: [{{source: leaflet, place: line {i}}}]\n  printed: {i} s\n"
        "  restates: heat-up-steamer\n"
    )


def _worded(i: int) -> str:
    return (
        f"worded-{i}:\n  topic: brewing\n  statement: Someone made it, number {i}.\n"
        f"  said: [{{source: leaflet, place: line {i}}}]\n  about: boiler-maker\n"
        f"  value: maker {i}\n"
    )


def measure(claims: int) -> float:
    """CPU seconds from reading ``claims`` synthetic claims to their verdicts."""
    from evidence import ledger
    from evidence.data import Data

    with tempfile.TemporaryDirectory() as folder:
        data = Data(synthetic(Path(folder), claims))
        began = time.process_time()
        assert len(ledger.build(data)) >= claims
        return time.process_time() - began


def megabytes() -> float:
    """The most memory that this process has held."""
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak / (1 << 20 if sys.platform == "darwin" else 1 << 10)


def bench() -> bool:
    """Print what 2,500, 5,000 and 10,000 claims cost; whether all limits were kept."""
    measure(100)  # imports and caches
    times = {claims: measure(claims) for claims in (2_500, 5_000, 10_000)}
    growth = times[10_000] / times[2_500]
    memory = megabytes()
    for claims, seconds in times.items():
        print(f"ledger: {claims:6,} claims in {seconds:5.2f} s of CPU")
    print(f"ledger: four times the claims cost {growth:.1f} times; {memory:.0f} MB at most")
    return times[10_000] < SECONDS and memory < MEGABYTES and growth < 6


if __name__ == "__main__":
    sys.path.insert(0, str(Path(__file__).parents[1] / "analysis"))
    sys.exit(0 if bench() else 1)
