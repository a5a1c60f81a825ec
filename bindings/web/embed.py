#!/usr/bin/env python3
"""Makes one ES module of hemstitch.js, the planner and the shaders.

  embed.py MODULE PLANNER SHADERS OUTPUT    SHADERS is the folder of expanded .wgsl files (cmake/embed_shaders.cmake)

What is served is made small: only the shaders that the planner names, without comments, indentation and spaces that separate nothing;
the module without lines of comment; the planner compressed, since text in base64 is nothing that a server's gzip makes smaller.
"""
import base64
import json
import pathlib
import re
import sys
import zlib


def stripped(shader):
    """WGSL has no strings, so that "//" begins a comment wherever it stands."""
    lines = (re.sub(r"//.*", "", line).strip() for line in shader.splitlines())
    text = "\n".join(re.sub(r" *([(){},;:=+*/%]) *", r"\1", line) for line in lines if line)
    return re.sub(r"(?<=[;{}])\n", "", text) + "\n"


def put_in(text, mark, value):
    """Puts a value in place of the mark and the empty one behind it."""
    parts = re.split(re.escape(f"/*{mark}*/") + r" (?:\{\}|'')", text)
    if len(parts) != 2:
        sys.exit(f"embed: the module has {len(parts) - 1} marks {mark}, it should have one")
    return value.join(parts)


def main():
    module, planner_file, shader_folder, output = map(pathlib.Path, sys.argv[1:])
    planner = planner_file.read_bytes()
    shaders = {}
    for path in sorted(shader_folder.rglob("*.wgsl")):
        name = path.relative_to(shader_folder).as_posix()
        if name.encode() in planner:
            shaders[name] = stripped(path.read_text())
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    packed = compressor.compress(planner) + compressor.flush()
    heading, body = module.read_text().split("\n", 1)
    text = heading + "\n" + re.sub(r"(?m)^ *//.*\n", "", body)
    text = put_in(text, "SHADERS", json.dumps(shaders, indent=0))
    text = put_in(text, "PLANNER", "'" + base64.b64encode(packed).decode() + "'")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)


main()
