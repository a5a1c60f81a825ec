#!/usr/bin/env python3
"""The browser's module in headless Firefox, whose WGSL compiler is another one: on Mesa's software driver its frames equal the tool's and its
matches the twins', and without WebGPU it says so in words.

  firefox_test.py WEB HEMSTITCH PRINT_MATCHES    WEB is the folder of hemstitch.js

Exit 77: skipped, there is no firefox-esr, or it finds no adapter here; that the module then says so is tested all the same.
"""
import json
import os
import pathlib
import queue
import shutil
import subprocess
import sys
import tempfile

from site_of_tests import Checks, Site, from_base64, prose

DRIVER = pathlib.Path("/usr/share/vulkan/icd.d/lvp_icd.x86_64.json")
WEBGPU = ("dom.webgpu.enabled", "gfx.webgpu.ignore-blocklist")
# Nothing that asks the network or opens pages of its own.
QUIET = {"browser.shell.checkDefaultBrowser": False, "datareporting.policy.dataSubmissionEnabled": False, "toolkit.telemetry.enabled": False,
         "browser.aboutwelcome.enabled": False, "app.update.enabled": False, "network.captive-portal-service.enabled": False,
         "network.connectivity-service.enabled": False, "extensions.getAddons.cache.enabled": False}

MATCHED_BYTES = 9000

PAGE = """<!doctype html><meta charset="utf-8"><title>test</title><link rel="icon" href="data:,">
<script type="module">
  import * as h from './hemstitch.js';
  const base64 = bytes => btoa(Array.from(bytes, byte => String.fromCharCode(byte)).join(''));
  const report = {};
  try {
    const input = new Uint8Array(await (await fetch('/data/input')).arrayBuffer());
    for (const level of [1, 3, 12]) {
      const frame = await h.compressLz4(input, {level, blockSize: 65536});
      report['lz4 ' + level] = base64(frame);
      report['restored ' + level] = base64(await h.decompressLz4(frame));
    }
    for (const bgzf of [false, true]) {
      const member = await h.compressGzip(input, {bgzf});
      report[bgzf ? 'bgzf' : 'gzip'] = base64(member);
      report[bgzf ? 'restored bgzf' : 'restored gzip'] = base64(await h.decompressGzip(member));
    }
    const matcher = new h.LZSSMatcher(await h.requestDevice(), {finder: 'hash_chain', parse: 'optimal'});
    const words = await matcher.findMatchWords(input.subarray(0, MATCHED_BYTES));
    report.matches = base64(new Uint8Array(words.buffer, words.byteOffset, words.byteLength));
    matcher.destroy();
  } catch (error) {
    report.failure = {message: error.message, status: error.status};
  }
  await fetch('/report', {method: 'POST', body: JSON.stringify(report)});
</script>"""


def report_of(site, preferences):
    with tempfile.TemporaryDirectory() as profile:
        lines = [f"user_pref({json.dumps(name)}, {json.dumps(value)});" for name, value in {**QUIET, **preferences}.items()]
        pathlib.Path(profile, "user.js").write_text("\n".join(lines) + "\n")
        environment = os.environ | {"VK_DRIVER_FILES": str(DRIVER), "VK_ICD_FILENAMES": str(DRIVER), "HOME": profile}
        browser = subprocess.Popen(["firefox-esr", "--headless", "--no-remote", "--profile", profile, site.url + "/data/firefox.html"],
                                   env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        try:
            return site.reports.get(timeout=120)
        except queue.Empty:
            raise TimeoutError("Firefox has reported nothing after 120 s") from None
        finally:
            browser.terminate()
            try:
                browser.wait(20)
            except subprocess.TimeoutExpired:
                browser.kill()
                browser.wait()


def main():
    if not shutil.which("firefox-esr"):
        print("skipped: there is no firefox-esr")
        sys.exit(77)
    web, hemstitch, print_matches = sys.argv[1:]
    checks = Checks()
    site = Site(web)
    content = site.data["input"] = prose(100_000, seed=21)
    site.data["firefox.html"] = PAGE.replace("./hemstitch.js", "/hemstitch.js").replace("MATCHED_BYTES", str(MATCHED_BYTES)).encode()
    plain = report_of(site, {name: False for name in WEBGPU})
    failure = plain.get("failure") or {}
    checks.true("without WebGPU it says so", failure.get("status") == 500 and "use a browser that has it" in failure.get("message", ""), plain)

    found = report_of(site, {name: True for name in WEBGPU})
    checks.true("without WebGPU it compresses and restores", from_base64(plain.get("restored gzip", "")) == content, sorted(plain))
    for name in plain.keys() - {"failure"}:
        if name in found:
            checks.equal(f"without WebGPU: {name}", plain[name], found[name])
    if (found.get("failure") or {}).get("status") == 500:
        checks.true("without an adapter it says so", "adapter" in found["failure"]["message"], found["failure"])
        if not checks.failures:
            print(f"skipped: Firefox has no adapter here: {found['failure']['message']}")
            sys.exit(77)
        checks.end()
    checks.equal("no failure", found.get("failure"), None)

    def of_tool(*options):
        return subprocess.run([hemstitch, "--backend", "reference", *options, "-c"], input=content, check=True, capture_output=True).stdout

    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "input")
        file.write_bytes(content)
        for level in (1, 3, 12):
            frame = subprocess.run([hemstitch, "--backend", "reference", f"-{level}", "-B", "64K", "-c", file], check=True,
                                   capture_output=True).stdout
            checks.equal(f"frame at level {level}", from_base64(found.get(f"lz4 {level}", "")), frame)
    for kind in ("gzip", "bgzf"):
        checks.equal(kind, from_base64(found.get(kind, "")), of_tool("--format", kind, "-6"))
    for what in ("1", "3", "12", "gzip", "bgzf"):
        checks.equal(f"restored {what}", from_base64(found.get(f"restored {what}", "")), content)
    with tempfile.TemporaryDirectory() as folder:
        file = pathlib.Path(folder, "input")
        file.write_bytes(content[:MATCHED_BYTES])
        matches = subprocess.run([print_matches, "hash_chain", "optimal", str(1 << 20), file], check=True, capture_output=True).stdout
    checks.true("the twin finds matches", len(matches) > 100)
    checks.equal("matches", from_base64(found.get("matches", "")), matches)
    checks.end()


main()
