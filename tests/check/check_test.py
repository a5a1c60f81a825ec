#!/usr/bin/env python3
"""tools/check on a machine that lacks a program: the steps that run it are left out, by name, and all others pass.

The scripts of tools/ run as they are, in a copy of their folder, on a PATH that holds the programs of every system and stand-ins for
compilers, test runners and the like, which are taken away one by one. So a step that runs a program which it does not
look for fails here.
"""

import contextlib
import re
import shutil
import stat
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent
# Every system has these; no step looks for them.
SYSTEM = """awk basename bash cat chmod comm cp cut date dirname env expr find getconf grep head id ln ls mkdir mktemp mv nproc printf
    readlink realpath rm sed seq sh sort stat tail tee test touch tr true uname uniq wc xargs""".split()

KERNEL = "_ZN9hemstitch1kEv"
JUNIT = '<testsuite><testcase name="one"><system-out/></testcase></testsuite>'
STAND_INS = {
    "c++": "", "clang": "", "clang++": "", "gcov": "", "ninja": "", "nvcc": "", "nvdisasm": "", "pkg-config": "",
    "shellcheck": "", "cmake": "", "lz4": "", "dpkg-shlibdeps": "", "patchelf": "", "lintian": "", "debootstrap": "",
    "setarch": 'shift 2; exec "$@"',
    "clang-format": "case $1 in --version) echo 'clang-format version 14.0.6' ;; esac",
    "c++filt": f"while read -r name || [ -n \"$name\" ]; do case $name in {KERNEL}) echo 'hemstitch::k()' ;; *) echo \"$name\" ;; esac; done",
    "ctest": f"while [ $# -gt 0 ]; do case $1 in --output-junit) echo '{JUNIT}' > $2 ;; esac; shift; done",
    "cuobjdump": f"""case $1 in
-ptx) printf 'Fatbin ptx code:\\n.target sm_90\\n.entry {KERNEL}()\\n{{\\nret;\\n}}\\n' ;;
-sass) nvdisasm && printf 'code for sm_90\\n Function : {KERNEL}\\n /*0000*/ EXIT ; /* 0x0 */\\n' ;;
-res-usage) printf 'arch = sm_90\\n Function {KERNEL}:\\n  REG:8 STACK:0 SHARED:0 LOCAL:0\\n' ;;
esac""",
    "gcovr": "gcov && echo 'lines: 100.0% (1 out of 1)'",
    "git": "case $1 in ls-files) printf '%s\\n' tools/check source.cpp ;; esac",
    "python3": f'exec {sys.executable} "$@"',
}
# What each step runs of these. Without cmake, ninja and the like nothing is left, so the dev build is never left out: it fails.
BUILD = {"cmake", "ninja", "c++", "pkg-config"}
STEPS = {
    "dev": BUILD | {"ctest", "python3"},
    "format": {"git", "clang-format"},
    "shellcheck": {"git", "shellcheck"},
    "figures": {"git", "python3"},
    "cuda build": BUILD | {"nvcc"},
    "kernel lint": BUILD | {"nvcc", "python3", "cuobjdump", "nvdisasm", "c++filt"},
    "cuda tests": BUILD | {"nvcc", "ctest"},
    "cuda package": BUILD | {"nvcc", "ctest"},
    "python": BUILD | {"python3"},
    "package": BUILD | {"git", "python3", "lz4", "dpkg-shlibdeps", "patchelf", "lintian", "debootstrap"},
    "asan": BUILD | {"ctest", "python3"},
    "tsan": BUILD | {"ctest", "python3"},
    "fuzz": {"cmake", "ninja", "pkg-config", "clang", "clang++"},
    "coverage": BUILD | {"ctest", "python3", "gcovr", "gcov"},
}


def write_program(path, text):
    path.write_text("#!/bin/sh\n" + text + "\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


class Check(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.TemporaryDirectory()
        self.root = Path(self.folder.name)
        self.system, self.programs = self.root / "system", self.root / "programs"
        self.system.mkdir()
        self.programs.mkdir()
        for name in SYSTEM:
            found = shutil.which(name)
            if found:
                (self.system / name).symlink_to(found)
        for name, text in STAND_INS.items():
            write_program(self.programs / name, text)
        shutil.copytree(ROOT / "tools", self.root / "tools")
        find_nvcc = self.root / "tools" / "find-nvcc"
        find_nvcc.write_text(find_nvcc.read_text().replace("/usr/local/cuda", str(self.root / "no-cuda")))
        self.set_up("exit 0")
        write_program(self.root / "tools" / "kernels-hash", "echo 0")
        write_program(self.root / "tools" / "python-package", "for program in cmake ninja c++ pkg-config python3; do command -v $program || exit 1; done")
        write_program(self.root / "tools" / "package", f"for program in {' '.join(sorted(STEPS['package']))}; do command -v $program || exit 1; done")
        (self.root / "tests" / "package").mkdir(parents=True)
        for name in ("installed_packages.sh", "installed_wheels.sh", "made_again.sh", "two_folders.sh"):
            write_program(self.root / "tests" / "package" / name, "")
        self.python = self.root / "build" / "tools" / "python-venv" / "bin" / "python"
        self.python.parent.mkdir(parents=True)
        write_program(self.python, "")
        (self.root / "fuzz" / "corpus").mkdir(parents=True)
        seeds = self.root / "build" / "fuzz" / "fuzz" / "write_seeds"
        seeds.parent.mkdir(parents=True)
        write_program(seeds, "")
        write_program(self.root / "tools" / "results", f"for program in {' '.join(sorted(STEPS['figures']))}; do command -v $program || exit 1; done")
        (self.root / "source.cpp").write_text("")
        library = self.root / "build" / "cuda-check" / "src" / "libhemstitch.a"
        library.parent.mkdir(parents=True)
        for preset in ("unity", "asan", "tsan"):
            (self.root / "build" / preset).mkdir()
        library.write_bytes(struct.pack("<8s56s64sIIII", b"HSKERN01", b"k", b"k", 32, 0, 64, 1024))

    def tearDown(self):
        self.folder.cleanup()

    @contextlib.contextmanager
    def without(self, program):
        with self.subTest(program=program):
            (self.programs / program).unlink()
            try:
                yield
            finally:
                write_program(self.programs / program, STAND_INS[program])

    def set_up(self, text):
        """What tools/setup does, with the group as $1."""
        write_program(self.root / "tools" / "setup", text)

    def check(self, **environment):
        """(exit status, what passed, what was left out and why, what failed)"""
        done = subprocess.run([self.root / "tools" / "check"], capture_output=True, text=True, check=False, cwd=self.root,
                              env={"PATH": f"{self.programs}:{self.system}", "HEMSTITCH_CORPORA": "/nowhere", **environment})
        self.output = done.stdout + done.stderr
        passed = set(re.findall(r"^passed   ([\w ]+?)(?::| \()", done.stdout, re.MULTILINE))
        left_out = dict(re.findall(r"^left out ([\w ]+): (.*)$", done.stdout, re.MULTILINE))
        left_out.pop("tests on a GPU", None)
        return done.returncode, passed, left_out, re.findall(r"^FAILED   (.*)$", done.stdout, re.MULTILINE)

    def test_nothing_is_left_out_where_all_is_here(self):
        status, passed, left_out, failed = self.check()
        self.assertEqual((status, left_out, failed), (0, {}, []), self.output)
        self.assertEqual(passed, set(STEPS))

    def test_each_program_taken_away_leaves_out_the_steps_that_run_it(self):
        for program in STAND_INS:
            if program == "setarch":  # only asked for where it is
                continue
            with self.without(program):
                status, passed, left_out, failed = self.check()
                affected = {step for step, programs in STEPS.items() if program in programs}
                self.assertEqual(passed, set(STEPS) - affected, self.output)
                # A step is told of with the program, or stands behind one that is.
                told = {step for step, reason in left_out.items() if program in reason}
                self.assertTrue(told or failed, self.output)
                self.assertLessEqual(set(left_out), affected)
                if "dev" in affected:
                    self.assertEqual((status, len(failed)), (1, 1), self.output)
                    self.assertIn(program, failed[0])
                else:
                    self.assertEqual((status, failed), (0, []), self.output)

    def test_all_optional_programs_at_once(self):
        for program in set(STAND_INS) - STEPS["dev"]:
            (self.programs / program).unlink()
        status, passed, left_out, failed = self.check()
        self.assertEqual((status, failed), (0, []), self.output)
        self.assertEqual(passed, {"dev", "python", "asan", "tsan"})

    def test_the_python_package_needs_its_environment(self):
        self.python.unlink()
        status, passed, left_out, failed = self.check()
        self.assertEqual((status, failed), (0, []), self.output)
        self.assertEqual(set(STEPS) - passed, {"python"})
        self.assertEqual(left_out, {"python": "python-venv not here"})
        status, _, left_out, failed = self.check(HEMSTITCH_REQUIRE="python")
        self.assertEqual((status, left_out, failed), (1, {}, ["python: python-venv not here"]), self.output)

    def test_another_clang_format_is_none(self):
        write_program(self.programs / "clang-format", "echo 'clang-format version 15.0.0'")
        self.assertIn("format", self.check()[2])

    def test_what_takes_kernels_apart_is_installed_where_nvcc_is(self):
        for program in ("cuobjdump", "nvdisasm"):
            (self.programs / program).rename(self.root / program)
        self.set_up('[ "$1" != nvcc ] || mv cuobjdump nvdisasm programs/')
        status, passed, left_out, _ = self.check()
        self.assertEqual((status, left_out), (0, {}), self.output)
        self.assertIn("kernel lint", passed)

    def test_a_set_up_that_fails_leaves_out_what_it_would_bring(self):
        (self.programs / "cuobjdump").unlink()
        self.set_up('case $1 in build) ;; *) exit 1 ;; esac')
        status, passed, left_out, failed = self.check()
        self.assertEqual((status, failed), (0, []), self.output)
        self.assertEqual(set(STEPS) - passed, {"kernel lint"})
        self.assertEqual(set(left_out), {"kernel lint", "some tests", "python package", "wheels for older systems than this one", "packages", "web", "webgpu", "the disassembler of kernels"})

    def test_a_set_up_that_is_required_must_not_fail(self):
        self.set_up('[ "$1" != web ] || exit 1')
        self.assertEqual(self.check()[0], 0)
        self.assertEqual(self.check(HEMSTITCH_REQUIRE="web")[0], 1)
        self.assertIn("HEMSTITCH_REQUIRE names web", self.output)

    def test_what_is_required_is_not_left_out(self):
        for program, step, word in (("nvcc", "cuda build", "nvcc"), ("c++filt", "kernel lint", "nvcc"), ("lintian", "package", "package")):
            with self.without(program):
                status, _, left_out, failed = self.check(HEMSTITCH_REQUIRE=word)
                self.assertEqual((status, left_out), (1, {}), self.output)
                self.assertEqual(failed, [f"{step}: {program} not here"])

    def test_what_failed_stands_at_the_end_with_its_output(self):
        junit = '<testsuite><testcase name="two"><failure/><system-out>two is not three</system-out></testcase></testsuite>'
        write_program(self.programs / "ctest", STAND_INS["ctest"].replace(JUNIT, junit))
        write_program(self.root / "tools" / "package", "echo no package; exit 1")
        status, _, _, failed = self.check()
        end = self.output.partition("== what failed")[2]
        self.assertEqual((status, len(failed)), (1, 4), self.output)
        for name in ("dev", "asan", "tsan"):
            self.assertIn(f"-- {name}: two FAILED\ntwo is not three\n", end)
        self.assertRegex(end, "no package\n== package FAILED after [0-9]+ s")
        write_program(self.programs / "ctest", STAND_INS["ctest"])
        write_program(self.root / "tools" / "package", "")
        self.assertEqual(self.check()[0], 0)
        self.assertNotIn("== what failed", self.output)


if __name__ == "__main__":
    unittest.main()
