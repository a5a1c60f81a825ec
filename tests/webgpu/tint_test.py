#!/usr/bin/env python3
"""Holds every shader against Tint, the WGSL compiler of Chromium: each is compiled, and a pipeline made of each entry point
with its switches (`override`s that are true or false) off and on, and its sizes at their largest.

  tint_test.py PRINT_SHADERS    PRINT_SHADERS is the program of print_shaders.cpp

Needs Debian's chromium, no GPU: it brings a software driver. Exit 77: skipped, there is no chromium and HEMSTITCH_REQUIRE
does not name webgpu.
"""
import json
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "web"))
from browser import FAST_COMPILER, WEBGPU, Browser, find_chromium  # noqa: E402
from site_of_tests import Site  # noqa: E402

COMPILE = """
  const adapter = await navigator.gpu?.requestAdapter();
  if (!adapter) throw new Error('the browser gives no WebGPU adapter');
  const device = await adapter.requestDevice();
  const results = [];
  for (const shader of await (await fetch('/data/shaders')).json()) {
    const module = device.createShaderModule({code: shader.text});
    const messages = (await module.getCompilationInfo()).messages.map(m => `${m.type}, line ${m.lineNum}: ${m.message}`);
    let pipelines = 0;
    for (const entryPoint of shader.entry_points)
      for (const constants of shader.permutations) {
        try {
          await device.createComputePipelineAsync({layout: 'auto', compute: {module, entryPoint, constants}});
          pipelines++;
        } catch (error) { messages.push(`${entryPoint} ${JSON.stringify(constants)}: ${error.message}`); }
      }
    results.push({path: shader.path, pipelines, messages});
  }
  return results;
"""


# Of overrides that are numbers, the largest value that the host gives them.
LARGEST = {"top_k": 16, "list_words": 1024}


def permutations(text):
    """The sets of constants to try: all switches off, each alone on, and all on with sizes at their largest."""
    switches = re.findall(r"^override (\w+): bool", text, re.MULTILINE)
    sizes = re.findall(r"^override (\w+): u32", text, re.MULTILINE)
    if unknown := set(sizes) - set(LARGEST):
        sys.exit(f"FAILED: no largest value is known of {', '.join(unknown)}")
    sets = [{name: int(name == on) for name in switches} for on in [None, *switches]]
    if len(switches) > 1 or sizes:
        sets.append({name: 1 for name in switches} | {name: LARGEST[name] for name in sizes})
    return sets


def main():
    if not find_chromium():
        if "webgpu" in os.environ.get("HEMSTITCH_REQUIRE", "").split(","):
            sys.exit("FAILED: HEMSTITCH_REQUIRE names webgpu, and chromium is not here (tools/setup webgpu-test installs it)")
        print("skipped: there is no chromium (tools/setup webgpu-test installs it)")
        sys.exit(77)
    shaders = json.loads(subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout)
    for shader in shaders:
        shader["permutations"] = permutations(shader["text"])
    site = Site(Path(__file__).parent)
    site.data |= {"empty.html": b"<!doctype html>", "shaders": json.dumps(shaders).encode()}
    with Browser(WEBGPU, FAST_COMPILER) as browser:
        results = browser.page(f"{site.url}/data/empty.html").evaluate(COMPILE, timeout=180)
    messages = [f"{result['path']}: {message}" for result in results for message in result["messages"]]
    # naga wants the `return` behind a loop that never ends by itself, and Tint warns of it.
    wrong = [message for message in messages if ": warning, " not in message]
    count = sum(result["pipelines"] for result in results)
    print("\n".join(messages + [f"{len(results)} shaders, {count} pipelines, {len(wrong)} errors of Tint"]))
    sys.exit(1 if wrong or count == 0 else 0)


main()
