#!/usr/bin/env python3
"""A file of 10 GB through `cpu`, `cuda` and all devices and back, with faults injected, beside a second process, and killed at random
moments. In a bundle of tools/device-bundle it lies as large_files_device_bench, beside the tool: ./device-run --only large_files benches

  large_files.py [--tool FILE] [--fake FILE] [--bytes SIZE] [--kills N] [--seconds N] CORPORA

The data is nine Silesia files one behind the other, over and over, in memory (/dev/shm where it exists): at most three files of SIZE
are there at once. --fake is the tool of the tests, whose backend `fake` does the work by `cuda` and fails as it is told
(HEMSTITCH_FAKE). Prints a row a check. Exit 1: one went wrong, and a row says what. What has no time left is told on stderr.
"""

import argparse
import json
import os
import random
import subprocess
import sys
import time
from pathlib import Path

from benches.corpus import HERE, TOOL, memory_folder, silesia_files, usable_backends, write_corpus

DEFAULT_BYTES = 10 * 1000 ** 3
FAKE = HERE / "hemstitch-fake"
# Faults at calls of the engine, early, in the middle and one behind the other; a lost device; bytes that --verify finds.
FAULTS = (("fail=2 fail=60 oom=40", ()), ("lost=50", ()), ("wrong=3 wrong=47", ("--verify",)))


class Checks:
    def __init__(self, seconds):
        self.deadline, self.failed, self.longest = time.monotonic() + seconds, False, 0.0

    def run(self, what, check, size):
        """`check` returns what went wrong, or nothing."""
        start = time.monotonic()
        if start + self.longest > self.deadline:
            print(f"large_files: no time left for: {what}", file=sys.stderr)
            return
        wrong = check()
        seconds = time.monotonic() - start
        self.longest = max(self.longest, seconds)
        self.failed |= bool(wrong)
        print(json.dumps({"what": what, "backend": "cuda", "file": "corpus", "bytes": size, "seconds": round(seconds, 3),
                          "verified": not wrong} | ({"wrong": wrong} if wrong else {})), flush=True)


def differ(one, other):
    return subprocess.run(["cmp", "--quiet", one, other], check=False).returncode != 0


def call(tool, words, **environment):
    return subprocess.run([str(word) for word in (tool, *words)], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                          stderr=subprocess.PIPE, text=True, check=False, env={**os.environ, **environment})


def there_and_back(folder, original, compress, restore, told=None):
    """Each is (tool, words, environment). Whether a line on stderr must tell of faults in compressing, or must not."""
    compressed, restored = folder / "compressed", folder / "restored"
    wrong = None
    for way, (tool, words, environment), source, target in (([], compress, original, compressed),
                                                            (["-d"], restore, compressed, restored)):
        done = call(tool, [*way, *words, source, "-o", target, "-f"], **environment)
        if done.returncode != 0:
            wrong = f"exit {done.returncode}: {done.stderr.strip()[:300]}"
        elif told is not None and bool(done.stderr.strip()) != told and source == original:
            wrong = f"stderr: '{done.stderr.strip()[:300]}'"
        if wrong:
            break
    if not wrong and differ(original, restored):
        wrong = "the restored file differs"
    restored.unlink(missing_ok=True)
    return wrong


def two_processes(tool, backend, folder, original):
    targets = [folder / "one", folder / "two"]
    running = [subprocess.Popen([tool, "-q", "--backend", backend, original, "-o", target]) for target in targets]
    statuses = [process.wait() for process in running]
    wrong = f"exits {statuses}" if any(statuses) else "the two outputs differ" if differ(*targets) else None
    if not wrong and call(tool, ["-tq", "--backend", backend, *targets]).returncode != 0:
        wrong = "-t refuses an output"
    for target in targets:
        target.unlink(missing_ok=True)
    return wrong


def killed(tool, backend, folder, original, count, longest):
    """No output, whole or in part, has the final name, and the source is as it was. What has a temporary name is removed here."""
    target, choice, early = folder / "killed.lz4", random.Random(3), 0
    before = original.stat()
    for _ in range(count):
        process = subprocess.Popen([tool, "-q", "--backend", backend, original, "-o", target], stderr=subprocess.DEVNULL)
        time.sleep(choice.uniform(0, longest))
        early += process.poll() is None
        process.kill()
        status = process.wait()
        if status != 0 and target.exists():
            return "a killed run left an output under its final name"
        target.unlink(missing_ok=True)
    if early == 0:
        return "no run was killed before its end"
    now = original.stat()
    if (now.st_size, now.st_mtime_ns) != (before.st_size, before.st_mtime_ns):
        return "the source was changed"
    for temporary in folder.glob(".hemstitch-*"):
        temporary.unlink()
    done = call(tool, ["-q", "--backend", backend, original, "-o", target])
    wrong = f"exit {done.returncode} after the kills" if done.returncode != 0 else None
    if not wrong and call(tool, ["-tq", "--backend", backend, target]).returncode != 0:
        wrong = "-t refuses what was written after the kills"
    target.unlink(missing_ok=True)
    return wrong


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", metavar="CORPORA")
    parser.add_argument("--tool", type=Path, default=TOOL, metavar="FILE")
    parser.add_argument("--fake", type=Path, default=FAKE, metavar="FILE")
    parser.add_argument("--bytes", type=int, default=DEFAULT_BYTES, metavar="SIZE")
    parser.add_argument("--kills", type=int, default=8, metavar="N")
    parser.add_argument("--seconds", type=float, default=210, metavar="N")
    parser.add_argument("--backend", default="cuda", help="instead of cuda: cpu, to try this where there is no GPU")
    arguments = parser.parse_args()
    tool, backend, size = arguments.tool, arguments.backend, arguments.bytes
    if not usable_backends(tool, [backend]):
        sys.exit(f"large_files: {backend} is not usable here")
    checks = Checks(arguments.seconds)
    with memory_folder("hemstitch-large-") as name:
        folder = Path(name)
        original = folder / "original"
        write_corpus(silesia_files(arguments.corpora), size, original)

        def by(backend, *words):
            return tool, ["-q", "--backend", backend, *words], {}

        def by_fake(plan, *words):
            return arguments.fake, ["--backend", "fake", *words], {"HEMSTITCH_FAKE": f"inner={backend} {plan}"}

        start = time.monotonic()
        checks.run(f"{backend} there, cpu back", lambda: there_and_back(folder, original, by(backend), by("cpu")), size)
        longest = (time.monotonic() - start) / 3
        checks.run(f"cpu there, {backend} back", lambda: there_and_back(folder, original, by("cpu"), by(backend)), size)
        if backend != "cpu":
            checks.run("all devices, there and back", lambda: there_and_back(
                folder, original, by(backend, "--device", "all"), by(backend, "--device", "all")), size)
        for plan, words in FAULTS:
            checks.run(f"with faults: {plan}", lambda plan=plan, words=words: there_and_back(
                folder, original, by_fake(plan, *words), by_fake(plan) if not words else by(backend), told=True), size)
        checks.run("two processes at once", lambda: two_processes(tool, backend, folder, original), size)
        checks.run(f"killed {arguments.kills} times", lambda: killed(tool, backend, folder, original, arguments.kills, longest), size)
    sys.exit(1 if checks.failed else 0)


if __name__ == "__main__":
    main()
