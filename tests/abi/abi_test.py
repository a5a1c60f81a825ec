#!/usr/bin/env python3
"""Holds the binary interface for C against interface.txt: each function with its parameters, each structure, by each of its names, with the
size of it and the place of each member, each constant with its number, as this machine's compiler sees them. And each function is exported by the library.

  abi_test.py LIBRARY [--accept]      --accept: write interface.txt anew

A program that was compiled before must go on working. So functions and constants may be added, and members at the end of structures
whose first member is `size`; then accept it. Where anything else has changed, or gone, the library's SONAME has to change as well.
"""

import difflib
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
HEADERS = ROOT / "include" / "hemstitch"
RECORD = Path(__file__).with_name("interface.txt")


def declared():
    """(functions, {structure: members}, constants) of all headers for C, in their order."""
    functions, structures, constants = [], {}, []
    for header in sorted(HEADERS.glob("*.h")):
        text = re.sub(r"/\*.*?\*/", " ", header.read_text(), flags=re.DOTALL)
        text = re.sub(r"^\s*#.*$", "", text, flags=re.MULTILINE)
        for call in re.findall(r"HEMSTITCH_API\s+([^;]*);", text):
            functions.append(re.sub(r"\s*([(),*])\s*", r"\1", " ".join(call.split())).replace(",", ", "))
        for name, body in re.findall(r"typedef struct (\w+) \{(.*?)\} \1;", text, flags=re.DOTALL):
            structures[name] = [member for line in body.split(";") for member in members(line)]
        for name, other in re.findall(r"typedef (\w+) (\w+);", text):
            if name in structures:
                structures[other] = structures[name]
        for body in re.findall(r"typedef enum \w+ \{(.*?)\}", text, flags=re.DOTALL):
            constants += re.findall(r"(HEMSTITCH_\w+)\s*=", body)
    return functions, structures, constants


def members(declaration):
    """The names that a member's declaration gives: one, some with commas, a function's pointer or an array."""
    if pointer := re.search(r"\(\*(\w+)\)", declaration):
        return [pointer[1]]
    return [re.search(r"(\w+)\s*(?:\[\w+\])?$", part.strip())[1] for part in declaration.split(",") if part.strip()]


def measured(structures, constants):
    """What the compiler makes of them, a line each."""
    with tempfile.TemporaryDirectory() as name:
        source, program = Path(name) / "layout.c", Path(name) / "layout"
        lines = [f'#include "hemstitch/{header.name}"' for header in sorted(HEADERS.glob("*.h"))]
        lines += ["#include <stddef.h>", "#include <stdio.h>", "int main(void) {"]
        for structure, names in structures.items():
            lines.append(f'printf("{structure}: %zu bytes\\n", sizeof({structure}));')
            lines += [f'printf("  %3zu %s, %zu\\n", offsetof({structure}, {member}), "{member}", sizeof((({structure}*)0)->{member}));'
                      for member in names]
        lines += [f'printf("{constant} = %d\\n", (int){constant});' for constant in constants]
        source.write_text("\n".join([*lines, "return 0;", "}"]))
        subprocess.run(["cc", "-std=c99", "-Wall", "-Werror", f"-I{ROOT / 'include'}", source, "-o", program], check=True)
        return subprocess.run([program], check=True, capture_output=True, text=True).stdout.splitlines()


def main(library, *words):
    functions, structures, constants = declared()
    found = [*sorted(functions), "", *measured(structures, constants)]
    exported = {line.split()[-1] for line in subprocess.run(["nm", "-D", "--defined-only", library], check=True, capture_output=True,
                                                            text=True).stdout.splitlines()}
    wrong = [f"{call} is declared and not exported" for call in functions if re.search(r"(\w+)\(", call)[1] not in exported]
    wrong += [f"{name} is exported and not declared" for name in sorted(exported)
              if name.startswith("hemstitch_") and not any(f"{name}(" in call for call in functions)]
    if list(words) == ["--accept"]:
        RECORD.write_text("\n".join(found) + "\n")
    recorded = RECORD.read_text().splitlines()
    changes = list(difflib.unified_diff(recorded, found, "recorded", "found", lineterm="", n=0))
    print("\n".join([*wrong, *changes]))
    if changes:
        print(__doc__)
    return 1 if wrong or changes or len(functions) < 100 else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
