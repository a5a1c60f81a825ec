#!/usr/bin/env python3
"""What a source names is declared in a header that it includes, directly or by others.

    includes_test.py [SOURCE]     SOURCE is the folder that holds src/; default: this checkout

Builds of several sources at once compile where a source before has included what this one misses, and only they do. So a source of src/,
cli/ or nbdkit/ that names a type which one header alone defines must reach this header, or a declaration of it.

Prints each name that is not reached, and exits with 1 where there is one.
"""
import pathlib
import re
import sys
import tempfile

# Folders, and from where they include.
ROOTS = {"src": "src", "cli": ".", "nbdkit": "nbdkit"}
BASES = ("src", ".", "include", "nbdkit")
INCLUDE = re.compile(r'^\s*#\s*include\s+["<]([^">]+)[">]', re.MULTILINE)
# Names of several words: short ones are also those of members, template parameters and enumerators.
DEFINED = re.compile(r"\b(?:class|struct|enum class) (?:alignas\(\w+\) )?([A-Z][a-z0-9]+[A-Z]\w*)(?=[^;(){}]*\{)")
# Comments, texts and characters. A quote between digits or letters is no character's.
UNREAD = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<!\w)\'(?:\\.|[^\'\\\n])+\'', re.DOTALL)
WORD = re.compile(r"\b[A-Za-z_]\w*\b")

class Sources:
    def __init__(self, source):
        self.source = pathlib.Path(source)
        self.texts, self.reach = {}, {}
        defined = {}
        for folder in ROOTS:
            for path in sorted((self.source / folder).rglob("*")):
                if path.suffix in {".hpp", ".cuh", ".cpp", ".cu"}:
                    self.texts[path] = text = UNREAD.sub(lambda found: "\n" * found.group().count("\n") or " ", path.read_text())
                    for found in DEFINED.finditer(text):
                        defined.setdefault(found.group(1), set()).add(path)
        alone = {name: next(iter(paths)) for name, paths in defined.items() if len(paths) == 1}
        self.defined_in = {name: path for name, path in alone.items() if path.suffix == ".hpp"}

    def included(self, path):
        for found in INCLUDE.finditer(path.read_text()):
            for base in (path.parent, *(self.source / base for base in BASES)):
                if (base / found.group(1)).is_file():
                    yield (base / found.group(1)).resolve()
                    break

    def reached(self, path):
        seen, left = set(), [path.resolve()]
        while left:
            for other in self.included_once(left.pop()):
                if other not in seen:
                    seen.add(other)
                    left.append(other)
        return seen

    def included_once(self, path):
        if path not in self.reach:
            self.reach[path] = list(self.included(path))
        return self.reach[path]

    def is_announced(self, name, path, reached):
        """Whether a declaration without a definition is reached, which suffices for references."""
        announced = re.compile(rf"\b(?:class|struct|enum class) {name}\b[^{{;]*;")
        return any(announced.search(other.read_text()) for other in (path, *reached))

    def missing(self):
        """(source, line, name, the header that defines it)"""
        for path, text in self.texts.items():
            if path.suffix != ".cpp":
                continue
            reached = self.reached(path)
            for name in sorted(set(WORD.findall(text)) & self.defined_in.keys()):
                header = self.defined_in[name]
                if header.resolve() not in reached and not self.is_announced(name, path, reached):
                    line = text[:re.search(rf"\b{name}\b", text).start()].count("\n") + 1
                    yield path.relative_to(self.source), line, name, header.relative_to(self.source)


def planted_gaps_are_found():
    with tempfile.TemporaryDirectory() as folder:
        root = pathlib.Path(folder)
        for name, text in {
            "src/core/a.hpp": "class RedApple {\n};\nstruct SweetPear\n    : Fruit {};\nstruct BluePlum {};\n",
            "src/core/b.hpp": '#include "core/a.hpp"\n',
            "src/core/c.cpp": '#include "core/b.hpp"\nRedApple apple;\n',
            "src/core/d.cpp": "// RedApple\nconst char* text = \"SweetPear\";\nstruct BluePlum {};\nclass SweetPear;\nSweetPear* pear;\n",
            "src/core/e.cpp": "\nSweetPear pear;\n",
            "cli/f.cpp": "/* BluePlum\n*/ RedApple apple;\n",
        }.items():
            (root / name).parent.mkdir(parents=True, exist_ok=True)
            (root / name).write_text(text)
        found = {(str(path), line, name) for path, line, name, _ in Sources(folder).missing()}
        return found == {("src/core/e.cpp", 2, "SweetPear"), ("cli/f.cpp", 2, "RedApple")}


def main():
    if not planted_gaps_are_found():
        print("includes: planted names whose header is not included are not found, or others are")
        return 1
    missing = list(Sources(sys.argv[1] if len(sys.argv) > 1 else pathlib.Path(__file__).resolve().parents[2]).missing())
    for path, line, name, header in missing:
        print(f"{path}:{line}: {name} is defined in {header}, which is not included")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
