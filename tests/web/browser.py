"""Headless Chromium, driven through the DevTools protocol over a pipe: Debian's chromium and the standard library, nothing else.

  with Browser() as browser:
      page = browser.page("http://127.0.0.1:1234/")
      page.evaluate("await something()")   # the value, as JSON has it; a JavaScript error is raised
      page.messages                        # of the console, and what no page caught

https://chromedevtools.github.io/devtools-protocol/ describes methods and events.
"""
import base64
import fcntl
import itertools
import json
import os
import queue
import shutil
import subprocess
import tempfile
import threading
import time

# Of its own accord Chromium gives no adapter on a software driver. No sandbox: containers have no place for it.
FLAGS = ["--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--no-first-run", "--disable-background-networking",
         "--disable-component-update", "--disable-sync", "--disable-extensions", "--mute-audio",
         "--disable-renderer-backgrounding", "--disable-background-timer-throttling"]
WEBGPU = "--enable-unsafe-webgpu"
# SwiftShader takes seconds to compile a shader in which Dawn zeroes workgroup memory in one way, and a tenth of that in the other.
# One run of the tests does without this.
FAST_COMPILER = "--disable-dawn-features=use_vulkan_zero_initialize_workgroup_memory_extension"


def find_chromium():
    return shutil.which("chromium") or shutil.which("chromium-browser")


class JavaScriptError(Exception):
    pass


class Browser:
    def __init__(self, *flags):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        # Chromium reads commands from descriptor 3 and writes to 4. The pipes' own ends are moved out of the way of these first.
        to_browser, self.commands = os.pipe()
        self.answers, from_browser = os.pipe()
        ends = [fcntl.fcntl(end, fcntl.F_DUPFD, 20) for end in (to_browser, from_browser)]
        os.close(to_browser)
        os.close(from_browser)
        # Drivers that other tests name are not for the browser.
        environment = {k: v for k, v in os.environ.items() if k not in ("VK_DRIVER_FILES", "VK_ICD_FILENAMES")}
        command = [find_chromium(), *FLAGS, *flags, "--remote-debugging-pipe", f"--user-data-dir={self.profile.name}"]
        # The shell puts the ends where the browser looks for them; bash, since others know descriptors of one digit alone.
        self.process = subprocess.Popen(
            ["bash", "-c", f'exec "$@" 3<&{ends[0]} 4>&{ends[1]} {ends[0]}<&- {ends[1]}>&-', "bash", *command],
            pass_fds=ends, env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        for end in ends:
            os.close(end)
        self.numbers = itertools.count(1)
        self.waiting = {}
        self.pages = {}
        self.writing = threading.Lock()
        threading.Thread(target=self._read, daemon=True).start()

    def _read(self):
        rest = b""
        while chunk := os.read(self.answers, 1 << 16):
            *messages, rest = (rest + chunk).split(b"\0")
            for text in messages:
                message = json.loads(text)
                if "id" in message:
                    self.waiting.pop(message["id"]).put(message)
                elif message.get("sessionId") in self.pages:
                    self.pages[message["sessionId"]].happened(message["method"], message["params"])
        for answer in list(self.waiting.values()):
            answer.put({"error": {"message": "the browser has ended"}})

    def call(self, method, parameters=None, session=None, timeout=60):
        answer = queue.Queue()
        with self.writing:
            number = next(self.numbers)
            self.waiting[number] = answer
            message = {"id": number, "method": method, "params": parameters or {}}
            if session:
                message["sessionId"] = session
            data = json.dumps(message).encode() + b"\0"
            while data:
                data = data[os.write(self.commands, data):]
        try:
            reply = answer.get(timeout=timeout)
        except queue.Empty:
            raise TimeoutError(f"{method} has no answer after {timeout} s") from None
        if "error" in reply:
            raise RuntimeError(f"{method}: {reply['error']['message']}")
        return reply["result"]

    def page(self, url):
        return Page(self, url)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        try:
            self.call("Browser.close", timeout=10)
            self.process.wait(20)
        except (RuntimeError, TimeoutError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        os.close(self.commands)
        self.profile.cleanup()


class Page:
    def __init__(self, browser, url):
        self.browser = browser
        self.messages = []
        self.requests = []
        self.has_loaded = threading.Event()
        target = browser.call("Target.createTarget", {"url": "about:blank"})["targetId"]
        self.session = browser.call("Target.attachToTarget", {"targetId": target, "flatten": True})["sessionId"]
        browser.pages[self.session] = self
        for domain in ("Page", "Runtime", "Log", "Network", "DOM"):
            self.call(f"{domain}.enable")
        self.open(url)

    def call(self, method, parameters=None, timeout=60):
        return self.browser.call(method, parameters, self.session, timeout)

    def happened(self, method, parameters):
        if method == "Page.loadEventFired":
            self.has_loaded.set()
        elif method == "Runtime.consoleAPICalled":
            words = [str(word.get("value", word.get("description", ""))) for word in parameters["args"]]
            self.messages.append(f"console.{parameters['type']}: {' '.join(words)}")
        elif method == "Runtime.exceptionThrown":
            details = parameters["exceptionDetails"]
            self.messages.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Log.entryAdded":
            entry = parameters["entry"]
            self.messages.append(f"{entry['level']}: {entry['text']} {entry.get('url', '')}")
        elif method == "Network.requestWillBeSent":
            self.requests.append(parameters["request"]["url"])

    def open(self, url):
        self.has_loaded.clear()
        answer = self.call("Page.navigate", {"url": url})
        if answer.get("errorText"):
            raise RuntimeError(f"{url}: {answer['errorText']}")
        if not self.has_loaded.wait(30):
            raise TimeoutError(f"{url} has not loaded after 30 s")

    def evaluate(self, body, timeout=120):
        """The body of an async function, or an expression."""
        if "return" not in body:
            body = f"return {body}"
        result = self.call("Runtime.evaluate",
                           {"expression": f"(async () => {{ {body} }})()", "awaitPromise": True, "returnByValue": True,
                            "userGesture": True}, timeout)
        if "exceptionDetails" in result:
            details = result["exceptionDetails"]
            raise JavaScriptError(details.get("exception", {}).get("description", details["text"]))
        return result["result"].get("value")

    def wait_for(self, condition, timeout=60):
        end = time.monotonic() + timeout
        while not self.evaluate(condition):
            if time.monotonic() > end:
                raise TimeoutError(f"not so after {timeout} s: {condition}")
            time.sleep(0.05)

    def downloaded(self, link, folder, suffix):
        """What a click on a link of the page leaves in the folder of downloads, which Browser.setDownloadBehavior named."""
        self.evaluate(f"document.getElementById('{link}').click(); return 1")
        end = time.monotonic() + 20
        while not (files := [path for path in folder.iterdir() if path.suffix == suffix]):
            if time.monotonic() > end:
                raise TimeoutError(f"no download: {list(folder.iterdir())}")
            time.sleep(0.05)
        return files[0].read_bytes()

    def choose_files(self, selector, *paths):
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", {"nodeId": root, "selector": selector})["nodeId"]
        self.call("DOM.setFileInputFiles", {"nodeId": node, "files": [str(path) for path in paths]})

    def press(self, key, text=""):
        codes = {"Enter": 13, "Tab": 9, " ": 32}
        for kind in ("keyDown", "keyUp"):
            event = {"type": kind, "key": key, "windowsVirtualKeyCode": codes[key]}
            if kind == "keyDown" and text:
                event["text"] = text
            self.call("Input.dispatchKeyEvent", event)

    def screenshot(self, path, width=1200, height=900, dark=False, mobile=False):
        self.call("Emulation.setDeviceMetricsOverride",
                  {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": mobile})
        self.call("Emulation.setEmulatedMedia",
                  {"features": [{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}]})
        data = self.call("Page.captureScreenshot", {"format": "png", "captureBeyondViewport": True})["data"]
        path.write_bytes(base64.b64decode(data))
