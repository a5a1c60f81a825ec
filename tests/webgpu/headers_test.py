#!/usr/bin/env python3
"""Holds what the header of every shader says of its buffers against the planner.

  headers_test.py PRINT_SHADERS PRINT_PLANS    the programs of print_shaders.cpp and print_plans.cpp

A planned buffer has room for what the headers of its steps say of it ("4 bytes a position"), and is no larger than the largest
of that; and a batch takes at most 12 bytes a position in all, 20 for DEFLATE.
"""
import json
import re
import subprocess
import sys

MOST_BYTES_A_POSITION = 12
MOST_DEFLATE_BYTES_A_POSITION = 20

mistakes = []


class Shader:
    def __init__(self, path, text):
        self.path, self.text = path, text
        header = re.match(r"(?://.*\n)+", text)[0]
        lines = [re.sub(r"^// ?", "", line) for line in header.splitlines()]
        self.buffers = ""
        inside = False
        for line in lines:
            inside = line.startswith("Buffers") or (inside and line.startswith("            "))
            if inside:
                self.buffers += " " + line.removeprefix("Buffers").strip()
        if not self.buffers:
            mistakes.append(f"{path}: its header has no 'Buffers'")
        # Two names may stand at one binding, for different entry points.
        self.names = {}
        for number, name in re.findall(r"@binding\((\d+)\) var<storage[^>]*> (\w+):", text):
            self.names.setdefault(int(number), []).append(name)

    def stated_bytes(self, name, counts):
        """What the header says of a buffer, for that many positions, tiles and so on; None where it says nothing."""
        usual = {"data_words": counts["position"], "blocks": 32 * counts["block"], "tiles": 4 * counts["tile"],
                 "chunks": 32 * counts.get("chunk", 0)}
        if name in usual:
            return usual[name]
        said = re.search(rf"\b{name}\b`?[^;]*", self.buffers)
        if not said:
            mistakes.append(f"{self.path}: its header does not name the buffer {name}")
            return None
        # Up to the next buffer's name.
        others = [other for names in self.names.values() for other in names if other != name]
        said = re.split(r", (?=(?:" + "|".join(others) + r")\b)", said[0])[0] if others else said[0]
        if size := re.search(r"(\d+) bytes for each of 2\^hash_bits hashes of each block", said):
            behind = re.search(r"behind them (\d+) bytes a block", said)
            return int(size[1]) * counts["hash"] + (int(behind[1]) * counts["block"] if behind else 0)
        if (size := re.search(r"(\d+) bytes an? (\w+)", said)) and size[2] in counts:
            total = re.search(r"the total", self.buffers.split(name, 1)[1][:80])
            return int(size[1]) * (counts[size[2]] + (1 if total else 0))
        if size := re.search(r"(\d+) bytes$", said):
            return int(size[1])
        return None


def check_plan(plan, shaders):
    stated = [[] for _ in plan["parts"]]
    for step in plan["steps"]:
        shader = shaders[step["shader"]]
        for binding in step["bindings"]:
            names = shader.names.get(binding["binding"], [])
            if not names:
                mistakes.append(f"{step['shader']}: no binding {binding['binding']}")
                continue
            sizes = [shader.stated_bytes(name, plan["counts"]) for name in names]
            known = [size for size in sizes if size is not None]
            stated[binding["part"]].append((max(known) if known else None, f"{step['shader']} {names[0]}"))
    checked = 0
    for part, uses in zip(plan["parts"], stated):
        for size, use in uses:
            if size is not None and size > part["bytes"]:
                mistakes.append(f"{plan['name']}: '{part['name']}' has {part['bytes']} bytes, {use} needs {size}")
        if uses and all(size is not None for size, _ in uses):
            checked += 1
            largest = max(size for size, _ in uses)
            if part["bytes"] > largest + 4:
                mistakes.append(f"{plan['name']}: '{part['name']}' has {part['bytes']} bytes, its shaders say {largest}")
    total = sum(part["bytes"] for part in plan["parts"]) / plan["counts"]["position"]
    print(f"{plan['name']}: {total:.2f} bytes a position, {checked} of {len(plan['parts'])} buffers held to their size")
    return total


def main():
    printed = [json.loads(subprocess.run([program], check=True, capture_output=True).stdout) for program in sys.argv[1:3]]
    shaders = {shader["path"]: Shader(shader["path"], shader["text"]) for shader in printed[0]}
    used = {step["shader"] for plan in printed[1] for step in plan["steps"]}
    for plan in printed[1]:
        total = check_plan(plan, shaders)
        # Those that work on batches; others are for judging and hold more.
        most = MOST_DEFLATE_BYTES_A_POSITION if "DEFLATE" in plan["name"] else MOST_BYTES_A_POSITION
        if "counted" not in plan["name"] and "exact" not in plan["name"] and total > most:
            mistakes.append(f"{plan['name']}: {total:.2f} bytes a position are more than {most}")
    different = list(dict.fromkeys(mistakes))
    print("\n".join([*different, f"{len(shaders)} shaders, {len(used)} of them in plans, {len(different)} mistakes"]))
    sys.exit(1 if mistakes or not used else 0)


main()
