"""The form of a recorded run (bench/results/*.json), for the tools that write one and the one that reads them all.

A run says what was measured, on which machine and data, at which commit, by which command, so that every figure that
is shown anywhere can be made again.
"""

import datetime
import hashlib
import json
import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
RESULTS = ROOT / "bench" / "results"
SCHEMA = 1


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout


def git_blobs(names, root=ROOT):
    """The bytes of each of these objects, by one process."""
    sent = subprocess.run(["git", "cat-file", "--batch"], cwd=root, input="\n".join(names).encode(), check=True, capture_output=True).stdout
    found, place = [], 0
    for _ in names:
        end = sent.index(b"\n", place)
        size = int(sent[place:end].split()[2])
        found.append(sent[end + 1:end + 1 + size])
        place = end + 1 + size + 1
    return found


def commit():
    """The commit that was measured; a working tree with changes says so, since its figures cannot be made again."""
    changed = git("status", "--porcelain", "--untracked-files=no").strip()
    return git("rev-parse", "--short=12", "HEAD").strip() + ("-dirty" if changed else "")


def kernels_hash():
    return subprocess.run([ROOT / "tools" / "kernels-hash"], check=True, capture_output=True, text=True).stdout.strip()


def code_hashes():
    """The hash of each area of the code (bench/sources.json)."""
    return json.loads(subprocess.run([ROOT / "tools" / "code-hash"], check=True, capture_output=True, text=True).stdout)


def cpu_name():
    """The processor's model and how many of its cores can be used here."""
    model = platform.processor() or platform.machine()
    try:
        found = re.search(r"^model name\s*:\s*(.+)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
        model = found.group(1) if found else model
    except OSError:
        pass
    return f"{model}, {len(os.sched_getaffinity(0))} cores"


def file_entry(path):
    digest = hashlib.sha256()
    with open(path, "rb") as file:
        while piece := file.read(1 << 20):
            digest.update(piece)
    return {"name": Path(path).name, "bytes": os.path.getsize(path), "sha256": digest.hexdigest()}


def built_here():
    return {"commit": commit(), "kernels": kernels_hash(), "code": code_hashes()}


def record(what, device, command, files, rows, target=None, folder=RESULTS, built=None):
    """Writes <date>-<device>-<what>.json into a folder, or the file `target`, and returns its path.

    `built` says what was measured, {"commit", "kernels", "code"} and what else should be told, where that is not this checkout.
    """
    now = datetime.datetime.now(datetime.timezone.utc)
    run = {"schema": SCHEMA, "date": now.strftime("%Y-%m-%dT%H:%M:%SZ"), "device": device, "command": command,
           **(built or built_here()), "files": files, "rows": rows}
    slug = re.sub(r"[^a-z0-9]+", "-", device.lower()).strip("-")
    path = Path(target) if target else Path(folder) / f"{now:%Y-%m-%d}-{slug}-{what}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    write(run, path)
    return path


def write(run, path):
    """The run in a file: a line for each of its entries."""
    lines = []
    for key, value in run.items():
        if isinstance(value, list):
            lines.append(f' "{key}": [\n' + ",\n".join("  " + json.dumps(entry, ensure_ascii=False) for entry in value) + "\n ]")
        elif isinstance(value, dict):
            lines.append(f' "{key}": {{\n' + ",\n".join(f"  {json.dumps(name)}: {json.dumps(entry)}" for name, entry in value.items()) + "\n }")
        else:
            lines.append(f' "{key}": {json.dumps(value, ensure_ascii=False)}')
    Path(path).write_text("{\n" + ",\n".join(lines) + "\n}\n")
