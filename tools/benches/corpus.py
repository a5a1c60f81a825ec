"""The data of benchmarks that run the tool itself, the nine Silesia files one behind the other, and what the tool can run on."""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

SILESIA9 = ("dickens", "mr", "nci", "ooffice", "osdb", "reymont", "samba", "x-ray", "xml")
# The folder of the scripts; in a bundle of tools/device-bundle the tool lies there, too.
HERE = Path(__file__).resolve().parent.parent
TOOL = HERE / "hemstitch" if (HERE / "hemstitch").exists() else HERE.parent / "build" / "release" / "hemstitch"


def silesia_files(corpora):
    """Ends the program where one is missing."""
    paths = [Path(corpora) / "silesia" / name for name in SILESIA9]
    for path in paths:
        if not path.is_file():
            sys.exit(f"{Path(sys.argv[0]).name}: {path} is missing")
    return paths


def write_corpus(paths, size, target):
    """The files one behind the other, over and over, cut to a size; 0: once."""
    once = b"".join(path.read_bytes() for path in paths)
    with open(target, "wb") as file:
        for at in range(0, size or len(once), len(once)):
            file.write(memoryview(once)[:size - at] if size else once)


def usable_backends(tool, names):
    """Those of the names that are backends which run here."""
    listed = json.loads(subprocess.run([tool, "backends", "--json"], capture_output=True, text=True, check=True).stdout)
    usable = {backend["name"] for backend in listed["backends"] if backend["usable"]}
    return [name for name in names if name in usable]


def bench_rows(tool, options, file):
    """The rows of `hemstitch bench`, which writes beside the file. Ends the program where it fails."""
    command = [str(word) for word in (tool, "bench", "--json", *options, file)]
    done = subprocess.run(command, capture_output=True, text=True, check=False,
                          env={**os.environ, "TMPDIR": str(file.parent)})
    if done.returncode != 0:
        sys.exit(f"{Path(sys.argv[0]).name}: exit {done.returncode} from: {' '.join(command)}\n{done.stderr}")
    return json.loads(done.stdout)["rows"]


def memory_folder(prefix):
    """A temporary folder in memory, where that can be had, so that no disk is measured."""
    return tempfile.TemporaryDirectory(prefix=prefix, dir="/dev/shm" if os.access("/dev/shm", os.W_OK) else None)
