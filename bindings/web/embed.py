#!/usr/bin/env python3
"""Makes one ES module of hemstitch.js or gzip.js, its planner and the shaders.

  embed.py MODULE PLANNER SHADERS OUTPUT TOOL [--without PLANNER]
      SHADERS is the folder of expanded .wgsl files (cmake/embed_shaders.cmake); those that the other planner names are left out. TOOL is hemstitch.

What is served is made small: only the shaders that the planner names, without comments, indentation and spaces that separate nothing, and
with short names in place of their own; the module without comments that fill or end a line; the planner compressed, since text in base64 is nothing that a server's gzip makes smaller.
"""
import base64
import collections
import itertools
import json
import pathlib
import re
import string
import subprocess
import sys
import zlib

TOKEN = re.compile(r"@builtin\(\w+\)|@\w+|[A-Za-z_]\w*|\d\w*|.", re.DOTALL)
DECLARED = re.compile(r"\b(?:fn|struct|let|const|alias)\s+(\w+)|\bvar(?:<[^>]*>)?\s+(\w+)|\b([A-Za-z_]\w*)\s*:")
# Names that the planner says, of entry points and of constants, and names of WGSL's own functions that a shader gives to a variable.
SAID = re.compile(r"@workgroup_size\([^)]*\)\s*fn\s+(\w+)|\boverride\s+(\w+)")
OF_WGSL = {"all", "any", "cross", "distance", "dot", "floor", "fract", "length", "max", "min", "mix", "normalize", "read", "select", "sign",
           "step", "storage", "uniform", "workgroup", "write", "function", "private"}


def stripped(shader):
    """WGSL has no strings, so that "//" begins a comment wherever it stands."""
    lines = (re.sub(r"//.*", "", line).strip() for line in shader.splitlines())
    text = "\n".join(re.sub(r" *([(){},;:=+*/%]) *", r"\1", line) for line in lines if line)
    return re.sub(r"(?<=[;{}])\n", "", text) + "\n"


def with_short_names(shaders):
    """The same name gets the same one in every shader, the more frequent ones the shorter ones."""
    declared, kept = set(), set(OF_WGSL)
    counts = collections.Counter()
    for text in shaders.values():
        declared.update(name for match in DECLARED.findall(text) for name in match if name)
        kept.update(name for match in SAID.findall(text) for name in match if name)
        counts.update(token for token in TOKEN.findall(text) if token[0].isalpha() or token[0] == "_")
    letters = ("".join(name) for size in (1, 2, 3) for name in itertools.product(string.ascii_letters, repeat=size))
    free = (name for name in letters if name not in counts and name not in ("as", "do", "if", "in", "is", "of", "or", "fn", "asm"))
    # Of two letters there may be parts of vectors.
    short = {name: next(free) for name, _ in counts.most_common() if name in declared - kept and len(name) > 2}
    return {name: "".join(short.get(token, token) for token in TOKEN.findall(text)) for name, text in shaders.items()}


def put_in(text, mark, value):
    """Puts a value in place of the mark and the empty one behind it."""
    parts = re.split(re.escape(f"/*{mark}*/") + r" (?:\{\}|'')", text)
    if len(parts) != 2:
        sys.exit(f"embed: the module has {len(parts) - 1} marks {mark}, it should have one")
    return value.join(parts)


def main():
    module, planner_file, shader_folder, output, tool = map(pathlib.Path, sys.argv[1:6])
    planner = planner_file.read_bytes()
    elsewhere = pathlib.Path(sys.argv[7]).read_bytes() if sys.argv[6:7] == ["--without"] else b""
    shaders = {}
    for path in sorted(shader_folder.rglob("*.wgsl")):
        name = path.relative_to(shader_folder).as_posix()
        if name.encode() in planner and name.encode() not in elsewhere:
            shaders[name] = stripped(path.read_text())
    # Level 12 takes 4 % less than zlib's 9. Behind ten bytes of header and before eight of trailer there is DEFLATE alone.
    packed = subprocess.run([tool, "-c", "--backend", "cpu", "--format", "gzip", "-12", "-n", planner_file], stdout=subprocess.PIPE, check=True).stdout[10:-8]
    if zlib.decompress(packed, -15) != planner:
        sys.exit("embed: the compressed planner does not restore to itself")
    heading, body = module.read_text().split("\n", 1)
    text = heading + "\n" + re.sub(r"(?m)^ *//.*\n|(?<=;) +// .*$", "", body)
    text = put_in(text, "SHADERS", json.dumps(with_short_names(shaders), indent=0))
    text = put_in(text, "PLANNER", "'" + base64.b64encode(packed).decode() + "'")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)


main()
