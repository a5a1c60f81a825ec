"""Lines are appended to files while the tool compresses them: none may be lost, whatever happens to their file.

    appenders.py FILES      how many files, over all rounds

Each round makes a folder of a few files, so that each is written to often: by name, as loggers do that open a file for each
line, and through descriptors that stay open. Half of the rounds remove sources (-r --rm); in the others (-r) a second
run must not pass over an output that lacks a line.
"""

import os
import random
import re
import subprocess
import sys
import threading
import time

FILES_A_ROUND = 20
HELD_OPEN = 4
TREE = "tree"


def tool(*arguments):
    return subprocess.run(["hemstitch", *arguments], capture_output=True)


class Appender(threading.Thread):
    """Appends numbered lines to random files, until told to stop."""

    def __init__(self, paths, lines_a_second, choice):
        super().__init__()
        self.paths, self.pause, self.choice = paths, 1 / lines_a_second, choice
        self.held = {path: os.open(path, os.O_WRONLY | os.O_APPEND) for path in paths[:HELD_OPEN]}
        self.lines = []
        self.stopping = threading.Event()

    def run(self):
        while not self.stopping.is_set():
            path = self.choice.choice(self.paths)
            line = b"%s line %d\n" % (path.encode(), len(self.lines))
            if path in self.held:
                os.write(self.held[path], line)
            else:
                number = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o666)
                os.write(number, line)
                os.close(number)
            self.lines.append(line)
            time.sleep(self.pause)

    def stop(self):
        self.stopping.set()
        self.join()
        for number in self.held.values():
            os.close(number)


def lines_of(paths):
    """All lines in files and in what compressed files restore to."""
    present = [path for path in paths if os.path.exists(path)]
    compressed = [path + ".lz4" for path in paths if os.path.exists(path + ".lz4")]
    lines = set()
    for path in present:
        with open(path, "rb") as file:
            lines.update(file)
    if compressed:
        lines.update(tool("-dc", *compressed).stdout.splitlines(keepends=True))
    return lines


def play(number, lines_a_second, removing):
    choice = random.Random(number)
    os.mkdir(TREE)
    paths = [f"{TREE}/{i}" for i in range(FILES_A_ROUND)]
    first_lines = [b"%s begins %d\n" % (path.encode(), i) for path in paths for i in range(choice.randrange(1, 200))]
    for path in paths:
        with open(path, "wb") as file:
            file.writelines(line for line in first_lines if line.startswith(path.encode() + b" "))
    appender = Appender(paths, lines_a_second, choice)
    appender.start()
    tool("-r", *(["--rm"] if removing else []), TREE)
    appender.stop()
    complaints = []
    have = lines_of(paths)
    lost = [line for line in first_lines + appender.lines if line not in have]
    if lost:
        complaints.append(f"round {number}: {len(lost)} of {len(appender.lines)} lines lost, {lost[0]}")
    if not removing:
        told = re.findall(rb"hemstitch: (\S+): '\S+' exists", tool("-r", TREE).stderr)
        for path in paths:
            if path.encode() in told:
                continue
            with open(path, "rb") as file:
                if tool("-dc", path + ".lz4").stdout != file.read():
                    complaints.append(f"round {number}: {path}.lz4 is called done and is not")
    removed = sum(not os.path.exists(path) for path in paths)
    for name in os.listdir(TREE):
        os.unlink(f"{TREE}/{name}")
    os.rmdir(TREE)
    return complaints, len(appender.lines), removed


def main():
    complaints, lines, removed = [], 0, 0
    rounds = max(int(sys.argv[1]) // FILES_A_ROUND, 4)
    for number in range(rounds):
        told, appended, gone = play(number, (100, 1000)[number % 2], number // 2 % 2 == 0)
        complaints += told
        lines += appended
        removed += gone
    print("\n".join(complaints) or "no line lost")
    print(f"{rounds} rounds, {lines} lines appended, {removed} sources gone at the end", file=sys.stderr)
    if removed == 0:
        print("no source was removed, so nothing was tried")


main()
