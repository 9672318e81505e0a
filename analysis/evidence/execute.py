"""Run one notebook from start to end, and leave it executed beside the report.

The notebook in git is never written. The executed copy holds nothing that depends on the
machine or the moment; beside it stands a list of the files the notebook read, for make.
"""

from __future__ import annotations

import json
import os
import random
import socket
import sys
import tempfile
from pathlib import Path

import nbformat
from nbclient import NotebookClient
from nbclient.exceptions import CellExecutionError, DeadKernelError

from .errors import InputError, printable, run
from .paths import DEPENDENCIES, EXECUTED, ROOT, generated, shown, write_atomically

SECONDS = 120  # for one cell; a cell that takes longer is broken


PORT_NAMES = ("shell_port", "iopub_port", "stdin_port", "hb_port", "control_port")
# below the ports that systems hand out themselves: those may be taken by another kernel's
# connection between being found free and being used
PORTS = range(15_000, 30_000)


def free_ports(count: int) -> list[int]:
    """Ports of the loopback that are free now, drawn at random so that two runs draw others."""
    found: list[int] = []
    for port in random.SystemRandom().sample(PORTS, len(PORTS)):
        with socket.socket() as probe:
            try:
                probe.bind(("127.0.0.1", port))
            except OSError:
                continue
        found.append(port)
        if len(found) == count:
            break
    return found


class Client(NotebookClient):
    """Tells the kernel which cell is running, so that a value knows the cell it comes from."""

    def create_kernel_manager(self):
        manager = super().create_kernel_manager()
        manager.cache_ports = False  # else it looks for other ports itself
        for name, port in zip(PORT_NAMES, free_ports(len(PORT_NAMES)), strict=True):
            setattr(manager, name, port)
        return manager

    async def _async_cleanup_kernel(self) -> None:
        if self.km is not None:  # a kernel that died has been cleaned up, and is so once more
            await super()._async_cleanup_kernel()

    running = ""  # the id of the cell that was begun last

    async def async_execute_cell(self, cell, cell_index, **options):
        self.running = cell.id
        if cell.cell_type == "code":
            self.kc.execute(
                f"import os; os.environ['EVIDENCE_CELL'] = {cell.id!r}",
                silent=True,
                store_history=False,
            )
        return await super().async_execute_cell(cell, cell_index, **options)


def execute(path: Path, executed: Path, depfile: Path) -> None:
    """Run the notebook ``path``; write ``depfile`` and, last, the notebook ``executed``.

    Raises ``InputError`` with the cell and its error if a cell raises, and if the notebook
    saves nothing: what an earlier run left must not pass for this one's.
    """
    notebook = _read(path)
    part = generated() / "parts" / f"{path.stem}.json"
    before = _written(part)
    with tempfile.TemporaryDirectory() as home:
        client = Client(
            notebook,
            timeout=SECONDS,
            kernel_name="python3",
            record_timing=False,
            shutdown_kernel="immediate",
            resources={"metadata": {"path": str(ROOT)}},
            extra_arguments=[
                "--HistoryManager.enabled=False",
                "--InteractiveShell.colors=nocolor",
                "--IPKernelApp.log_level=40",  # the warning on TCP without encryption: loopback
            ],
        )
        try:
            client.execute(env=_environment(home, path.stem))
        except CellExecutionError as error:
            raise _raised(path, notebook, error) from None
        except (DeadKernelError, TimeoutError) as error:
            dead = isinstance(error, DeadKernelError)
            raise InputError(
                "the kernel died" if dead else f"the cell took over {SECONDS} s",
                file=shown(path),
                field=f"cell {client.running}",
                mend="run the notebook by hand to see why",
            ) from None
    if _written(part) == before:
        raise InputError(
            "the notebook saved nothing",
            file=shown(path),
            mend=f'make it with outputs.Outputs("{path.stem}") and end it with out.save()',
        )
    record = json.loads(part.read_text(encoding="utf-8"))
    emitted = [shown(part), *(shown(generated() / name) for name in record["files"])]
    write_atomically(depfile.with_suffix(".files"), "\n".join(emitted) + "\n")
    write_atomically(depfile, _dependencies(executed, record["reads"]))
    write_atomically(executed, nbformat.writes(_clean(notebook)) + "\n")


def _written(part: Path) -> int | None:
    """When ``part`` was written, in nanoseconds; None if it is not there."""
    return part.stat().st_mtime_ns if part.exists() else None


def _read(path: Path) -> nbformat.NotebookNode:
    try:
        notebook = nbformat.read(path, as_version=4)
    except (OSError, ValueError, nbformat.reader.NotJSONError) as error:
        raise InputError(
            f"this is not a notebook ({type(error).__name__})",
            file=shown(path),
            mend="restore it from git",
        ) from None
    for cell in notebook.cells:
        if cell.get("outputs") or cell.get("execution_count"):
            raise InputError(
                "the notebook carries outputs",
                file=shown(path),
                field=f"cell {cell.get('id', '?')}",
                mend="strip them: nbstripout and the file's name",
            )
    return notebook


def _environment(home: str, notebook: str) -> dict[str, str]:
    """The kernel's environment: the package, and none of the user's Jupyter or IPython settings."""
    own = {
        "PYTHONPATH": str(ROOT / "analysis"),
        "PYTHONHASHSEED": "0",
        "IPYTHONDIR": home,
        "JUPYTER_CONFIG_DIR": home,
        "JUPYTER_DATA_DIR": home,
        "JUPYTER_RUNTIME_DIR": home,
        "EVIDENCE_OUT": str(generated()),
        "EVIDENCE_NOTEBOOK": notebook,
        "TZ": "UTC",
        "LC_ALL": "C.UTF-8",
    }
    return {**os.environ, **own}


def _raised(path: Path, notebook: nbformat.NotebookNode, error: CellExecutionError) -> InputError:
    """The cell and its own error; the runner's stack tells a reader nothing."""
    failed = next(
        (
            cell
            for cell in notebook.cells
            for output in cell.get("outputs", [])
            if output.output_type == "error"
        ),
        None,
    )
    place = {"file": shown(path), "field": f"cell {failed.id}" if failed else None}
    if error.ename == InputError.__name__:
        found, _, mend = error.evalue.partition(". To mend it: ")
        return InputError(found, mend=mend, **place)
    return InputError(
        printable(f"{error.ename}: {error.evalue}"),
        mend="mend what the error names, in this cell or in the data it reads",
        detail="\n".join(f"    {line}" for line in failed.source.splitlines()) if failed else "",
        **place,
    )


def _clean(notebook: nbformat.NotebookNode) -> nbformat.NotebookNode:
    """Without what differs from one machine or run to the next."""
    notebook.metadata.get("language_info", {}).pop("version", None)
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
    return notebook


def _dependencies(target: Path, reads: list[str]) -> str:
    """A make rule; the empty rules keep make going when a file has been removed."""
    lines = [f"{shown(target)}: {' '.join(reads)}", *(f"{name}:" for name in reads)]
    return "\n".join(lines) + "\n"


def main(arguments: list[str]) -> None:
    """``NOTEBOOK.ipynb``: run it into build/notebooks, its dependencies into build/deps."""
    for argument in arguments:
        path = Path(argument)
        execute(path, EXECUTED / path.name, DEPENDENCIES / f"{path.stem}.d")


if __name__ == "__main__":
    run(lambda: main(sys.argv[1:]))
