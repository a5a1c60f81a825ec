#!/usr/bin/env python3
"""Each call of the tool about files fails once, is interrupted, or does half of what it was asked for; see failing_calls.cpp.

  faults_test.py TOOL LIBRARY [COMMAND...]     COMMAND: a part of a name in COMMANDS; all of them unless some are given

After each run every file is what it was or what it should become, nothing else is there, a source is gone only if its output is whole,
and the exit status says whether all is done.
"""

import errno
import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

TOOL, LIBRARY = (Path(argument).resolve() for argument in sys.argv[1:3])
CHOSEN = sys.argv[3:]
TEXT = b"".join(b"line %d of some lines, each of which has %d words\n" % (i, i % 7) for i in range(150))
LARGE = b"".join(b"%d " % (i * i) for i in range(30000))
TREE = {"tree/a": TEXT, "tree/b/c": TEXT[100:], "tree/b/d": b""}
SECONDS = 30

MAKE_ROOM = {"open", "openat", "write", "pwrite", "linkat", "renameat", "renameat2", "rename", "mkdir", "mkdirat", "ftruncate",
             "posix_fallocate", "fsync", "syncfs", "close"}
MOVE = {"read", "readv", "pread", "write", "pwrite"}
# After these the same call is made again, on any file system.
ARE_REPEATED = MOVE | {"poll"}
REMOVE = {"unlink", "unlinkat"}


def kinds_of(call, is_first):
    kinds = [str(errno.EIO)]
    if call in MAKE_ROOM:
        kinds.append(str(errno.ENOSPC))
    if call in ARE_REPEATED | {"open", "openat", "fsync", "close"}:
        kinds.append(str(errno.EINTR))
    if call in MOVE:
        kinds.append("short")
    if is_first:
        kinds.append(f"{errno.ENOSPC if call in MAKE_ROOM else errno.EIO}+")
    return kinds


def made(files, *arguments):
    """The files that the tool makes of these, besides them."""
    with tempfile.TemporaryDirectory() as folder:
        write_files(Path(folder), files)
        subprocess.run([TOOL, *arguments, "-q"], cwd=folder, check=True)
        return {name: data for name, data in read_files(Path(folder)).items() if name not in files}


def write_files(folder, files):
    for name, data in files.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_bytes(data)
        os.utime(folder / name, (1_600_000_000, 1_600_000_000))


def read_files(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


class Command:
    def __init__(self, name, arguments, files, stdin=None):
        self.name, self.arguments, self.files, self.stdin = name, arguments, files, stdin

    def run(self, fault=None):
        """status, stdout, stderr, files, calls"""
        with tempfile.TemporaryDirectory() as root:
            folder, calls = Path(root) / "here", Path(root) / "calls"
            folder.mkdir()
            write_files(folder, self.files)
            environment = {**os.environ, "LD_PRELOAD": str(LIBRARY), "HEMSTITCH_CALLS": str(calls), "LC_ALL": "C",
                           "XDG_CACHE_HOME": str(folder), "HEMSTITCH_BACKEND": "cpu"}
            if fault:
                environment["HEMSTITCH_FAULT"] = fault
            try:
                done = subprocess.run([TOOL, *self.arguments], cwd=folder, env=environment, input=self.stdin or b"",
                                      capture_output=True, timeout=SECONDS, check=False)
                status, stdout, stderr = done.returncode, done.stdout, done.stderr.decode()
            except subprocess.TimeoutExpired:
                status, stdout, stderr = "no end", b"", ""
            return status, stdout, stderr, read_files(folder), calls.read_text().split()

    def complaints(self, whole, fault, seen):
        status, stdout, stderr, files, calls = seen
        _, whole_stdout, _, whole_files, _ = whole
        number, kind = int(fault.split()[0]), fault.split()[1]
        call = calls[number - 1] if number <= len(calls) else "none"
        searches = self.arguments[0] == "search"
        # These go on with the next file. What a list adds up is another number then.
        goes_on = searches or self.arguments[0] == "-l"
        lines, whole_lines = ({line for line in out.splitlines() if not line.endswith(b" files)")} for out in (stdout, whole_stdout))
        told = []
        for name, data in files.items():
            if Path(name).name.startswith(".hemstitch-"):
                if call not in REMOVE:
                    told.append(f"{name} was left")
            elif name not in self.files and name not in whole_files:
                told.append(f"{name} has come")
            elif data not in (self.files.get(name), whole_files.get(name)):
                told.append(f"{name} holds something else, {len(data)} bytes")
        for name in self.files:
            removed = name not in whole_files
            if name in files or (removed and all(files.get(made) == data for made, data in whole_files.items()
                                                 if made.startswith(name) or name.startswith(made))):
                continue
            told.append(f"{name} is lost")
        # What may not be on the disk replaces nothing.
        if "--rm" in self.arguments and call in ("fsync", "syncfs") and kind == str(errno.EIO) and not set(self.files) & set(files):
            told.append("the sources are gone")
        complete = files == whole_files and stdout == whole_stdout
        if status == 0 and not complete:
            told.append("it says that all is done, which is not so")
        elif status == 2 and not searches and (any(files.get(name) != data for name, data in whole_files.items())
                                               or stdout != whole_stdout):
            told.append("it warns, and something is not done")
        elif status not in (0, 2 if searches else 1, 2):
            told.append("it ends otherwise")
        if status in (1, 2) and not stderr.startswith("hemstitch: "):
            told.append("it does not say why")
        if not (lines <= whole_lines if goes_on else whole_stdout.startswith(stdout)):
            told.append("it prints something else")
        if (kind in ("short", "late") or (kind == str(errno.EINTR) and call in ARE_REPEATED)) and status != 0:
            told.append("it does not go on")
        return [f"{self.name}: call {number}, {call}, {kind}: {what} (exit status {status}: {stderr.strip()})" for what in told]


def commands():
    frames = made({"words": TEXT}, "words")
    large = made({"large": LARGE}, "-B64K", "large")
    tree = made(TREE, "-r", "tree")
    gzipped = made({"words": TEXT}, "--format", "gzip", "words")
    blocks = made({"words": TEXT}, "--format", "bgzf", "-o", "words.gz", "words")
    zstd = made({"words": TEXT}, "--format", "zstd", "words")
    index = made(gzipped, "index", "words.gz")
    dictionary = {"dictionary": TEXT[:2000]}
    all_kinds = {**frames, **gzipped, **zstd}
    zeros = {"zeros": bytes(200_000) + TEXT}
    return [Command(name, arguments, files, stdin) for name, arguments, files, stdin in (
        ("compress", ["words"], {"words": TEXT}, None),
        ("compress --rm", ["--rm", "words"], {"words": TEXT}, None),
        ("compress over another file", ["-f", "-o", "old", "words"], {"words": TEXT, "old": b"old"}, None),
        ("compress several blocks", ["-B64K", "--rm", "large"], {"large": LARGE}, None),
        ("compress to stdout", ["-c", "words"], {"words": TEXT}, None),
        ("compress stdin", [], {}, TEXT),
        ("compress a folder", ["-r", "--rm", "tree"], TREE, None),
        ("compress a folder again", ["-r", "--rm", "tree"], {**TREE, **tree}, None),
        ("compress into a folder", ["-r", "--output-dir", "made", "tree"], TREE, None),
        ("compress with a dictionary", ["-D", "dictionary", "words"], {"words": TEXT, **dictionary}, None),
        ("compress gzip", ["--format", "gzip", "--rm", "words"], {"words": TEXT}, None),
        ("compress bgzf", ["--format", "bgzf", "-o", "words.gz", "words"], {"words": TEXT}, None),
        ("compress zstd", ["--format", "zstd", "--rm", "words"], {"words": TEXT}, None),
        ("restore", ["-d", "words.lz4"], frames, None),
        ("restore --rm", ["-d", "--rm", "words.lz4"], frames, None),
        ("restore several blocks", ["-d", "--rm", "large.lz4"], large, None),
        ("restore holes", ["-d", "zeros.lz4"], made(zeros, "zeros"), None),
        ("restore to stdout", ["-dc", "words.zst"], zstd, None),
        ("restore stdin", ["-d"], {}, frames["words.lz4"]),
        ("restore gzip from stdin", ["-d"], {}, gzipped["words.gz"]),
        ("restore a folder", ["-d", "-r", "--rm", "tree"], tree, None),
        ("restore gzip with an index", ["-d", "--index", "-o", "words", "words.gz"], gzipped, None),
        ("test", ["-t", "words.lz4", "words.gz", "words.zst"], all_kinds, None),
        ("list", ["-l", "words.lz4", "words.gz", "words.zst"], all_kinds, None),
        ("index", ["index", "words.gz"], gzipped, None),
        ("index of bgzf", ["index", "words.gz"], blocks, None),
        ("range of gzip", ["cat", "--range", "100-3000", "words.gz"], {**gzipped, **index}, None),
        ("range of bgzf", ["cat", "--range", "100-3000", "words.gz"], blocks, None),
        ("range of lz4", ["cat", "--range", "100-3000", "large.lz4"], large, None),
        ("search", ["search", "-z", "line 7", "words", "words.lz4", "words.gz"], {"words": TEXT, **all_kinds}, None),
        ("search a folder", ["search", "-rz", "line 7", "tree"], {**TREE, **tree}, None),
        ("search stdin", ["search", "line 7"], {}, TEXT),
    ) if not CHOSEN or any(part in name for part in CHOSEN)]


def main():
    complaints, runs = [], 0
    with ThreadPoolExecutor(max_workers=os.cpu_count()) as pool:
        for command in commands():
            # One thread, so that calls have the same numbers each time.
            command.arguments = [*command.arguments, "-T1"]
            whole = command.run()
            if whole[0] != 0:
                sys.exit(f"{command.name}: exit status {whole[0]}: {whole[2]}")
            calls = whole[4]
            faults = [f"{number} {kind}" for number, call in enumerate(calls, 1) for kind in kinds_of(call, call not in calls[:number - 1])]
            for fault, seen in zip(faults, pool.map(command.run, faults)):
                complaints += command.complaints(whole, fault, seen)
            # Several threads, in any order.
            threads = Command(command.name + ", three threads", [*command.arguments[:-1], "-T3"], command.files, command.stdin)
            late = [f"{number} {kind}" for number in range(1, len(calls) + 1, 4) for kind in ("late", errno.EIO)]
            for fault, seen in zip(late, pool.map(threads.run, late)):
                complaints += threads.complaints(whole, fault, seen)
            runs += len(faults) + len(late)
    print("\n".join(complaints[:60]))
    print(f"{runs} runs, {len(complaints)} complaints")
    return 1 if complaints else 0


if __name__ == "__main__":
    sys.exit(main())
