"""The tool is killed at random moments: after each, a file or its whole output is there, and nothing else has a final name.

    kills.py COUNT      how many times

What is left goes to a second run with -r --rm, which has to come to the end: outputs alone, all of them right.
"""

import os
import random
import shutil
import subprocess
import sys
import time

TREE = "tree"
# Removal alone is short beside its syncfs(), so the most kills are there, without it.
WAYS = (
    ("-r", "--rm", "--no-sync"),
    ("-d", "-r", "--rm", "--no-sync"),
    ("-r", "--rm"),
    ("--rm", "--no-sync"),
    ("-d", "--rm", "--no-sync"),
    ("-r",),
    ("-d", "-r"),
    (),
)


def contents():
    choice = random.Random(12)
    sizes = [choice.randrange(1, 20000) for _ in range(50)] + [0, 1_000_000, 3_000_000]
    line = b"".join(b"%d lines of text\n" % i for i in range(2000))
    return {f"{i % 3}/{i}": (line * (size // len(line) + 1))[:size] for i, size in enumerate(sizes)}


def tool(*arguments):
    return subprocess.run(["hemstitch", *arguments], capture_output=True)


def write_tree(folder, files):
    for name, content in files.items():
        os.makedirs(os.path.dirname(f"{folder}/{name}"), exist_ok=True)
        with open(f"{folder}/{name}", "wb") as file:
            file.write(content)


def read_tree(folder):
    """Files by name; temporary ones by themselves."""
    files, temporaries = {}, []
    for parent, _, names in os.walk(folder):
        for name in names:
            path = os.path.join(parent, name)
            if name.startswith(".hemstitch-"):
                temporaries.append(path)
            else:
                with open(path, "rb") as file:
                    files[os.path.relpath(path, folder)] = file.read()
    return files, temporaries


def complaints_about(found, sources, outputs):
    """`outputs` has the name of each source's output and what it should hold."""
    told = []
    for name, content in sources.items():
        output, output_content = outputs[name]
        if name in found and found[name] != content:
            told.append(f"{name} was changed")
        if output in found and found[output] != output_content:
            told.append(f"{output} is not whole")
        if name not in found and output not in found:
            told.append(f"{name} is gone")
    told += [f"{name} has come" for name in found if name not in sources and name not in {o for o, _ in outputs.values()}]
    return told


def main():
    plain = contents()
    write_tree(TREE, plain)
    tool("-rq", "--rm", TREE)
    compressed, _ = read_tree(TREE)
    shutil.rmtree(TREE)
    longest = {}
    complaints, killed, undone = [], 0, 0
    number = 0
    count = int(sys.argv[1])
    # Some runs end before their moment comes.
    while killed < count and number < 3 * count + len(WAYS):
        way = WAYS[number % len(WAYS)]
        restoring = "-d" in way
        sources = compressed if restoring else plain
        outputs = {
            name: (name[:-4], plain[name[:-4]]) if restoring else (name + ".lz4", compressed[name + ".lz4"])
            for name in sources
        }
        write_tree(TREE, sources)
        time.sleep(0.02)  # what was just written would be waited for
        inputs = [TREE] if "-r" in way else [f"{TREE}/{name}" for name in sources]
        began = time.monotonic()
        process = subprocess.Popen(["hemstitch", "-q", *way, *inputs], stderr=subprocess.DEVNULL)
        try:
            process.wait(random.uniform(0, longest[way]) if way in longest else None)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
            killed += 1
        longest.setdefault(way, time.monotonic() - began)
        found, temporaries = read_tree(TREE)
        told = complaints_about(found, sources, outputs)
        undone += any(name in found for name in sources)
        for path in temporaries:
            os.unlink(path)
        end = tool("-rq", "--rm", "--no-sync", *(["-d"] if restoring else []), TREE)
        found, temporaries = read_tree(TREE)
        if end.returncode != 0 or temporaries or found != dict(outputs.values()):
            told.append(f"the second run ended with {end.returncode}: {end.stderr.decode()}")
        complaints += [f"kill {number}, {' '.join(way)}: {what}" for what in told]
        shutil.rmtree(TREE)
        number += 1
    if killed < count:
        complaints.append(f"only {killed} killed")
    print("\n".join(complaints) or "nothing lost")
    print(f"{killed} killed, {undone} with something left to do", file=sys.stderr)


main()
