#!/usr/bin/env python3
"""The page of examples/web as a person uses it, in headless Chromium: drop, choose, switch, cancel, download, keyboard, phone.

  page_test.py WEB HEMSTITCH    WEB is the folder that holds page/; screenshots are left in WEB/screenshots for people to look at
"""
import base64
import gzip
import pathlib
import subprocess
import sys
import tempfile
import time

from browser import FAST_COMPILER, WEBGPU, Browser
from site_of_tests import Checks, prose, skip_without_browser

SERVE = pathlib.Path(__file__).resolve().parents[2] / "tools/serve-web"
DONE = "document.getElementById('working').hidden"
SHOWN = "!document.getElementById('result').hidden"


def text_of(page, name):
    return page.evaluate(f"document.getElementById('{name}').textContent")


def number_in(text):
    return int(text.split()[0].replace(",", ""))


def dropping_a_file(checks, page, hemstitch, folder):
    content = prose(65536)
    start = time.monotonic()
    page.evaluate("""
      const data = new DataTransfer();
      data.items.add(new File([Uint8Array.from(atob(`%s`), c => c.charCodeAt(0))], '<img src=x onerror=alert(1)>.txt'));
      for (const kind of ['dragover', 'drop'])
        document.getElementById('drop').dispatchEvent(new DragEvent(kind, {dataTransfer: data, bubbles: true, cancelable: true}));
      return 1""" % base64.b64encode(content).decode())
    page.wait_for(SHOWN)
    # Told, and not judged, since tests share their cores: tools/bench-web records it, and bench/minima.json bounds that.
    print(f"first result {time.monotonic() - start:.2f} s after a drop of 64 KB")
    checks.equal("a name is text", text_of(page, "name"), "<img src=x onerror=alert(1)>.txt")
    checks.equal("no element of it", page.evaluate("document.querySelectorAll('img').length"), 0)
    checks.equal("its size", number_in(text_of(page, "sizes")), len(content))
    page.wait_for(DONE, 100)
    frame = page.downloaded("download", folder, ".lz4")
    checks.equal("lz4 restores the download", subprocess.run(["lz4", "-dc"], input=frame, capture_output=True).stdout, content)
    (folder / "input").write_bytes(content)
    reference = subprocess.run([hemstitch, "--backend", "reference", "-3", "-c", folder / "input"], check=True, capture_output=True).stdout
    checks.equal("the download is reference's", frame, reference)
    member = page.downloaded("download-gz", folder, ".gz")
    checks.equal("gzip restores the other download", subprocess.run(["gzip", "-dc"], input=member, capture_output=True).stdout, content)
    reference = subprocess.run([hemstitch, "--backend", "reference", "--format", "gzip", "-3", "-c"], input=content, check=True, capture_output=True).stdout
    checks.equal("it is reference's, too", member, reference)
    checks.true("its size is told", f"As .gz: {len(member):,} bytes, a ratio of {len(content) / len(member):.2f}, in" in text_of(page, "gz"), text_of(page, "gz"))
    checks.equal("six finders", page.evaluate("document.querySelectorAll('#finders tbody tr').length"), 6)
    checks.true("criteria of two finders", page.evaluate("document.querySelectorAll('#criteria dd').length") == 10, text_of(page, "criteria"))
    checks.true("matches are verified", text_of(page, "criteria").count("yes;") == 2, text_of(page, "criteria"))
    checks.true("passes are measured", page.evaluate("document.querySelectorAll('#passes tr').length") > 5, text_of(page, "passes"))
    checks.true("bars", page.evaluate("document.querySelectorAll('#offsets meter').length") > 5, "")
    coloured = page.evaluate("""
      const canvas = document.getElementById('map'), data = canvas.getContext('2d').getImageData(0, 0, canvas.width, canvas.height).data;
      let count = 0;
      for (let i = 3; i < data.length; i += 4) count += data[i] > 0;
      return count / (data.length / 4)""")
    checks.true("most of the map has a match", 0.4 < coloured <= 1, coloured)


def choices_are_followed(checks, page):
    before = text_of(page, "sizes")
    page.evaluate("const s = document.getElementById('level'); s.value = '12'; s.dispatchEvent(new Event('change')); return 1")
    page.wait_for(f"{SHOWN} && document.getElementById('sizes').textContent !== {before!r}")
    size = lambda text: int(text.split("became ")[1].split()[0].replace(",", ""))
    checks.true("level 12 is smaller", size(text_of(page, "sizes")) < size(before), text_of(page, "sizes"))
    page.evaluate("const s = document.getElementById('finder'); s.value = 'window_index'; s.dispatchEvent(new Event('change')); return 1")
    page.wait_for("document.getElementById('map-note').textContent.includes('window_index')")
    # Cancelling, while finders are compared.
    page.wait_for(f"{SHOWN} && !{DONE}")
    page.evaluate("document.getElementById('cancel').click(); return 1")
    checks.true("cancelled", page.evaluate(DONE), "")
    rows = page.evaluate("document.querySelectorAll('#finders tbody tr').length")
    time.sleep(1)
    checks.true("nothing goes on", page.evaluate("document.querySelectorAll('#finders tbody tr').length") <= rows + 1 and
                page.evaluate(DONE), "")
    checks.equal("no problem is told", page.evaluate("document.getElementById('problem').hidden"), True)


def files_are_chosen(checks, page, folder):
    for name, content in {"empty": b"", "one": b"1", "noise": bytes(range(256)) * 3}.items():
        path = folder / name
        path.write_bytes(content)
        page.choose_files("#file", path)
        page.wait_for(f"{SHOWN} && document.getElementById('name').textContent === '{name}'")
        page.wait_for(DONE, 60)
        checks.equal(f"no problem with {name}", text_of(page, "problem"), "")


def the_keyboard_suffices(checks, page):
    page.evaluate("document.querySelector('[data-sample=log]').focus(); return 1")
    page.press("Enter", "\r")
    page.wait_for(f"{SHOWN} && document.getElementById('name').textContent === 'log.sample'")
    page.evaluate("document.getElementById('map').focus(); return 1")
    before = text_of(page, "map-place")
    page.call("Input.dispatchKeyEvent", {"type": "keyDown", "key": "ArrowDown", "windowsVirtualKeyCode": 40})
    checks.true("the map tells a place", text_of(page, "map-place") != before, before)
    unreachable = page.evaluate("[...document.querySelectorAll('button, a, input, select')].filter(e => e.tabIndex < 0).length")
    checks.equal("all controls take the focus", unreachable, 0)
    page.wait_for(DONE, 100)


def it_fits_screens(checks, page, pictures):
    page.screenshot(pictures / "light.png", height=1400)
    page.screenshot(pictures / "dark.png", height=1400, dark=True)
    colours = page.evaluate("getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color")
    page.screenshot(pictures / "phone.png", width=360, height=800, mobile=True)
    checks.true("dark is dark", page.evaluate("getComputedStyle(document.body).backgroundColor + getComputedStyle(document.body).color")
                != colours, colours)
    checks.true("a phone's width suffices", page.evaluate("document.documentElement.scrollWidth") <= 360,
                page.evaluate("document.documentElement.scrollWidth"))


def main():
    skip_without_browser()
    web, hemstitch = pathlib.Path(sys.argv[1]), sys.argv[2]
    pictures = web / "screenshots"
    pictures.mkdir(exist_ok=True)
    checks = Checks()
    with subprocess.Popen([SERVE, web / "page"], stdout=subprocess.PIPE, text=True) as server, \
            tempfile.TemporaryDirectory() as folder:
        folder = pathlib.Path(folder)
        try:
            url = server.stdout.readline().strip()
            with Browser(WEBGPU, FAST_COMPILER) as browser:
                browser.call("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
                page = browser.page(url)
                page.wait_for("document.documentElement.dataset.ready === 'yes'")
                checks.run(dropping_a_file, page, hemstitch, folder)
                checks.run(choices_are_followed, page)
                checks.run(files_are_chosen, page, folder)
                checks.run(the_keyboard_suffices, page)
                checks.run(it_fits_screens, page, pictures)
                checks.equal("messages of the console", page.messages, [])
                checks.equal("requests to elsewhere", [asked for asked in page.requests if not asked.startswith((url, "blob:"))], [])
                checks.equal("requests", len([asked for asked in page.requests if asked.startswith(url)]), 5)
                blocked = page.evaluate("try { await fetch('/page.css'); return false; } catch { return true; }")
                checks.true("nothing can be fetched", blocked, "")
            with Browser() as browser:
                page = browser.page(url)
                page.wait_for("!document.getElementById('missing').hidden")
                checks.true("a browser without an adapter is told so", "driver" in text_of(page, "missing"), text_of(page, "missing"))
                # It restores all the same.
                content = prose(300_000)
                packed = subprocess.run([hemstitch, "-c"], input=content, capture_output=True, check=True).stdout
                for name, data in (("a.txt.lz4", packed), ("a.txt.gz", gzip.compress(content))):
                    (folder / name).write_bytes(data)
                    browser.call("Browser.setDownloadBehavior", {"behavior": "allow", "downloadPath": str(folder)})
                    page.choose_files("#file", folder / name)
                    page.wait_for(f"document.getElementById('restored-sizes').textContent.startsWith('{name}')")
                    checks.equal(f"{name} is restored", page.downloaded("download-restored", folder, ".txt"), content)
                    (folder / "a.txt").unlink(missing_ok=True)
        finally:
            server.terminate()
    checks.end()


main()
