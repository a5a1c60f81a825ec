#!/usr/bin/env python3
"""Every link of the pages leads somewhere: to a file that git knows, and to a heading that is there; and docs/index.md, which README
links to, names every page of docs.

Addresses outside the repository are held to their form alone, since a test needs no network.
"""
import re
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
INDEX = "docs/index.md"
LINK = re.compile(r"\]\(<?([^)\s>]*)>?(?:\s+\"[^\"]*\")?\)")
ADDRESS = re.compile(r"(?:https://[\w.-]+\.[a-z]{2,}(?:/\S*)?|mailto:\S+@\S+)$")


def tracked():
    return set(subprocess.run(["git", "ls-files"], cwd=ROOT, check=True, capture_output=True, text=True).stdout.split("\n")) - {""}


def without_code(text):
    """The page with its blocks and quoted words made blank, so that line numbers stay."""
    blank = lambda found: re.sub(r"[^\n]", " ", found[0])
    return re.sub(r"`[^`\n]*`", blank, re.sub(r"^```.*?^```", blank, text, flags=re.MULTILINE | re.DOTALL))


def anchors(text):
    """What GitHub makes of the headings: lower case, spaces become hyphens, other signs go; a second one of a name gets a number."""
    found = {}
    for line in re.sub(r"^```.*?^```", "", text, flags=re.MULTILINE | re.DOTALL).split("\n"):
        if heading := re.match(r"#{1,6}\s+(.*?)\s*#*$", line):
            words = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", heading[1])
            name = re.sub(r"[^\w\- ]", "", words.lower()).replace(" ", "-")
            found[name] = found.get(name, -1) + 1
    return {name if number == 0 else f"{name}-{number}" for name, count in found.items() for number in range(count + 1)}


def main():
    files = tracked()
    folders = {str(parent) for name in files for parent in Path(name).parents}
    pages = {name: (ROOT / name).read_text() for name in sorted(files) if name.endswith(".md") and (ROOT / name).exists()}
    headings = {name: anchors(text) for name, text in pages.items()}
    wrong, checked, linked = [], 0, {}
    for page, text in pages.items():
        for number, line in enumerate(without_code(text).split("\n"), 1):
            for target in LINK.findall(line):
                checked += 1
                place, _, heading = target.partition("#")
                if ":" in target:
                    if not ADDRESS.match(target):
                        wrong.append(f"{page}:{number}: {target} is no address")
                    continue
                path = page if not place else str((ROOT / page).parent.joinpath(place).resolve().relative_to(ROOT))
                linked.setdefault(page, set()).add(path)
                if path not in files and path not in folders:
                    wrong.append(f"{page}:{number}: no {target}")
                elif heading and heading not in headings.get(path, ()):
                    wrong.append(f"{page}:{number}: {path} has no heading for #{heading}")
    wrong += [f"{INDEX} does not name {page}" for page in pages
              if page.startswith("docs/") and page != INDEX and page not in linked.get(INDEX, ())]
    if INDEX not in linked.get("README.md", ()):
        wrong.append(f"README.md does not lead to {INDEX}")
    print(f"{checked} links, {len(wrong)} of them wrong")
    for line in wrong:
        print(line)
    sys.exit(1 if wrong or checked < 100 else 0)


if __name__ == "__main__":
    main()
