#!/usr/bin/env python3
"""Makes one ES module of hemstitch.js, the planner and the shaders.

  embed.py MODULE PLANNER SHADERS OUTPUT    SHADERS is the folder of expanded .wgsl files (cmake/embed_shaders.cmake)

Shaders come without their comments and indentation, and only those that the planner names. The planner is compressed: text in
base64 is not something that a server's gzip makes small.
"""
import base64
import json
import pathlib
import re
import sys
import zlib


def stripped(shader):
    lines = (re.sub(r"\s*//.*", "", line).strip() for line in shader.splitlines())
    return "\n".join(line for line in lines if line) + "\n"


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
    text = module.read_text()
    text = put_in(text, "SHADERS", json.dumps(shaders, indent=0))
    text = put_in(text, "PLANNER", "'" + base64.b64encode(packed).decode() + "'")
    output.parent.mkdir(parents=True, exist_ok=True)
    output.write_text(text)


main()
