#!/usr/bin/env python3
"""tools/serve-web: what it serves, and that nothing outside of its folder is reached, by whatever name."""
import http.client
import os
import pathlib
import socket
import subprocess
import sys
import tempfile

TOOL = pathlib.Path(__file__).resolve().parents[2] / "tools/serve-web"


def main():
    failures = 0

    def check(what, holds):
        nonlocal failures
        if not holds:
            failures += 1
            print("FAILED", what)

    with tempfile.TemporaryDirectory() as top:
        top = pathlib.Path(top)
        folder = top / "page"
        (folder / "sub").mkdir(parents=True)
        (top / "secret").write_text("secret")
        (folder / "index.html").write_text("the page")
        (folder / "a.js").write_text("code")
        (folder / "sub/b.css").write_text("style")
        (folder / ".hidden").write_text("secret")
        (folder / "link").symlink_to("../secret")
        (folder / "linked").symlink_to("..")
        os.mkfifo(folder / "pipe")
        with subprocess.Popen([TOOL, folder], stdout=subprocess.PIPE, text=True) as server:
            try:
                port = int(server.stdout.readline().rsplit(":", 1)[1].strip("/\n"))

                def ask(path, method="GET", host=None):
                    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=10)
                    connection.putrequest(method, path, skip_host=True)
                    connection.putheader("Host", host or f"127.0.0.1:{port}")
                    connection.endheaders()
                    answer = connection.getresponse()
                    return answer.status, answer.read(), answer.headers

                status, body, headers = ask("/")
                check("the page", (status, body) == (200, b"the page") and "html" in headers["Content-Type"])
                check("a script", ask("/a.js")[2]["Content-Type"].startswith("text/javascript"))
                check("a folder's file", ask("/sub/b.css?x=1")[1] == b"style")
                check("HEAD", ask("/", "HEAD")[:2] == (200, b""))
                check("POST", ask("/", "POST")[0] == 501)
                for path in ("/../secret", "/%2e%2e/secret", "/sub/../../secret", "/sub/%2e%2e/%2e%2e/secret", "//secret", "/link",
                             "/linked/secret", "/.hidden", "/pipe", "/sub", "/sub/", "/none", "/..%5csecret", "/%00", "/./index.html",
                             f"/{top}/secret", f"//{top}/secret"):
                    status, body, _ = ask(path)
                    check(path, status == 404 and b"secret" != body)
                check("another host's name", ask("/", host="evil.example")[0] == 404)
                addresses = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
                for address in addresses - {"127.0.0.1"}:
                    if address.startswith("127."):
                        continue
                    with socket.socket() as other:
                        other.settimeout(5)
                        check(f"not at {address}", other.connect_ex((address, port)) != 0)
            finally:
                server.terminate()
    print(f"{failures} failures")
    sys.exit(1 if failures else 0)


main()
