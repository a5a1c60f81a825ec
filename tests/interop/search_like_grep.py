#!/usr/bin/env python3
"""hemstitch search against GNU grep -F in random command lines over all options.

    search_like_grep.py HEMSTITCH [SEED]

Files and trees are made at random, and searched by both, in the C locale: stdout, stderr and the exit status must be equal.
Some of the files are searched compressed (-z), in little memory (--memory), so that lines cross from one piece to the next, or
on another backend. A failure is printed with what repeats it. HEMSTITCH_SEARCH_COMMANDS says how many command lines; if unset
600, and 200 where HEMSTITCH_SANITIZE is set. Exit 77: skipped, since there is no GNU grep 3.8 or later.
"""

import os
import random
import re
import shlex
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

COMMANDS_IN_A_TREE = 40
MOST_DIFFERENCES = 20  # that are shown
WORDS = [b"foo", b"bar", b"Foo", b"foobar", b"barfoo", b"foo_", b"o", b"oo", b"x", b"foo-bar", b"a.b", b"..", b" ",
         b"\t", b"-", b"\xe1\xc1", b"\x80", b"9", b"the", b"The", b"THE", b"ab", b"abab"]
PATTERNS = [b"foo", b"bar", b"FOO", b"foobar", b"o", b"oo", b"fo", b"x", b"foo bar", b"foo-bar", b".", b"..", b" ",
            b"-", b"-x", b"", b"the", b"THE ", b"ab", b"aba", b"abab", b"\xe1", b"\x80", b"9", b"not there",
            b"foo\nbar", b"o\n", b"foo_", b"_", b"the foo", b"x\nxx\nfoo", b"\r", b"foo\r"]
NAMES = ["a", "b.c", "c.h", "d.txt", ".hidden", "e f", "[g]", "h.c", "-i"]
FOLDERS = ["sub", "lib", ".git", "x y", "b.c.d"]
GLOBS = ["*", "*.c", "*.h", "?", "a", "*.txt", ".*", "[a-e]*", "sub", "*/a", "sub/*", "\\a", "x*", "*.d", ".git",
         "t", "t/*", "[[]g]"]
GREP_COLORS = ["sl=1:cx=2", "sl=1:cx=2:rv", "mt=4", "ms=4:mc=5", "ne", "fn=:ln=:se=", "mt=", "mt=:sl=7", "ms=4;x",
               "bn=9:sl=1x:mc=5", "sl=3:ne:rv", "mc=", "cx=2:mt=5", "mt=7:=4:ms=1", "=;:ne:se=2", "ms=4:mt", ":xx=1::mt=5:"]


def some(rng, choices, most=3):
    return [rng.choice(choices) for _ in range(rng.randint(1, most))]


def random_line(rng):
    kind = rng.random()
    if kind < 0.15:
        return b""
    if kind < 0.3:
        return rng.choice(WORDS)
    separator = rng.choice([b" ", b" ", b"", b"-", b"."])
    return separator.join(some(rng, WORDS, 8))


def random_content(rng):
    kind = rng.random()
    if kind < 0.06:
        return b""
    if kind < 0.5:
        lines = rng.randint(1, 40)
    elif kind < 0.8:
        lines = rng.randint(100, 2000)
    else:
        lines = rng.randint(8000, 30000)  # more than grep's first buffer, and pieces
    end = rng.choice([b"\n", b"\n", b"\n", b"\r\n"])
    few = [random_line(rng) for _ in range(min(lines, 200))]
    rare = rng.random() < 0.5
    common = [line for line in few if b"foo" not in line and b"x" not in line] or [b"nothing"]
    content = end.join(rng.choice(few if not rare or rng.random() < 0.01 else common) for _ in range(lines))
    if rng.random() < 0.8:
        content += end
    if rng.random() < 0.35:  # binary
        zeros = bytearray(content)
        for _ in range(rng.choice([1, 1, 2, 5, 50])):
            place = rng.randrange(len(zeros) + 1) if rng.random() < 0.7 else min(len(zeros), rng.randrange(95000, 200000))
            zeros[place:place] = bytes(rng.choice([1, 1, 1, 3]))
        content = bytes(zeros)
    return content


class Tree:
    def __init__(self, rng, root, hemstitch):
        self.plain, self.packed = root / "plain" / "here", root / "packed" / "here"
        self.files, self.folders = [], []
        self.fill(rng, self.plain / "t", Path("t"), 0)
        # By itself, and binary from the beginning if at all: the buffer that grep makes for a long line stays for the files
        # behind, and where it begins in memory decides what is read at once.
        long = b"\n".join(rng.choice([random_line(rng), bytes([rng.choice(b"yx")]) * rng.randint(1, 90000) + random_line(rng)])
                          for _ in range(rng.randint(1, 12)))
        (self.plain.parent / "long").write_bytes(rng.choice([b"", b"", b"x\0foo\n"]) + long + rng.choice([b"", b"\n"]))
        shutil.copytree(self.plain.parent, self.packed.parent, symlinks=True)
        block = rng.choice(["64K", "256K"])
        linked = rng.choice([[], ["--linked"]])
        for file in self.packed.parent.rglob("*"):
            if file.is_file() and not file.is_symlink():
                done = subprocess.run([hemstitch, "-c", "-q", "-B", block, *linked, "--", file], capture_output=True, check=True)
                file.write_bytes(done.stdout)

    def fill(self, rng, folder, shown, depth):
        folder.mkdir(parents=True)
        self.folders.append(shown)
        for name in rng.sample(NAMES, rng.randint(1, 5)):
            (folder / name).write_bytes(random_content(rng))
            self.files.append(shown / name)
        if rng.random() < 0.3:
            (folder / "link").symlink_to(rng.choice(["a", "b.c", "nowhere", "..", "sub", "."]))
            self.files.append(shown / "link")
        if depth < 2:
            for name in rng.sample(FOLDERS, rng.randint(0, 2)):
                self.fill(rng, folder / name, shown / name, depth + 1)


def random_command(rng, tree, backends):
    """Options for both, own options, environment, arguments, the file that is stdin."""
    options = []
    for option, chance in (("-i", 0.2), ("-v", 0.2), ("-w", 0.25), ("-x", 0.12), ("-q", 0.04), ("-s", 0.1), ("-c", 0.15), ("-o", 0.2),
                           ("-n", 0.3), ("-b", 0.2), ("-H", 0.1), ("-h", 0.1), ("-Z", 0.1), ("-a", 0.12), ("-I", 0.12), ("-F", 0.1),
                           ("-l", 0.06), ("-L", 0.06), ("--line-buffered", 0.05), ("--label=name", 0.1), ("--binary-files=text", 0.04),
                           ("--binary-files=without-match", 0.04), ("--null-data", 0.08), ("-2", 0.04)):
        if rng.random() < chance:
            options.append(option)
    for option, chance in (("-A", 0.15), ("-B", 0.15), ("-C", 0.1), ("-m", 0.2)):
        if rng.random() < chance:
            options.append(option + str(rng.choice([0, 1, 1, 2, 3, 10, 100000])))
    environment = {}
    if rng.random() < 0.25:
        options.append("--color=always")
        if rng.random() < 0.4:
            environment["GREP_COLORS"] = rng.choice(GREP_COLORS)
    for option in ("--include", "--exclude", "--exclude-dir"):
        if rng.random() < 0.1:
            options += [f"{option}={glob}" for glob in some(rng, GLOBS, 2)]
    recursive = rng.random() < 0.35
    if recursive:
        options.append(rng.choice(["-r", "-r", "-R"]))
    # There grep 3.8 shows a line's end twice.
    if "-x" in options and "-w" in options and {"-o", "--color=always"} & set(options):
        options.remove("-w")
    rng.shuffle(options)

    patterns = [rng.choice(PATTERNS) for _ in range(rng.choice([1, 1, 1, 2, 3]))]
    options = [option.encode() for option in options]
    kind = rng.random()
    if kind < 0.8:
        for pattern in patterns:
            options += [b"-e", pattern]
    else:  # the lines of a file, also of none
        if kind < 0.82:
            patterns = []
        elif kind < 0.9:
            patterns += [b" ".join(some(rng, WORDS, 3)) for _ in range(1000)]
        content = b"".join(pattern + b"\n" for pattern in patterns)
        name = f"patterns-{rng.randrange(1000000)}"
        for root in (tree.plain, tree.packed):
            (root.parent / name).write_bytes(content[:-1] if kind < 0.86 and patterns and patterns[-1] else content)
        options += [b"-f", b"../" + name.encode()]

    paths, stdin = [], None
    if rng.random() < 0.1:
        paths = ["../long"]
    elif recursive and rng.random() < 0.2:
        pass
    else:
        paths = [str(path) for path in some(rng, tree.files, 4)]
        if recursive:
            paths += [str(path) + rng.choice(["", "", "/"]) for path in some(rng, tree.folders, 2)]
        for path, chance in (("missing", 0.05), ("t", 0.1), ("-", 0.05)):
            if rng.random() < chance:
                paths.insert(rng.randrange(len(paths) + 1), path)
        if rng.random() < 0.05:
            paths = []
    if "-" in paths or not paths:
        stdin = rng.choice([file for file in tree.files if file.name != "link"])
    own = []
    if rng.random() < 0.3:
        own += ["--memory", rng.choice(["1", "2M", "3M"])]
    if rng.random() < 0.3:
        own += ["-T", rng.choice(["1", "2", "7"])]
    if rng.random() < 0.04:
        own += ["--backend", rng.choice(backends)]
    if rng.random() < 0.3:
        own.append("-z")
    return options, own, environment, paths, stdin


def run(words, folder, environment, stdin):
    environment = {**os.environ, "LC_ALL": "C", "TERM": "xterm", **environment}
    with open(folder / stdin if stdin else os.devnull, "rb") as source:
        done = subprocess.run(words, cwd=folder, env=environment, stdin=source, capture_output=True, timeout=60, check=False)
    return done.returncode, done.stdout, done.stderr


def in_any_order(output):
    """Which group is the first, and so stands behind no separator, depends on the order."""
    lines = re.split(rb"[\n\0]", output)
    return sorted(line for line in lines if not re.fullmatch(rb"(\x1b\[[0-9;]*m(\x1b\[K)?)?--(\x1b\[m(\x1b\[K)?)?", line))


def in_order(output):
    return output.split(b"\n")


def shell_quoted(word):
    plain = word.decode("latin-1")
    return shlex.quote(plain) if re.fullmatch("[ -~]*", plain) else "$'" + repr(word)[2:-1].replace("'", "\\'") + "'"


def difference(got, expected, in_lines):
    """What differs, in words; nothing where nothing does."""
    if got[0] != expected[0] or in_any_order(got[2]) != in_any_order(expected[2]):
        return f"exit {got[0]}, grep's {expected[0]}; stderr {got[2][:300]!r}, grep's {expected[2][:300]!r}"
    ours, theirs = in_lines(got[1]), in_lines(expected[1])
    if ours == theirs:
        return None
    number = next((i for i, (own, other) in enumerate(zip(ours, theirs)) if own != other), min(len(ours), len(theirs)))
    return (f"line {number + 1} of {len(ours)}: {ours[number:number + 1]!r:.300}\n"
            f"   grep's of {len(theirs)}: {theirs[number:number + 1]!r:.300}")


def main():
    hemstitch = str(Path(sys.argv[1]).resolve())
    seed = int(sys.argv[2]) if len(sys.argv) > 2 else 1
    commands = int(os.environ.get("HEMSTITCH_SEARCH_COMMANDS", "200" if os.environ.get("HEMSTITCH_SANITIZE") else "600"))
    version = subprocess.run(["grep", "--version"], capture_output=True, text=True, check=False).stdout
    found = re.match(r"grep \(GNU grep\) (\d+)\.(\d+)", version)
    if not found or tuple(map(int, found.groups())) < (3, 8):
        print("skipped: there is no GNU grep 3.8 or later")
        return 77
    for name in ("GREP_COLORS", "GREP_COLOR", "HEMSTITCH_BACKEND"):
        os.environ.pop(name, None)
    backends = ["cpu", "reference"]
    if run([hemstitch, "search", "--backend", "webgpu", "x"], Path("/"), {}, None)[0] == 1:
        backends += ["webgpu"]

    differences = 0
    for number in range(0, commands, COMMANDS_IN_A_TREE):
        rng = random.Random(f"{seed} {number}")
        with tempfile.TemporaryDirectory(prefix="hemstitch-search-") as folder:
            tree = Tree(rng, Path(folder), hemstitch)
            for _ in range(min(COMMANDS_IN_A_TREE, commands - number)):
                options, own, environment, paths, stdin = random_command(rng, tree, backends)
                arguments = [*options, b"--", *map(os.fsencode, paths)]
                expected = run(["grep", "-F", *arguments], tree.plain, environment, stdin)
                got = run([hemstitch, "search", *own, *arguments], tree.packed if "-z" in own else tree.plain, environment, stdin)
                what = difference((*got[:2], re.sub(rb".*XDG_RUNTIME_DIR.*\n", b"", got[2])),
                                  (*expected[:2], expected[2].replace(b"grep: ", b"hemstitch: ")),
                                  in_any_order if {b"-r", b"-R"} & set(options) else in_order)
                if what is None:
                    continue
                words = [f"{name}={shlex.quote(value)}" for name, value in environment.items()]
                words += ["hemstitch", "search", *own, *map(shell_quoted, arguments)]
                words += [f"<{shlex.quote(str(stdin))}"] if stdin else []
                print(f"differs (seed {seed}, tree {number}): {' '.join(words)}\n  {what}", flush=True)
                differences += 1
                if differences == MOST_DIFFERENCES:
                    return 1
    print(f"{commands} command lines, {differences} differences")
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main())
