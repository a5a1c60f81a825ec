#!/usr/bin/env python3
"""The npm package: packed without a network, checked by tsc, bundled by esbuild, and the bundle run in headless Chromium.

  package_test.py WEB    WEB is the package's folder

Exit 77: skipped, npm, tsc or esbuild is not here, or no chromium, and HEMSTITCH_REQUIRE does not name web. On the module's
size it holds that it, and the files for gzip and for no WebGPU, stay below 60 KB compressed each.
"""
import gzip
import os
import pathlib
import shutil
import subprocess
import sys
import tarfile
import tempfile

from browser import FAST_COMPILER, WEBGPU, Browser
from site_of_tests import Checks, Site, skip_without_browser

MOST_COMPRESSED_BYTES = 60 << 10

USE = """
import {compressGzip, compressLz4, decompressGzip, decompressLz4, decompressZstd, HemstitchError, Lz4CompressionStream, LZSSMatcher, requestDevice} from 'hemstitch';
import type {LZSSMatcherParams, MatchResult} from 'hemstitch';

const params: LZSSMatcherParams = {minMatchLength: 5, maxMatchLength: 258, windowSize: 256, stride: 64, nearRange: 64, topK: 4,
                                   literalCost: 9, matchFixedCost: 25, finder: 'coop_stitch'};
export async function use(bytes: Uint8Array): Promise<[boolean, number]> {
  const frame: Uint8Array = await compressLz4(bytes, {level: 3, onProgress: ({inputBytes}) => void inputBytes.toFixed()});
  const back = await decompressLz4(frame);
  const matcher = new LZSSMatcher(await requestDevice(), params);
  await matcher.initialize();
  const matches: MatchResult[] = await matcher.findMatches(bytes);
  matcher.destroy();
  try {
    await decompressLz4(bytes);
  } catch (error) {
    if (!(error instanceof HemstitchError) || error.status === 0) throw error;
  }
  void new Blob([frame]).stream().pipeThrough(new Lz4CompressionStream({level: 1})).cancel();
  const unzipped = await decompressGzip(await compressGzip(bytes, {level: 1, bgzf: true}));
  const same = (a: Uint8Array): boolean => a.length === bytes.length && a.every((byte, i) => byte === bytes[i]);
  // "stored", as zstd writes it.
  const stored = await decompressZstd(new Uint8Array([0x28, 0xB5, 0x2F, 0xFD, 0x20, 6, 0x31, 0, 0, 0x73, 0x74, 0x6F, 0x72, 0x65, 0x64]));
  return [same(back) && same(unzipped) && new TextDecoder().decode(stored) === 'stored', matches.length];
}
"""


def run(*command, folder):
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True)
    if result.returncode != 0:
        sys.exit(f"FAILED {' '.join(map(str, command))}\n{result.stdout}{result.stderr}")
    return result.stdout


def main():
    missing = [name for name in ("npm", "tsc", "esbuild") if not shutil.which(name)]
    if missing:
        words = f"{', '.join(missing)} not here (tools/setup web installs it)"
        if "web" in os.environ.get("HEMSTITCH_REQUIRE", "").split(","):
            sys.exit(f"FAILED: HEMSTITCH_REQUIRE names web, and {words}")
        print(f"skipped: {words}")
        sys.exit(77)
    skip_without_browser()
    web = pathlib.Path(sys.argv[1]).resolve()
    checks = Checks()
    for name in ("cpu.js", "gzip.js", "hemstitch.js"):
        module = (web / name).read_bytes()
        compressed = len(gzip.compress(module, 9))
        print(f"{name}: {len(module)} bytes, {compressed} compressed")
        checks.true(f"{name} is small", compressed < MOST_COMPRESSED_BYTES, compressed)
    with tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        run("npm", "pack", "--offline", "--cache", folder / "cache", "--pack-destination", folder, web, folder=folder)
        package = next(folder.glob("hemstitch-*.tgz"))
        installed = folder / "node_modules/hemstitch"
        with tarfile.open(package) as archive:
            names = sorted(name.removeprefix("package/") for name in archive.getnames())
            archive.extractall(folder / "unpacked")
        checks.equal("the package's files", names, ["LICENSE", "README.md", "cpu.js", "gzip.js", "hemstitch.d.ts", "hemstitch.js", "package.json"])
        installed.parent.mkdir()
        (folder / "unpacked/package").rename(installed)
        (folder / "use.ts").write_text(USE)
        check_types = ["tsc", "--strict", "--noEmit", "--target", "es2022", "--lib", "es2022,dom,dom.iterable", "--module", "esnext",
                       "--moduleResolution", "node"]
        run(*check_types, "use.ts", folder=folder)
        (folder / "wrong.ts").write_text("import {compressLz4} from 'hemstitch';\nvoid compressLz4('text', {levle: 3});\n")
        wrong = subprocess.run([*check_types, "wrong.ts"], cwd=folder, capture_output=True, text=True)
        checks.true("tsc finds what is wrong", wrong.returncode != 0 and "wrong.ts" in wrong.stdout, wrong.stdout)
        run("esbuild", "use.ts", "--bundle", "--format=esm", "--minify", "--outfile=bundle.js", folder=folder)
        site = Site(folder)
        site.data["bundle.js"] = (folder / "bundle.js").read_bytes()
        (folder / "hemstitch.js").write_bytes(module)
        with Browser(WEBGPU, FAST_COMPILER) as browser:
            page = browser.page(site.url + "/test.html")
            result = page.evaluate("const {use} = await import('/data/bundle.js'); "
                                   "return use(new TextEncoder().encode('a bundle of a bundle of bundles '.repeat(99)))")
            checks.true("the bundle works", result[0] and result[1] > 0, result)
            checks.equal("messages of the console", page.messages, [])
    checks.end()


main()
