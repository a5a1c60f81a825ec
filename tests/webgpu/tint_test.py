#!/usr/bin/env python3
"""Holds every shader against Tint, the WGSL compiler of Chromium: each is compiled, and a pipeline made of each entry point
with its switches (`override`s that are true or false) off and on, and its sizes at their largest.

  tint_test.py PRINT_SHADERS    PRINT_SHADERS is the program of print_shaders.cpp

Needs Debian's chromium, no GPU: it brings a software driver. Exit 77: skipped, there is no chromium and HEMSTITCH_REQUIRE
does not name webgpu.
"""
import http.server
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import threading

PAGE = """<!doctype html><script>
const report = body => fetch('/report', {method: 'POST', body: JSON.stringify(body)});
(async () => {
  try {
    const adapter = await navigator.gpu?.requestAdapter();
    if (!adapter) return report({failure: 'the browser gives no WebGPU adapter'});
    const device = await adapter.requestDevice();
    const results = [];
    for (const shader of await (await fetch('/shaders')).json()) {
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
    await report({results});
  } catch (error) { await report({failure: String(error)}); }
})();
</script>"""


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
    chromium = shutil.which("chromium") or shutil.which("chromium-browser")
    if not chromium:
        if "webgpu" in os.environ.get("HEMSTITCH_REQUIRE", "").split(","):
            sys.exit("FAILED: HEMSTITCH_REQUIRE names webgpu, and chromium is not here (tools/setup webgpu-test installs it)")
        print("skipped: there is no chromium (tools/setup webgpu-test installs it)")
        sys.exit(77)
    shaders = json.loads(subprocess.run([sys.argv[1]], check=True, capture_output=True).stdout)
    for shader in shaders:
        shader["permutations"] = permutations(shader["text"])
    answer = []
    answered = threading.Event()

    class Handler(http.server.BaseHTTPRequestHandler):
        def reply(self, kind, body):
            self.send_response(200)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def do_GET(self):
            if self.path == "/shaders":
                self.reply("application/json", json.dumps(shaders).encode())
            else:
                self.reply("text/html", PAGE.encode())

        def do_POST(self):
            answer.append(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
            self.reply("text/plain", b"")
            answered.set()

        def log_message(self, *_):
            pass

    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        # Drivers that the other tests name are not for the browser.
        environment = {k: v for k, v in os.environ.items() if k not in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")}
        browser = subprocess.Popen(
            [chromium, "--headless=new", "--no-sandbox", "--enable-unsafe-webgpu", "--disable-dev-shm-usage",
             f"--user-data-dir={profile}", f"http://127.0.0.1:{server.server_port}/"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, env=environment)
        try:
            came = answered.wait(180)
        finally:
            browser.terminate()
            _, errors = browser.communicate(timeout=30)
    if not came:
        sys.exit(f"FAILED: the browser gave no answer in 180 s\n{errors.decode(errors='replace')[-2000:]}")
    if "failure" in answer[0]:
        sys.exit(f"FAILED: {answer[0]['failure']}")
    messages = [f"{result['path']}: {message}" for result in answer[0]["results"] for message in result["messages"]]
    # naga wants the `return` behind a loop that never ends by itself, and Tint warns of it.
    wrong = [message for message in messages if ": warning, " not in message]
    count = sum(result["pipelines"] for result in answer[0]["results"])
    print("\n".join(messages + [f"{len(answer[0]['results'])} shaders, {count} pipelines, {len(wrong)} errors of Tint"]))
    sys.exit(1 if wrong or count == 0 else 0)


main()
