"""`python -m hemstitch ...`: the command-line tool that was installed together with this package."""

from __future__ import annotations

import importlib.metadata
import os
import shutil
import sys


def _tool() -> str | None:
    """The program that pip installed with this package, else the one that PATH finds."""
    try:
        installed = importlib.metadata.files("hemstitch") or []
    except importlib.metadata.PackageNotFoundError:
        installed = []
    for file in installed:
        # Relative to this package's folder, by the list of what was installed: ../../../bin/hemstitch.
        if file.name == "hemstitch" and file.parent.name == "bin":
            program = os.fspath(file.locate())
            if os.access(program, os.X_OK):
                return program
    return shutil.which("hemstitch")


def main() -> None:
    """Becomes the tool: it takes this process over, with its streams, signals and exit status."""
    program = _tool()
    if program is None:
        sys.exit("hemstitch: the command-line tool is not installed beside this package, and PATH has none")
    os.execv(program, ["hemstitch", *sys.argv[1:]])


if __name__ == "__main__":
    main()
