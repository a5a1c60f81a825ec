#!/usr/bin/env python3
"""tools/lint --commits, in a repository of a few commits: only a long subject of a new commit is refused."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
WHO = {f"GIT_{role}_{what}": value for role in ("AUTHOR", "COMMITTER") for what, value in (("NAME", "a"), ("EMAIL", "a@b"))}


class Subjects(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        (self.root / "tools").mkdir()
        shutil.copy(ROOT / "tools" / "lint", self.root / "tools")
        self.git("init", "--quiet")
        self.commit("x" * 100)
        self.old = self.git("rev-parse", "HEAD").strip()

    def git(self, *words):
        return subprocess.run(["git", *words], cwd=self.root, env={**os.environ, **WHO}, check=True, capture_output=True, text=True).stdout

    def commit(self, *paragraphs):
        self.git("commit", "--quiet", "--allow-empty", *(f"--message={words}" for words in paragraphs))

    def lint(self):
        return subprocess.run([self.root / "tools" / "lint", "--commits", self.old], capture_output=True, text=True, check=False)

    def test_a_subject_may_have_72_characters(self):
        self.commit("y" * 72, "z" * 100)
        self.assertEqual(self.lint().returncode, 0)

    def test_a_longer_one_is_refused_by_name(self):
        self.commit("y" * 73)
        done = self.lint()
        self.assertEqual(done.returncode, 1)
        self.assertIn("y" * 73, done.stderr)
        self.assertNotIn("xxx", done.stderr)


if __name__ == "__main__":
    unittest.main()
