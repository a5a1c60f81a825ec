"""What the browser's tests share: whether they can run, a server of files and made-up data, checks that go on after a failure."""
import base64
import functools
import http.server
import json
import os
import queue
import random
import sys
import threading
import traceback

import browser


def skip_without_browser():
    """Exit 77: skipped, there is no chromium and HEMSTITCH_REQUIRE does not name web."""
    if browser.find_chromium():
        return
    if "web" in os.environ.get("HEMSTITCH_REQUIRE", "").split(","):
        sys.exit("FAILED: HEMSTITCH_REQUIRE names web, and chromium is not here (tools/setup web installs it)")
    print("skipped: there is no chromium (tools/setup web installs it)")
    sys.exit(77)


PAGE = b"""<!doctype html><meta charset="utf-8"><title>test</title><link rel="icon" href="data:,">
<meta http-equiv="Content-Security-Policy" content="default-src 'self' data:; script-src 'self' 'unsafe-inline' 'wasm-unsafe-eval'">
<script type="module">
  import * as hemstitch from './hemstitch.js';
  window.h = hemstitch;
  window.data = async name => new Uint8Array(await (await fetch('/data/' + name)).arrayBuffer());
  window.base64 = bytes => {
    let text = '';
    for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768));
    return btoa(text);
  };
  window.words = list => base64(new Uint8Array(list.buffer));
  // What a call is rejected with.
  window.failure = async call => {
    try { await call(); } catch (error) { return {name: error.name, message: error.message, status: error.status}; }
    return null;
  };
  // A device that counts its buffers.
  window.counting = device => {
    const counts = {live: 0, bytes: 0, most: 0};
    return [counts, new Proxy(device, {
      get(target, name) {
        const value = target[name];
        if (name === 'createBuffer')
          return descriptor => {
            const buffer = target.createBuffer(descriptor);
            counts.live++;
            counts.bytes += buffer.size;
            counts.most = Math.max(counts.most, counts.bytes);
            const destroy = buffer.destroy.bind(buffer);
            let gone = false;
            buffer.destroy = () => {
              if (!gone) { counts.live--; counts.bytes -= buffer.size; }
              gone = true;
              destroy();
            };
            return buffer;
          };
        return typeof value === 'function' ? value.bind(target) : value;
      },
    })];
  };
</script>"""


class Site:
    """Serves a folder, PAGE at /test.html, and what is put into `data` below /data/. What pages post, as JSON, comes into `reports`."""

    def __init__(self, folder):
        self.data = {}
        self.reports = queue.Queue()
        site = self

        class Handler(http.server.SimpleHTTPRequestHandler):
            def do_GET(self):
                if self.path == "/test.html":
                    body, kind = PAGE, "text/html"
                elif self.path.startswith("/data/"):
                    body = site.data[self.path[6:]]
                    kind = {".js": "text/javascript", ".html": "text/html"}.get(os.path.splitext(self.path)[1], "application/octet-stream")
                else:
                    return super().do_GET()
                self.send_response(200)
                self.send_header("Content-Type", kind)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def do_POST(self):
                site.reports.put(json.loads(self.rfile.read(int(self.headers["Content-Length"]))))
                self.send_response(204)
                self.end_headers()

            def log_message(self, *_):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), functools.partial(Handler, directory=str(folder)))
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        self.url = f"http://127.0.0.1:{self.server.server_port}"


def from_base64(text):
    return base64.b64decode(text)


def prose(size, seed=1):
    """Words with repetitions near and far, as text has them."""
    chooser = random.Random(seed)
    words = ["".join(chooser.choice("etaoinshrdlu") for _ in range(chooser.randint(2, 9))) for _ in range(400)]
    text = bytearray()
    while len(text) < size:
        if len(text) > 2000 and chooser.random() < 0.05:
            begin = chooser.randrange(max(0, len(text) - 60000), len(text) - 100)
            text += text[begin:begin + chooser.randint(20, 90)]
        text += (words[min(int(chooser.expovariate(0.02)), 399)] + chooser.choice([" ", " ", ", ", ".\n"])).encode()
    return bytes(text[:size])


class Checks:
    def __init__(self):
        self.failures = []
        self.count = 0

    def equal(self, what, found, wanted):
        self.count += 1
        if found != wanted:
            if isinstance(found, bytes) and isinstance(wanted, bytes):
                at = next((i for i, (a, b) in enumerate(zip(found, wanted)) if a != b), min(len(found), len(wanted)))
                found, wanted = f"{len(found)} bytes, other ones from {at} on", f"{len(wanted)} bytes"
            self.failures.append(f"{what}: {found!r}, and not {wanted!r}")
            print("FAILED", self.failures[-1], flush=True)

    def true(self, what, holds, found=""):
        self.count += 1
        if not holds:
            self.failures.append(f"{what}: not so: {found}")
            print("FAILED", self.failures[-1], flush=True)

    def run(self, part, *arguments):
        try:
            part(self, *arguments)
        except Exception:
            self.failures.append(part.__name__)
            print(f"FAILED {part.__name__}\n{traceback.format_exc()}", flush=True)

    def end(self):
        print(f"{self.count} checks, {len(self.failures)} failures")
        sys.exit(1 if self.failures else 0)
