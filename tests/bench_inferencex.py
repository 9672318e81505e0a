"""How fast the importer is: made dump tables of 80,000 and 800,000 rows.

Run as ``python tests/bench_inferencex.py [ROWS ...]``; prints time and peak memory of the import
in a process of its own, the time of a plain pandas read of the same file, and their ratio.
"""

from __future__ import annotations

import csv
import json
import random
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SECONDS, MEGABYTES = 3.0, 500  # for 80,000 rows

MODELS = ("dsr1", "gptoss120b", "kimik2.5", "llama70b", "qwen3.5")
CHIPS = ("gb200", "gb300", "b200", "b300", "h100", "h200", "mi300x", "mi355x")
FRAMEWORKS = ("dynamo-trt", "dynamo-sglang", "dynamo-vllm", "trt", "sglang")
CONFIG = [
    "id", "hardware", "framework", "model", "precision", "spec_method", "disagg", "is_multinode",
    "prefill_tp", "prefill_ep", "prefill_dp_attention", "prefill_num_workers",
    "decode_tp", "decode_ep", "decode_dp_attention", "decode_num_workers",
    "num_prefill_gpu", "num_decode_gpu",
]  # fmt: skip
RESULT = [
    "id",
    "workflow_run_id",
    "config_id",
    "benchmark_type",
    "date",
    "isl",
    "osl",
    "conc",
    "image",
    "metrics",
    "error",
]
RUN = ["id", "github_run_id", "run_attempt", "name", "html_url", "date"]


def configs(count: int) -> list[list]:
    pick = random.Random(1)
    rows = []
    for id_ in range(1, count + 1):
        workers, tp = pick.randint(1, 14), pick.choice((2, 4, 8, 16))
        rows.append([
            id_, CHIPS[id_ % len(CHIPS)], pick.choice(FRAMEWORKS), MODELS[id_ % len(MODELS)],
            pick.choice(("fp4", "fp8")), pick.choice(("none", "mtp")), "t", "t", tp, tp, "f",
            workers, 8, 8, "t", pick.randint(1, 5), workers * tp, 8 * pick.randint(1, 5),
        ])  # fmt: skip
    return rows


def results(count: int, configs: int, runs: int):
    pick = random.Random(2)
    for id_ in range(1, count + 1):
        tpot, ttft = pick.uniform(0.003, 0.05), pick.uniform(0.2, 5)
        isl = pick.choice((8192, 1024))
        run = pick.randint(1, runs)
        yield [
            id_, run, pick.randint(1, configs), "single_turn", f"2026-0{run % 7 + 1}-11",
            isl, 1024, 2 ** pick.randint(0, 12), "image:1", json.dumps(metrics(pick, tpot, ttft)),
            "" if pick.random() < 0.97 else "timeout",
        ]  # fmt: skip


def metrics(pick: random.Random, tpot: float, ttft: float) -> dict:
    """As many numbers as the benchmark stores for a row."""
    found = {
        "tput_per_gpu": pick.uniform(100, 20000),
        "output_tput_per_gpu": pick.uniform(10, 2000),
    }
    for name, mean in (("tpot", tpot), ("itl", tpot), ("ttft", ttft), ("e2el", ttft + 921 * tpot),
                       ("intvty", 1 / tpot)):  # fmt: skip
        for statistic in ("mean", "median", "p90", "p99", "p99.9", "std"):
            found[f"{statistic}_{name}"] = (
                mean if statistic == "mean" else mean * pick.uniform(0.97, 1.03)
            )
    return found


def make_csv(folder: Path, count: int) -> Path:
    """Write the three tables of a dump with ``count`` result rows into ``folder``."""
    folder.mkdir(parents=True, exist_ok=True)
    made = configs(3000)
    address = "https://example.org/actions/runs/"
    runs = [[i, i, 1, "sweep", f"{address}{i}", "2026-05-11"] for i in range(1, 501)]
    tables = {"configs": (CONFIG, made), "workflow_runs": (RUN, runs),
              "benchmark_results": (RESULT, results(count, len(made), len(runs)))}  # fmt: skip
    for name, (header, rows) in tables.items():
        with (folder / f"{name}.csv").open("w", newline="") as file:
            writer = csv.writer(file, lineterminator="\n")
            writer.writerow(header)
            writer.writerows(rows)
    return folder


def make_sql(folder: Path) -> Path:
    """The same tables as pg_restore writes them: results stand before what they refer to."""
    path = folder / "dump.sql"
    with path.open("w") as out:
        out.write("-- PostgreSQL database dump\n\nSET client_encoding = 'UTF8';\n\n")
        for name in ("benchmark_results", "configs", "workflow_runs"):
            with (folder / f"{name}.csv").open(newline="") as file:
                reader = csv.reader(file)
                out.write(f"COPY public.{name} ({', '.join(next(reader))}) FROM stdin;\n")
                for cells in reader:
                    line = "\t".join(
                        cell.replace("\\", "\\\\") if cell else "\\N" for cell in cells
                    )
                    out.write(line + "\n")
                out.write("\\.\n\n")
    return path


def measured(setup: str, work: str) -> tuple[float, float]:
    """Seconds of ``work`` and peak megabytes, in a Python process of its own.

    Loading libraries (``setup``) is not counted in the time; it is in the memory.
    """
    code = (
        f"import resource, time\n{setup}\nstart = time.perf_counter()\n{work}\n"
        "end = time.perf_counter()\n"
        "print(end - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)"
    )
    child = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=False
    )
    if child.returncode:
        raise SystemExit(child.stderr)
    seconds, megabytes = child.stdout.split()[-2:]
    return float(seconds), float(megabytes)


def bench(counts: list[int]) -> None:
    print(
        f"{'rows':>8} {'form':>4} {'import':>9} {'memory':>9}"
        f" {'pandas':>9} {'memory':>9} {'ratio':>6}"
    )
    with tempfile.TemporaryDirectory() as scratch:
        for count in counts:
            folder = make_csv(Path(scratch) / str(count), count)
            out = Path(scratch) / "out"
            out.mkdir(exist_ok=True)
            table = folder / "benchmark_results.csv"
            plain = measured("import pandas", f"pandas.read_csv({str(table)!r})")
            for form, path in (("csv", folder), ("sql", make_sql(folder))):
                seconds, peak = measured(
                    f"import sys; sys.path.insert(0, {str(ROOT / 'analysis')!r})\n"
                    "from pathlib import Path; from evidence import data, inferencex",
                    f"inferencex.import_rows(Path({str(path)!r}), [('dsr1', 'gb300')],"
                    f" data=data.Data(), out=Path({str(out)!r}))",
                )
                print(f"{count:>8,} {form:>4} {seconds:>7.2f} s {peak:>6.0f} MB {plain[0]:>7.2f} s"
                      f" {plain[1]:>6.0f} MB {seconds / plain[0]:>6.2f}")  # fmt: skip
                if count == 80_000 and (seconds > SECONDS or peak > MEGABYTES):
                    print(f"  above the target of {SECONDS} s and {MEGABYTES} MB")


if __name__ == "__main__":
    bench([int(argument) for argument in sys.argv[1:]] or [80_000, 800_000])
