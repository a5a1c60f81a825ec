#!/usr/bin/env python3
"""What the module does without WebGPU, in Node.js, which has none: it compresses LZ4 and gzip and restores them and Zstandard by its own WebAssembly, and says
what is missing for the rest.

  node_test.py WEB HEMSTITCH    the package's folder, and the tool

Exit 77: skipped, node is not here, and HEMSTITCH_REQUIRE does not name web.
"""
import gzip
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile

COMPRESSED_BYTES = 300_000

SCRIPT = """
import {readFileSync, writeFileSync} from 'node:fs';
const {compressGzip, compressLz4, decompressGzip, decompressLz4, decompressZstd, GzipDecompressionStream, requestDevice, ZstdDecompressionStream} = await import(process.argv[2]);
const told = [];
for (const {name, kind} of JSON.parse(readFileSync('inputs.json'))) {
  const bytes = new Uint8Array(readFileSync(name));
  try {
    const content = await {gzip: decompressGzip, lz4: decompressLz4, zstd: decompressZstd}[kind](bytes);
    writeFileSync(name + '.content', content);
    told.push({name, status: 0});
  } catch (error) {
    told.push({name, status: error.status ?? -1, message: error.message});
  }
}
for (const [name, stream] of [['plain.gz', new GzipDecompressionStream()], ['plain.zst', new ZstdDecompressionStream({batchBytes: 100000})]]) {
  const piped = new Blob([readFileSync(name)]).stream().pipeThrough(stream);
  writeFileSync(name + '.piped', new Uint8Array(await new Response(piped).arrayBuffer()));
}
const content = new Uint8Array(readFileSync('content'));
for (const [name, make] of [['content.lz4', bytes => compressLz4(bytes)], ['content.9.lz4', bytes => compressLz4(bytes, {level: 9, blockSize: 65536})],
                            ['content.gz', bytes => compressGzip(bytes)], ['content.bgz', bytes => compressGzip(bytes, {bgzf: true, level: 1})]]) {
  for (const bytes of [0, 1, 70000, content.length]) writeFileSync(`${name}.${bytes}`, await make(content.subarray(0, bytes)));
}
try {
  await requestDevice();
} catch (error) {
  told.push({name: 'a device', status: error.status, message: error.message});
}
console.log(JSON.stringify(told));
"""


def main():
    web, tool = pathlib.Path(sys.argv[1]).resolve(), pathlib.Path(sys.argv[2]).resolve()
    if not shutil.which("node"):
        if "web" in os.environ.get("HEMSTITCH_REQUIRE", "").split(","):
            sys.exit("FAILED: HEMSTITCH_REQUIRE names web, and node is not here (tools/setup web installs it)")
        print("skipped: no node here")
        sys.exit(77)
    choice = random.Random(3)
    content = b"".join(b"line %d of %d\n" % (i, choice.randrange(1000)) for i in range(150_000)) + choice.randbytes(100_000)

    def packed(*options, of=content):
        return subprocess.run([tool, "-qc", *options], input=of, capture_output=True, check=True).stdout

    good = {"plain.gz": ("gzip", gzip.compress(content)), "ours.gz": ("gzip", packed("--format", "gzip")),
            "blocks.gz": ("gzip", packed("--format", "bgzf")), "stored.gz": ("gzip", packed("-0", "--format", "gzip")),
            "members.gz": ("gzip", gzip.compress(content[:1000]) + packed("--format", "bgzf", of=content[1000:])),
            "plain.lz4": ("lz4", packed()), "linked.lz4": ("lz4", packed("--linked", "--check=content", "-B4")), "legacy.lz4": ("lz4", packed("--legacy")),
            "large.lz4": ("lz4", packed("-9", "-B7")),
            "plain.zst": ("zstd", packed("--format", "zstd")), "best.zst": ("zstd", packed("--format", "zstd", "-19")),
            "own.zst": ("zstd", packed("--format", "zstd", "--reproducible")), "frames.zst": ("zstd", packed("--format", "zstd", "--seekable=256K")),
            "stored.zst": ("zstd", packed("--format", "zstd", "-0"))}
    empty = {"empty.zst": ("zstd", packed("--format", "zstd", of=b"")), "empty.gz": ("gzip", gzip.compress(b"")), "empty.lz4": ("lz4", packed(of=b""))}
    # Both refuse a window of 256 MB.
    inputs = {**good, **empty, "window.zst": ("zstd", packed("--format", "zstd", "--long=28"))}
    # Damage is told where the tool tells it.
    for name, (kind, bytes_) in list(inputs.items()):
        for number in range(6):
            mutated = bytearray(bytes_)
            if number < 3:
                mutated[choice.randrange(len(mutated))] ^= 1 << choice.randrange(8)
            else:
                del mutated[choice.randrange(1, len(mutated)):]
            inputs[f"bad{number}.{name}"] = (kind, bytes(mutated))
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        for name, (_, bytes_) in inputs.items():
            (folder / name).write_bytes(bytes_)
        (folder / "content").write_bytes(content[:COMPRESSED_BYTES])
        (folder / "inputs.json").write_text(json.dumps([{"name": name, "kind": kind} for name, (kind, _) in inputs.items()]))
        (folder / "script.mjs").write_text(SCRIPT)
        done = subprocess.run(["node", "script.mjs", f"file://{web}/hemstitch.js"], cwd=folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"FAILED\n{done.stdout}{done.stderr}")
        failures = []
        for one in json.loads(done.stdout):
            name = one["name"]
            if name == "a device":
                if one["status"] != 500 or "WebGPU" not in one["message"]:
                    failures.append(one)
                continue
            theirs = subprocess.run([tool, "-qdc", "--backend", "reference", name], cwd=folder, capture_output=True)
            if one["status"] > 0 and name.endswith(".zst") and not re.search(r"frame \d+|byte \d+", one["message"]):
                failures.append((name, "no place", one["message"]))
            # What the tool calls a warning, bytes behind the last frame, is an error here.
            if (theirs.returncode == 0) != (one["status"] == 0):
                failures.append((one, theirs.stderr))
            elif one["status"] == 0 and (folder / f"{name}.content").read_bytes() != theirs.stdout:
                failures.append((name, "other content"))
            if name in good and (one["status"] != 0 or (folder / f"{name}.content").read_bytes() != content):
                failures.append(one)
        # As the tool's reference writes it, to the byte.
        for name, options in {"content.lz4": [], "content.9.lz4": ["-9", "-B4"], "content.gz": ["--format", "gzip"], "content.bgz": ["--format", "bgzf", "-1"]}.items():
            for size in (0, 1, 70000, COMPRESSED_BYTES):
                (folder / "part").write_bytes(content[:size])
                wanted = packed("--backend", "reference", *options, folder / "part")
                if (folder / f"{name}.{size}").read_bytes() != wanted:
                    failures.append(f"{name}: {size} bytes became something else")
        for name in ("plain.gz.piped", "plain.zst.piped"):
            if (folder / name).read_bytes() != content:
                failures.append(f"{name}: the stream gave something else")
    for failure in failures:
        print("FAILED", failure)
    print(f"{len(inputs)} inputs, {len(failures)} failures")
    return 1 if failures else 0


sys.exit(main())
