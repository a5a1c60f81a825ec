#!/usr/bin/env python3
"""tools/release in a repository made here, with stand-ins for the checks, the packages and their test: where it stops, and what it lists."""

import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
CHANGES = "# Changes\n\n## 1.2.0 (2026-01-31)\n\n- New.\n\n## 1.1.0 (2025-01-31)\n\n- Old.\n"
PACKAGE = """mkdir -p build/packages build/python
echo deb > build/packages/hemstitch_1.2.0-1_amd64.deb; echo tar > build/packages/hemstitch-1.2.0.tar.xz; echo gz > build/packages/hemstitch-1.2.0-linux.tar.gz; echo {} > build/packages/hemstitch-1.2.0.spdx.json
echo sums > build/packages/SHA256SUMS; echo wheel > build/python/hemstitch-1.2.0-py3-none-any.whl; echo sdist > build/python/hemstitch-1.2.0.tar.gz"""


class Release(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        for name in ("tools", "tests/package", "include/hemstitch"):
            (self.root / name).mkdir(parents=True)
        shutil.copy(ROOT / "tools" / "release", self.root / "tools")
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
        for name in ("packages/hemstitch_1.2.0-1_amd64.deb (4", "packages/hemstitch-1.2.0.tar.xz (4", "packages/hemstitch-1.2.0-linux.tar.gz (3", "packages/hemstitch-1.2.0.spdx.json (3",
                     "packages/SHA256SUMS (5", "python/hemstitch-1.2.0-py3-none-any.whl (6", "python/hemstitch-1.2.0.tar.gz (6"):
            self.assertIn(f"  build/{name} bytes)\n", done.stdout)
        self.assertIn("- New.", done.stdout)
        self.assertNotIn("- Old.", done.stdout)

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
