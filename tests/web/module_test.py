#!/usr/bin/env python3
"""The browser's module in headless Chromium: its frames and matches held against the tool and the twins, its errors, its streams, and
what becomes of buffers and devices.

  module_test.py WEB HEMSTITCH PRINT_MATCHES    WEB is the folder of hemstitch.js, the others are programs
"""
import gzip
import json
import pathlib
import random
import struct
import subprocess
import sys
import tempfile
import time
import zlib

from browser import FAST_COMPILER, WEBGPU, Browser
from site_of_tests import Checks, Site, from_base64, prose, skip_without_browser

KB = 1024


def shapes():
    chooser = random.Random(7)
    shapes = {f"{size}_bytes": chooser.randbytes(size) for size in (0, 1, 3, 12, 13)}
    shapes["equal"] = b"a" * 70000
    shapes["period_2"] = b"ab" * 20000
    shapes["period_65535"] = chooser.randbytes(65535) + b"x" * 3 + chooser.randbytes(10)
    shapes["random"] = chooser.randbytes(100_000)
    for size in (65535, 65536, 65537, 61440, 61441):
        shapes[f"prose_{size}"] = prose(size)
    shapes["prose_small"] = prose(9000, seed=3)
    return shapes


class Tools:
    """The programs that results are held against."""

    def __init__(self, hemstitch, print_matches, folder):
        self.hemstitch, self.print_matches, self.folder = hemstitch, print_matches, folder

    def file(self, content):
        path = self.folder / "input"
        path.write_bytes(content)
        return path

    def reference(self, content, level, block):
        return subprocess.run([self.hemstitch, "--backend", "reference", f"-{level}", "-B", block, "-c", self.file(content)],
                              check=True, capture_output=True).stdout

    def lz4(self, *arguments, content):
        return subprocess.run(["lz4", *arguments], input=content, check=True, capture_output=True).stdout

    def reference_gzip(self, content, level, kind):
        return subprocess.run([self.hemstitch, "--backend", "reference", "--format", kind, f"-{level}", "-c"], input=content, check=True,
                              capture_output=True).stdout

    def matches(self, finder, parse, block_bytes, content):
        return subprocess.run([self.print_matches, finder, parse, str(block_bytes), self.file(content)], check=True,
                              capture_output=True).stdout


def frames_equal_reference(checks, page, site, tools):
    for name, content in shapes().items():
        site.data[name] = content
        for level in (1, 3) if len(content) > 20 else (3,):
            frame = from_base64(page.evaluate(
                f"const input = await data('{name}'); window.frame = await h.compressLz4(input, {{level: {level}, blockSize: 65536}}); "
                "return base64(frame)"))
            checks.equal(f"frame of {name} at level {level}", frame, tools.reference(content, level, "64K"))
        checks.equal(f"lz4 restores {name}", tools.lz4("-dc", content=frame), content)
        checks.equal(f"restored {name}", from_base64(page.evaluate("base64(await h.decompressLz4(frame))")), content)
    content = site.data["levels"] = prose(20000, seed=5)
    for level in range(1, 13):
        frame = from_base64(page.evaluate(f"base64(await h.compressLz4(await data('levels'), {{level: {level}}}))"))
        checks.equal(f"frame at level {level}", frame, tools.reference(content, level, "256K"))
    # Several batches, a block cut at each of them, and the last byte apart.
    content = site.data["batches"] = prose(150_000, seed=6) + b"z"
    for batch in (1, 65536, 131072):
        frame = from_base64(page.evaluate(
            f"base64(await h.compressLz4(await data('batches'), {{level: 1, blockSize: 65536, batchBytes: {batch}}}))"))
        checks.equal(f"frame in batches of {batch}", frame, tools.reference(content, 1, "64K"))
    checks.equal("content checksum", tools.lz4("-dc", content=from_base64(page.evaluate(
        "base64(await h.compressLz4(await data('levels'), {contentChecksum: true, blockChecksums: false}))"))),
        site.data["levels"])


def frames_of_others_are_restored(checks, page, site, tools):
    content = prose(300_000, seed=8)
    frames = {
        "lz4 -1": tools.lz4("-1", "-c", content=content),
        "lz4 -9 in blocks of 64 KB": tools.lz4("-9", "-B4", "-BX", "-c", content=content),
        "linked blocks": tools.lz4("-3", "-B4", "-BD", "-c", content=content),
        "legacy": tools.lz4("-l", "-c", content=content),
        "random, stored": None,
        "skippable, then two frames": None,
    }
    noise = random.Random(3).randbytes(150_000)
    frames["random, stored"] = tools.lz4("-B4", "-c", content=noise)
    frames["skippable, then two frames"] = struct.pack("<II", 0x184D2A50, 70000) + b"s" * 70000 + frames["lz4 -1"] * 2
    wanted = dict.fromkeys(frames, content) | {"random, stored": noise, "skippable, then two frames": content * 2}
    for name, frame in frames.items():
        site.data["frame"] = frame
        for batch in (65536, 8 << 20):
            restored = from_base64(page.evaluate(f"base64(await h.decompressLz4(await data('frame'), {{batchBytes: {batch}}}))"))
            checks.equal(f"{name}, in batches of {batch}", restored, wanted[name])


def matches_equal_twins(checks, page, site, tools):
    chooser = random.Random(9)
    inputs = {
        "prose": prose(9000, seed=2), "equal": b"q" * 1500, "noise": chooser.randbytes(1500), "one": b"1", "none": b"",
        "period": chooser.randbytes(700) * 3,
    }
    site.data.update(inputs)
    cases = [
        ("coop_stitch", ""), ("coop_stitch:top_k=8:stitch=off", "topK: 8, stitch: false"),
        ("coop_stitch:window_size=512:stride=512:near_range=32", "windowSize: 512, stride: 512, nearRange: 32"),
        ("lazy_scan", ""), ("window_index", ""), ("hash_chain", ""), ("hash_chain:depth=16", "depth: 16"),
        ("hash_chain:min_match_len=3:literal_cost=5", "minMatchLength: 3, literalCost: 5"),
    ]
    for described, parameters in cases:
        finder = described.split(":")[0]
        parses = ("greedy", "lazy", "optimal") if described == "hash_chain" else ("optimal",)
        for parse in parses:
            for name, content in inputs.items():
                for block in (1 << 20, 3000) if name == "prose" else (1 << 20,):
                    found = from_base64(page.evaluate(
                        f"const matcher = new h.LZSSMatcher(await h.requestDevice(), {{finder: '{finder}', parse: '{parse}', "
                        f"blockSize: {block}, {parameters}}}); await matcher.initialize(); "
                        f"const list = await matcher.findMatchWords(await data('{name}')); matcher.destroy(); return words(list)"))
                    checks.equal(f"matches of {described}, {parse}, in {name} by {block}", found,
                                 tools.matches(described, parse, block, content))
    objects = page.evaluate(
        "const matcher = new h.LZSSMatcher(await h.requestDevice()); const input = await data('prose'); "
        "const list = await matcher.findMatches(input), flat = await matcher.findMatchWords(input); "
        "return list.length * 3 === flat.length && list.every((m, i) => m.position === flat[3 * i] && m.offset === flat[3 * i + 1] "
        "&& m.length === flat[3 * i + 2] && Object.keys(m).join() === 'position,offset,length')")
    checks.true("objects are the words", objects)
    judged = page.evaluate("const matcher = new h.LZSSMatcher(await h.requestDevice()); return matcher.evaluate(await data('prose'))")
    size = len(inputs["prose"])
    told = json.loads(subprocess.run([tools.hemstitch, "evaluate", "--json", "--finder", "coop_stitch", tools.file(inputs["prose"])],
                                     check=True, capture_output=True).stdout)["rows"][0]
    for ours, theirs in (("found", told), ("withoutStitch", told["without_stitch"])):
        checks.equal(f"judged, {ours}", judged[ours],
                     {"costBits": 9 * theirs["literals"] + 25 * theirs["matches"], "matchedBytes": theirs["matched_bytes"],
                      "matches": theirs["matches"], "literals": theirs["literals"]})
    checks.true("the optimum", abs(judged["optimum"]["costBits"] / (8 * size) - told["optimum_4k"]["cost"]) < 1e-5, judged)
    checks.true("probes", abs(judged["probes"] / size / told["a_byte"]["probes"] - 1) < 1e-4, judged)
    checks.true("comparisons", abs(judged["byteComparisons"] / size / told["a_byte"]["byte_comparisons"] - 1) < 1e-4, judged)
    checks.true("matches are verified", judged["verified"], judged)


def wrong_use_is_told(checks, page, site, _):
    def fails(what, call, status, *words):
        failure = page.evaluate(f"failure(async () => {{ {call} }})")
        message = failure and failure["message"]
        checks.true(what, failure is not None and failure.get("status") == status and all(word in message for word in words),
                    failure)

    site.data["some"] = prose(3000)
    new = "new h.LZSSMatcher(await h.requestDevice(), "
    fails("level", "await h.compressLz4(await data('some'), {level: 13})", 100, "level is 13", "1 to 12")
    fails("block size", "await h.compressLz4(await data('some'), {blockSize: 5})", 100, "64K")
    fails("length", f"await {new}{{minMatchLength: 2}}).initialize()", 100, "min_match_len is 2")
    fails("no number", f"await {new}{{topK: 'many'}}).initialize()", 100, "topK")
    fails("no parameter", f"await {new}{{topk: 3}}).initialize()", 100, "'topk'")
    fails("no finder", f"await {new}{{finder: 'best'}}).initialize()", 100, "best", "coop_stitch")
    fails("no shader", f"await {new}{{finder: 'brute_force'}}).findMatches(await data('some'))", 100, "no WebGPU shader")
    fails("no parse", f"await {new}{{parse: 'none'}}).initialize()", 100, "greedy")
    fails("costs", f"await {new}{{literalCost: 26}}).initialize()", 100, "literal_cost")
    fails("blocks", f"await {new}{{blockSize: 1e9}}).findMatches(await data('some'))", 100, "maxStorageBufferBindingSize")
    failure = page.evaluate("failure(() => h.compressLz4('text'))")
    checks.equal("no bytes", failure["name"], "TypeError")
    small = ("const device = await h.requestDevice(); const limits = {}; "
             "for (const name in device.limits) limits[name] = device.limits[name]; ")
    fails("a limit that is too small", small + "limits.maxStorageBuffersPerShaderStage = 4; const other = new Proxy(device, {get: (d, n) => "
          "n === 'limits' ? limits : typeof d[n] === 'function' ? d[n].bind(d) : d[n]}); "
          "await h.compressLz4(await data('some'), {device: other})", 500, "maxStorageBuffersPerShaderStage is 4", "8")
    fails("a binding that is too small", small + "limits.maxStorageBufferBindingSize = 65536; const other = new Proxy(device, "
          "{get: (d, n) => n === 'limits' ? limits : typeof d[n] === 'function' ? d[n].bind(d) : d[n]}); "
          "await h.compressLz4(await data('prose_65536'), {device: other})", 100, "maxStorageBufferBindingSize", "65536")


def damage_is_told(checks, page, site, tools):
    frame = tools.lz4("-B4", "-BX", "--content-size", "-c", content=prose(150_000))
    site.data["good"] = frame

    def failure_of(content):
        site.data["damaged"] = content
        return page.evaluate("failure(async () => h.decompressLz4(await data('damaged')))")

    for size in (0, 1, 3, 4, 6, 10, 15, 18, 19, 200, len(frame) // 2, len(frame) - 1):
        failure = failure_of(frame[:size])
        # What ends before the first header is whole is no frame that anybody knows.
        checks.true(f"cut to {size} bytes", failure and failure["status"] in (200, 300) and "byte" in failure["message"], failure)
    changed = bytearray(frame)
    changed[40000] ^= 1
    failure = failure_of(bytes(changed))
    checks.true("a changed byte", failure and failure["status"] == 304 and "frame 1, block 2, byte " in failure["message"], failure)
    # Without checksums the tokens decide: no crash and no hang, whatever stands there.
    bare = bytearray(tools.lz4("-B4", "--no-frame-crc", "-c", content=prose(66_000)))
    chooser = random.Random(4)
    verdicts = []
    for _ in range(25):
        mutated = bytearray(bare)
        for _ in range(chooser.randint(1, 4)):
            mutated[chooser.randrange(7, len(mutated))] = chooser.randrange(256)
        site.data["damaged"] = bytes(mutated)
        ours = page.evaluate("let r = null; try { r = base64(await h.decompressLz4(await data('damaged'))); } "
                             "catch (error) { if (error.status < 200 || error.status > 307) throw error; } return r")
        theirs = subprocess.run([tools.hemstitch, "--backend", "reference", "-dc"], input=bytes(mutated), capture_output=True)
        verdicts.append(ours is not None)
        checks.equal("the same verdict on mutated bytes", from_base64(ours) if ours is not None else None,
                     theirs.stdout if theirs.returncode == 0 else None)
    checks.true("some of them were damaged", not all(verdicts), verdicts)
    # The first damaged block is the one that is told, also where the next one is found first.
    blocks = tools.lz4("-B4", "-BX", "--no-frame-crc", "-c", content=prose(140_000))
    first_bytes = int.from_bytes(blocks[7:11], "little")
    both = bytearray(blocks)
    both[11 + first_bytes - 3] ^= 0x55
    both[11 + first_bytes + 4 + 4 + 200] ^= 0x55
    failure = failure_of(bytes(both))
    checks.true("the first of two", failure and "block 1" in failure["message"], failure)
    failure = failure_of(frame + b"not a frame")
    checks.true("garbage behind", failure and failure["status"] == 200, failure)
    failure = failure_of(b"\x1f\x8b\x08\x00 gzip")
    checks.true("another format", failure and failure["status"] in (200, 201), failure)
    # A header that declares 2^50 bytes, of a frame that has few.
    huge = bytearray(tools.reference(b"few bytes", 1, "64K"))
    huge[6:14] = (1 << 50).to_bytes(8, "little")
    site.data["damaged"] = bytes(huge)
    failure = page.evaluate("failure(async () => h.decompressLz4(await data('damaged'), {verifyChecksums: false}))")
    checks.true("a declared size takes no memory", failure and failure["status"] == 306, failure)
    checks.equal("and the next call works", from_base64(page.evaluate("base64(await h.decompressLz4(await data('good')))")),
                 prose(150_000))


def gzip_equals_reference(checks, page, site, tools):
    # Sizes around a block of LZ4 are ordinary ones here; those around a block of BGZF follow.
    for name, content in shapes().items():
        if name.startswith(("prose_614", "prose_6553")):
            continue
        site.data[name] = content
        for level, kind in ((1, "bgzf"), (6, "gzip")):
            member = from_base64(page.evaluate(
                f"window.member = await h.compressGzip(await data('{name}'), {{level: {level}, bgzf: {str(kind == 'bgzf').lower()}}}); "
                "return base64(member)"))
            checks.equal(f"{kind} of {name} at level {level}", member, tools.reference_gzip(content, level, kind))
            checks.equal(f"restored {kind} of {name}", from_base64(page.evaluate("base64(await h.decompressGzip(member))")), content)
        checks.equal(f"Python's gzip restores {name}", gzip.decompress(member), content)
    for level in (3, 9, 12):
        content = site.data["levels"] = prose(20000, seed=5)
        checks.equal(f"gzip at level {level}", from_base64(page.evaluate(f"base64(await h.compressGzip(await data('levels'), {{level: {level}}}))")),
                     tools.reference_gzip(content, level, "gzip"))
    # Blocks are of 1 MB and refer to the 32 KB before, in the same batch or the one before; the last one may be a byte.
    for size, batch in ((1 << 20, 1 << 20), ((1 << 20) + 1, 1 << 20), ((1 << 20) + 5000, 4 << 20)):
        content = site.data["batches"] = (prose(400_000, seed=6) * 3)[:size]
        member = from_base64(page.evaluate("base64(await h.compressGzip(await data('batches'), {level: 1, batchBytes: %d}))" % batch))
        checks.equal(f"gzip of {size} bytes in batches of {batch}", member, tools.reference_gzip(content, 1, "gzip"))
    for size in (65279, 65280, 65281):
        content = site.data["batches"] = prose(size, seed=6)
        member = from_base64(page.evaluate("base64(await h.compressGzip(await data('batches'), {bgzf: true, batchBytes: 1}))"))
        checks.equal(f"BGZF of {size} bytes in batches", member, tools.reference_gzip(content, 6, "bgzf"))


def gzip_of_others_is_restored(checks, page, site, tools):
    content = prose(700_000, seed=12)
    of_tool = subprocess.run(["gzip", "-9c"], input=content, check=True, capture_output=True).stdout
    named = b"\x1f\x8b\x08\x1a" + bytes(6) + b"name\0" + b"comment\0"
    named += struct.pack("<H", zlib.crc32(named) & 0xFFFF) + of_tool[10:]
    stored = zlib.compressobj(0, wbits=31)
    bgzf = tools.reference_gzip(content, 6, "bgzf")
    members = {
        "gzip -9": (of_tool, content), "name, comment and checksum of the header": (named, content),
        "stored blocks": (stored.compress(content) + stored.flush(), content),
        "members, and zeros behind": (of_tool + gzip.compress(b"") + of_tool + bytes(600), content * 2),
        "BGZF": (bgzf, content), "BGZF, then an ordinary member": (bgzf + of_tool, content * 2),
        "BGZF without its end": (bgzf[:-28], content),
        "zeros": (gzip.compress(bytes(3_000_000)), bytes(3_000_000)),
    }
    for name, (member, wanted) in members.items():
        site.data["member"] = member
        for batch in (65536, 8 << 20):
            restored = from_base64(page.evaluate(f"base64(await h.decompressGzip(await data('member'), {{batchBytes: {batch}}}))"))
            checks.equal(f"{name}, in batches of {batch}", restored, wanted)


def damaged_gzip_is_told(checks, page, site, tools):
    content = prose(150_000, seed=13)
    plain, bgzf = gzip.compress(content), tools.reference_gzip(content, 6, "bgzf")

    def failure_of(member):
        site.data["damaged"] = member
        return page.evaluate("failure(async () => h.decompressGzip(await data('damaged')))")

    for member in (plain, bgzf[:-28]):
        for size in (0, 1, 3, 9, 10, 17, 19, 200, len(member) // 2, len(member) - 9, len(member) - 1):
            failure = failure_of(member[:size])
            checks.true(f"cut to {size} of {len(member)} bytes", failure and failure.get("status") in (200, 300) and
                        "byte" in failure["message"], failure)
    for member, places, status in ((plain, (-8,), 305), (plain, (-4,), 306), (bgzf, (-28 - 8,), 304), (bgzf, (-28 - 4,), 306)):
        changed = bytearray(member)
        for place in places:
            changed[place] ^= 1
        failure = failure_of(bytes(changed))
        checks.true(f"byte {places} changed", failure and failure.get("status") == status and "frame 1" in failure["message"], failure)
    failure = failure_of(plain + b"not gzip")
    checks.true("garbage behind", failure and failure["status"] == 200, failure)
    failure = failure_of(tools.lz4("-c", content=b"lz4"))
    checks.true("another format", failure and failure["status"] in (200, 201), failure)
    # The tool's verdict on whatever stands there, and its content.
    chooser = random.Random(14)
    verdicts = []
    for member in (gzip.compress(content[:20000]), tools.reference_gzip(content[:70000], 6, "bgzf")):
        for _ in range(15):
            mutated = bytearray(member)
            for _ in range(chooser.randint(1, 3)):
                mutated[chooser.randrange(len(mutated))] = chooser.randrange(256)
            site.data["damaged"] = bytes(mutated)
            ours = page.evaluate("let r = null; try { r = base64(await h.decompressGzip(await data('damaged'))); } "
                                 "catch (error) { if (error.status < 200 || error.status > 307) throw error; } return r")
            theirs = subprocess.run([tools.hemstitch, "--backend", "reference", "--format", "gzip", "-dc"], input=bytes(mutated),
                                    capture_output=True)
            verdicts.append(ours is not None)
            checks.equal("the same verdict on mutated gzip", from_base64(ours) if ours is not None else None,
                         theirs.stdout if theirs.returncode == 0 else None)
    checks.true("some of them were damaged", not all(verdicts), verdicts)
    # A stream of more blocks than a device is given time for, in a member of BGZF: the processor restores it.
    data = b"\x00\x00\x00\xff\xff" * 12000 + zlib.compressobj(9, wbits=-15).flush()
    header = b"\x1f\x8b\x08\x04" + bytes(5) + b"\xff\x06\0BC\x02\0" + struct.pack("<H", 18 + len(data) + 8 - 1)
    site.data["damaged"] = header + data + bytes(8) + bgzf
    checks.equal("thousands of blocks without content", from_base64(page.evaluate("base64(await h.decompressGzip(await data('damaged')))")),
                 content)


def gzip_streams_are_bounded(checks, page, site, tools):
    site.data["long"] = (prose(256 * KB, seed=15) * 5)[:1_150_000]
    result = page.evaluate("""
      const [counts, device] = counting(await h.requestDevice());
      const long = await data('long');
      const equal = [];
      for (const bgzf of [false, true]) {
        // A batch is a block of 1 MB, or four of BGZF: two and three batches.
        const input = bgzf ? long.subarray(0, 600_000) : long;
        const options = {device, batchBytes: 262144, level: 1, bgzf};
        const back = new Blob([input]).stream().pipeThrough(new h.GzipCompressionStream(options))
          .pipeThrough(new h.GzipDecompressionStream(options));
        let at = 0, same = true;
        for (const reader = back.getReader();;) {
          const {value, done} = await reader.read();
          if (done) break;
          for (let i = 0; i < value.length; i++) if (value[i] !== input[at + i]) same = false;
          at += value.length;
        }
        equal.push(same && at === input.length);
      }
      const abort = new AbortController();
      const cancelled = await failure(() => h.compressGzip(long, {device, batchBytes: 262144, level: 1, signal: abort.signal,
        onProgress: () => abort.abort()}));
      return {equal, cancelled, ...counts}
    """, timeout=200)
    checks.equal("what comes out is what went in", result["equal"], [True, True])
    checks.equal("cancelled", (result["cancelled"] or {}).get("name"), "AbortError")
    checks.true("device memory is that of two batches", result["most"] < 90 << 20, result["most"])
    checks.equal("no buffer is left", result["live"], 0)


def streams_are_bounded(checks, page, site, tools):
    content = site.data["long"] = prose(256 * KB, seed=11) * 9
    result = page.evaluate("""
      const [counts, device] = counting(await h.requestDevice());
      const input = await data('long');
      const options = {device, batchBytes: 262144, blockSize: 65536, level: 1};
      const source = new ReadableStream({start(c) {
        for (let i = 0; i < input.length; i += 100000) c.enqueue(input.subarray(i, i + 100000));
        c.close();
      }});
      const sizes = [], parts = [];
      const watch = new TransformStream({transform(piece, c) { sizes.push(piece.length); parts.push(piece.slice()); c.enqueue(piece); }});
      const back = source.pipeThrough(new h.Lz4CompressionStream(options)).pipeThrough(watch)
        .pipeThrough(new h.Lz4DecompressionStream(options));
      let at = 0, equal = true;
      for (const reader = back.getReader();;) {
        const {value, done} = await reader.read();
        if (done) break;
        for (let i = 0; i < value.length; i++) if (value[i] !== input[at + i]) equal = false;
        at += value.length;
      }
      window.frame = new Uint8Array(await new Blob(parts).arrayBuffer());
      return {equal: equal && at === input.length, largest: Math.max(...sizes), pieces: sizes.length, ...counts, frame: base64(frame)}
    """, timeout=200)
    checks.true("what comes out is what went in", result["equal"], "")
    checks.true("pieces are batches", result["largest"] < 300_000 and result["pieces"] >= 9, result["largest"])
    checks.true("device memory is that of two batches", result["most"] < 16 << 20, result["most"])
    checks.equal("no buffer is left", result["live"], 0)
    checks.equal("lz4 restores the stream", tools.lz4("-dc", content=from_base64(result["frame"])), content)
    failure = page.evaluate("""failure(async () => {
      const cut = frame.subarray(0, frame.length - 9);
      await new Response(new Blob([cut]).stream().pipeThrough(new h.Lz4DecompressionStream())).arrayBuffer();
    })""")
    checks.true("a stream that ends early", failure is not None, failure)


def calls_are_cancelled_and_freed(checks, page, site, _):
    site.data["some"] = prose(200_000)
    result = page.evaluate("""
      const [counts, device] = counting(await h.requestDevice());
      const abort = new AbortController();
      const seen = [];
      const failed = await failure(async () => h.compressLz4(await data('some'), {device, batchBytes: 65536, blockSize: 65536,
        signal: abort.signal, onProgress: p => { seen.push(p.inputBytes); abort.abort(); }}));
      const matcher = new h.LZSSMatcher(device, {finder: 'hash_chain'});
      await matcher.findMatches(await data('some'));
      const kept = counts.live;
      const both = await Promise.all([matcher.findMatchWords(await data('some')), matcher.findMatchWords(await data('some'))]);
      const running = failure(async () => matcher.findMatches(await data('some')));
      matcher.destroy();
      const stopped = await running;
      const after = await failure(async () => matcher.findMatches(new Uint8Array(9)));
      // The device is its owner's.
      const encoder = device.createBuffer({size: 16, usage: GPUBufferUsage.COPY_DST});
      encoder.destroy();
      return {failed, seen: seen.length, kept, live: counts.live, same: words(both[0]) === words(both[1]), stopped, after}
    """)
    checks.equal("cancelled", result["failed"]["name"], "AbortError")
    checks.true("after the first batch", 1 <= result["seen"] <= 2, result["seen"])
    checks.true("a matcher keeps its buffers", result["kept"] > 0, result["kept"])
    checks.true("two calls at once", result["same"], "")
    checks.true("a call that is under way is rejected", result["stopped"] and "destroyed" in result["stopped"]["message"],
                result["stopped"])
    checks.true("none after destroy()", result["after"] and "destroyed" in result["after"]["message"], result["after"])
    checks.equal("all buffers are gone", result["live"], 0)


def lost_devices_are_told(checks, page, site, _):
    result = page.evaluate("""
      const first = await h.requestDevice();
      const input = await data('some');
      const call = failure(() => h.compressLz4(input, {level: 3, blockSize: 65536, batchBytes: 65536,
        onProgress: () => first.destroy()}));
      const lost = await call;
      const again = await h.compressLz4(input, {level: 1});
      const old = await failure(() => h.compressLz4(input, {device: first}));
      return {lost, again: again.length, old, other: (await h.requestDevice()) !== first}
    """)
    checks.equal("lost", (result["lost"] or {}).get("status"), 501)
    checks.true("the next call has a new device", result["again"] > 0 and result["other"], result)
    checks.equal("a lost device of the caller's", (result["old"] or {}).get("status"), 501)


def workers_do_the_same(checks, page, site, tools):
    frame = page.evaluate("""
      const worker = new Worker('/data/worker.js', {type: 'module'});
      const answer = new Promise((resolve, reject) => { worker.onmessage = e => resolve(e.data); worker.onerror = e => reject(e.message); });
      worker.postMessage(await data('some'));
      const frame = await answer;
      worker.terminate();
      return base64(frame)
    """)
    checks.equal("a worker's frame", from_base64(frame), tools.reference(site.data["some"], 1, "64K"))


def main():
    skip_without_browser()
    web, hemstitch, print_matches = sys.argv[1:]
    checks = Checks()
    site = Site(web)
    site.data["worker.js"] = (b"import * as h from '/hemstitch.js';\n"
                              b"onmessage = async ({data}) => postMessage(await h.compressLz4(data, {level: 1, blockSize: 65536}));\n")
    with tempfile.TemporaryDirectory() as folder:
        tools = Tools(hemstitch, print_matches, pathlib.Path(folder))
        with Browser(WEBGPU, FAST_COMPILER) as browser:
            page = browser.page(site.url + "/test.html")
            page.wait_for("window.h !== undefined")
            for part in (frames_equal_reference, frames_of_others_are_restored, matches_equal_twins, wrong_use_is_told, damage_is_told,
                         calls_are_cancelled_and_freed, lost_devices_are_told, workers_do_the_same, streams_are_bounded,
                         gzip_equals_reference, gzip_of_others_is_restored, damaged_gzip_is_told, gzip_streams_are_bounded):
                start = time.monotonic()
                checks.run(part, page, site, tools)
                print(f"{part.__name__}: {time.monotonic() - start:.1f} s", flush=True)
            checks.equal("messages of the console", page.messages, [])
        # As the browser comes, with its own way to zero workgroup memory.
        with Browser(WEBGPU) as browser:
            page = browser.page(site.url + "/test.html")
            page.wait_for("window.h !== undefined")
            frame = page.evaluate("base64(await h.compressLz4(await data('some'), {level: 3, blockSize: 65536}))")
            checks.equal("without the flag", from_base64(frame), tools.reference(site.data["some"], 3, "64K"))
        with Browser() as browser:
            page = browser.page(site.url + "/test.html")
            page.wait_for("window.h !== undefined")
            frame = page.evaluate("base64(await h.compressLz4(await data('some'), {level: 3, blockSize: 65536}))")
            checks.equal("without a GPU", from_base64(frame), tools.reference(site.data["some"], 3, "64K"))
            failure = page.evaluate("failure(() => h.requestDevice())")
            checks.true("no adapter", failure and failure["status"] == 500 and "driver" in failure["message"], failure)
            failure = page.evaluate("Object.defineProperty(navigator, 'gpu', {value: undefined}); return failure(() => h.requestDevice())")
            checks.true("no WebGPU", failure and failure["status"] == 500 and "https" in failure["message"], failure)
    checks.end()


main()
