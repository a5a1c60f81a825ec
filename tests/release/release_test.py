#!/usr/bin/env python3
"""tools/release in a repository made here, with stand-ins for the checks, the packages and their test: where it stops, what it lists, and what it says of
where the files come from. That is signed and checked by the commands of docs/packagers.md.
"""

import hashlib
import json
import os
import re
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CHANGES = "# Changes\n\n## 1.2.0 (2026-01-31)\n\n- New.\n\n## 1.1.0 (2025-01-31)\n\n- Old.\n"
PACKAGE = """mkdir -p build/packages build/python
echo deb > build/packages/hemstitch_1.2.0-1_amd64.deb; echo tar > build/packages/hemstitch-1.2.0.tar.xz; echo gz > build/packages/hemstitch-1.2.0-linux.tar.gz;
echo '{"packages": [{"name": "hemstitch", "versionInfo": "1.2.0"}, {"name": "dpkg", "versionInfo": "1"}, {"name": "no-package", "versionInfo": "3.4"}]}' > build/packages/hemstitch-1.2.0.spdx.json
echo sums > build/packages/SHA256SUMS; echo wheel > build/python/hemstitch-1.2.0-py3-none-any.whl; echo sdist > build/python/hemstitch-1.2.0.tar.gz"""


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("tools", "tests/package", "include/hemstitch"):
            (self.root / name).mkdir(parents=True)
        for name in ("release", "provenance.py"):
            shutil.copy(ROOT / "tools" / name, self.root / "tools")
        self.script("tools/check", "")
        self.script("tools/debian13", "")
        self.script("tools/package", PACKAGE)
        self.script("tests/package/installed_packages.sh", "")
        self.write("include/hemstitch/version.h", '#define HEMSTITCH_VERSION_STRING "1.2.0"\n')
        self.write("CHANGELOG.md", CHANGES)
        self.write(".gitignore", "/build/\n/ran\n")
        self.git("init", "--quiet")
        self.commit()

    def write(self, name, text):
        (self.root / name).write_text(text)

    def script(self, name, body):
        """A stand-in that notes that it ran."""
        self.write(name, f"#!/bin/sh\nset -e\necho {name} >> ran\n{body}\n")
        (self.root / name).chmod(0o755)

    def git(self, *arguments):
        identity = ("-c", "user.name=test", "-c", "user.email=test@example.invalid", "-c", "commit.gpgsign=false", "-c", "tag.gpgsign=false")
        return subprocess.run(["git", *identity, *arguments], cwd=self.root, check=True, capture_output=True, text=True).stdout.strip()

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--message", "test")

    def release(self):
        return subprocess.run([self.root / "tools" / "release"], capture_output=True, text=True, check=False)

    def ran(self):
        return (self.root / "ran").read_text().split() if (self.root / "ran").exists() else []

    def stops(self, words, ran=()):
        done = self.release()
        self.assertNotEqual(done.returncode, 0)
        self.assertIn(words, done.stderr)
        self.assertEqual(self.ran(), list(ran))
        self.assertFalse((self.root / "build" / "packages" / "RELEASE").exists())

    def test_everything_runs_and_what_to_publish_is_listed(self):
        done = self.release()
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertEqual(self.ran(), ["tools/check", "tools/debian13", "tools/package", "tests/package/installed_packages.sh"])
        self.assertEqual((self.root / "build" / "packages" / "RELEASE").read_text(), done.stdout)
        self.assertIn(f"Hemstitch 1.2.0, commit {self.git('rev-parse', 'HEAD')}", done.stdout)
        self.assertIn("git tag --sign v1.2.0", done.stdout)
        for name in ("packages/hemstitch_1.2.0-1_amd64.deb (4", "packages/hemstitch-1.2.0.tar.xz (4", "packages/hemstitch-1.2.0-linux.tar.gz (3", "packages/hemstitch-1.2.0.spdx.json (", "packages/hemstitch-1.2.0.intoto.json (",
                     "packages/SHA256SUMS (5", "python/hemstitch-1.2.0-py3-none-any.whl (6", "python/hemstitch-1.2.0.tar.gz (6"):
            self.assertRegex(done.stdout, re.escape(f"  build/{name}") + r"\d* bytes\)\n")
        self.assertIn("- New.", done.stdout)
        self.assertNotIn("- Old.", done.stdout)

    def published(self):
        """The files that are listed, by name."""
        return {Path(name).name: self.root / name for name in re.findall(r"^  (build/\S+) \(\d+ bytes\)$", self.release().stdout, re.MULTILINE)}

    def test_a_statement_says_where_the_files_come_from(self):
        files = self.published()
        statement = json.loads(files.pop("hemstitch-1.2.0.intoto.json").read_text())
        self.assertEqual((statement["_type"], statement["predicateType"]), ("https://in-toto.io/Statement/v1", "https://slsa.dev/provenance/v1"))
        self.assertEqual({subject["name"]: subject["digest"] for subject in statement["subject"]},
                         {name: {"sha256": hashlib.sha256(file.read_bytes()).hexdigest()} for name, file in files.items()})
        self.assertEqual(len(files), 7)
        definition, details = statement["predicate"]["buildDefinition"], statement["predicate"]["runDetails"]
        self.assertRegex(definition["buildType"], "^https://")
        self.assertRegex(details["builder"]["id"], "^https://")
        self.assertEqual(definition["externalParameters"], {"command": "tools/release", "version": "1.2.0", "ref": "refs/tags/v1.2.0"})
        dependencies = {one["name"]: one for one in definition["resolvedDependencies"]}
        self.assertEqual(dependencies["source"]["digest"], {"gitCommit": self.git("rev-parse", "HEAD")})
        self.assertEqual(dependencies["no-package"]["uri"], "pkg:generic/no-package@3.4")
        if shutil.which("dpkg-query"):
            self.assertRegex(dependencies["dpkg"]["uri"], r"^pkg:deb/debian/dpkg@\d[^?]*\?arch=\w+$")
        for text in (os.uname().nodename, str(self.root)):
            self.assertNotIn(text, json.dumps(statement))

    @unittest.skipUnless(shutil.which("ssh-keygen"), "no ssh-keygen")
    def test_the_commands_of_the_page_sign_and_check(self):
        page = (ROOT / "docs" / "packagers.md").read_text().split("## Signatures")[1].split("\n## ")[0]
        sign, check = (block.replace("version=0.1.0", "version=1.2.0") for block in re.findall(r"```sh\n(.*?)```", page, re.DOTALL))
        home, place = self.root / "home", self.root / "published"
        (home / ".ssh").mkdir(parents=True)
        place.mkdir()
        for file in self.published().values():
            shutil.copy(file, place)
        subprocess.run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-f", home / ".ssh" / "id_ed25519"], check=True)
        key = (home / ".ssh" / "id_ed25519.pub").read_text()
        (place / "allowed_signers").write_text(f'releases@hemstitch.invalid namespaces="hemstitch" {key}')

        def run(commands):
            return subprocess.run(["sh", "-c", commands], cwd=place, env={**os.environ, "HOME": str(home), "LC_ALL": "C"}, capture_output=True, text=True, check=False)

        self.assertEqual(run(sign.replace("~", str(home))).returncode, 0)
        self.assertTrue((place / "hemstitch-1.2.0.intoto.json.sig").exists())
        done = run(check)
        self.assertEqual((done.returncode, done.stdout.count(": OK\n"), done.stderr), (0, 7, ""))
        (place / "hemstitch-1.2.0.tar.gz").unlink()  # not everybody has all of them
        self.assertEqual(run(check).stdout.count(": OK\n"), 6)
        for name, words in (("hemstitch-1.2.0.tar.xz", "hemstitch-1.2.0.tar.xz: FAILED"), ("hemstitch-1.2.0.intoto.json", "Could not verify"), ("allowed_signers", "Could not verify")):
            kept = (place / name).read_bytes()
            other = kept.replace(b"AAAA", b"AAAB") if name == "allowed_signers" else kept.replace(b"t", b"u", 1)
            (place / name).write_bytes(other)
            done = run(check)
            self.assertNotEqual(done.returncode, 0)
            self.assertIn(words, done.stdout + done.stderr)
            (place / name).write_bytes(kept)
        self.assertEqual(run(check).returncode, 0)

    @unittest.skipUnless(shutil.which("npm"), "no npm")
    def test_the_browser_module_is_packed_the_same_each_time(self):
        packed = []
        for umask in ("022", "077"):
            self.script("tools/check", f"umask {umask}; rm -rf build/unity/web; mkdir -p build/unity/web; cd build/unity/web\n"
                        """echo '{"name": "hemstitch", "version": "1.2.0"}' > package.json""")
            self.commit()
            packed.append(self.published()["hemstitch-1.2.0.tgz"].read_bytes())
        self.assertEqual(*packed)

    def test_a_tree_with_changes_is_refused(self):
        self.write("new.txt", "")
        self.stops("the tree has changes")

    def test_a_version_without_its_day_or_its_part_is_refused(self):
        for heading in ("## 1.2.0 (not released yet)", "## 1.3.0 (2026-01-31)"):
            self.write("CHANGELOG.md", CHANGES.replace("## 1.2.0 (2026-01-31)", heading))
            self.commit()
            self.stops(f"CHANGELOG.md begins with '{heading}'")

    def test_a_version_that_another_commit_has_is_refused(self):
        self.git("tag", "v1.2.0")
        self.assertEqual(self.release().returncode, 0)
        (self.root / "ran").unlink()
        shutil.rmtree(self.root / "build")
        self.write("more.txt", "")
        self.commit()
        self.stops("v1.2.0 is another commit")

    def test_it_ends_where_a_part_fails(self):
        parts = ["tools/check", "tools/debian13", "tools/package", "tests/package/installed_packages.sh"]
        for count, part in enumerate(parts, 1):
            self.script(part, "echo it fails >&2; exit 1")
            self.commit()
            self.stops("it fails", parts[:count])
            (self.root / "ran").unlink()
            self.script(part, PACKAGE if part == "tools/package" else "")


if __name__ == "__main__":
    unittest.main()
