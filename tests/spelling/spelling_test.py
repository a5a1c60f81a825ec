#!/usr/bin/env python3
"""Spelling: of the pages and the manual by aspell, with words.txt for those of this field; of everything by codespell, which
knows common mistakes.

  spelling_test.py [--accept]      --accept: take the unknown words of the pages into words.txt, after reading them
"""

import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WORDS = Path(__file__).with_name("words.txt")
# Names in code that look like mistakes to codespell, and mistakes that a test makes.
NO_MISTAKES = "kno,kown,serch,statics,evalute,fo,levle,ans,unx"
SKIPPED = 77


def files(*patterns):
    return subprocess.run(["git", "ls-files", *patterns], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split()


def prose(text):
    """What is left of a page without code, addresses, figures and markup."""
    text = re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL)
    text = re.sub(r"<!--.*?-->", "", text, flags=re.DOTALL)
    text = re.sub(r"``.*?``|`[^`]*`", "", text, flags=re.DOTALL)
    text = re.sub(r"\]\([^)]*\)|https?://\S+", "", text)
    text = re.sub(r"^\|.*bench.*\|$", "", text, flags=re.MULTILINE)
    # Names: with digits, underscores, dots or slashes inside, or capitals within.
    return re.sub(r"\S*[\d_/@=+]\S*|\w+(?:\.\w+)+|\b[A-Za-z]*[a-z][A-Z]\w*|\b[A-Z]{2,}\w*", "", text)


def unknown_words(text):
    for language in ("en_US", "en_GB"):
        words = subprocess.run(["aspell", "--lang", language, "--encoding", "utf-8", "list"], input=text, check=True,
                               capture_output=True, text=True).stdout.split()
        text = "\n".join(words)
    return set(words)


def main(arguments):
    if shutil.which("aspell") is None or shutil.which("codespell") is None:
        print("skipped: aspell or codespell is not here")
        return SKIPPED
    known = set(WORDS.read_text().split())
    pages = [page for page in files("*.md") if not page.startswith("bench/results/")]
    texts = {page: prose((ROOT / page).read_text()) for page in pages}
    unknown = unknown_words("\n".join(texts.values())) - known
    if arguments == ["--accept"]:
        WORDS.write_text("\n".join(sorted(known | unknown, key=lambda word: (word.lower(), word))) + "\n")
        return 0
    for word in sorted(unknown):
        print(f"{word}: no word of aspell's, nor of tests/spelling/words.txt; in {', '.join(page for page, text in texts.items() if word in text)}")
    sources = files("*.md", "*.hpp", "*.h", "*.cpp", "*.cu", "*.cuh", "*.wgsl", "*.py", "*.sh", "*.js", "*.cmake", "completions", "tools", "tests/cli")
    done = subprocess.run(["codespell", "--ignore-words-list", NO_MISTAKES, *sources], cwd=ROOT, check=False, capture_output=True, text=True)
    print(done.stdout, end="")
    return 1 if unknown or done.stdout else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
