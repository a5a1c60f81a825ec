"""The library of the extra `webgpu` is named to the backend, unless the user has named one."""

import os
import subprocess
import sys

NAMED = "import os, hemstitch; print(os.environ.get('HEMSTITCH_WEBGPU_LIBRARY', ''))"


def named_library(tmp_path, **variables):
    environment = {name: value for name, value in os.environ.items() if name != "HEMSTITCH_WEBGPU_LIBRARY"}
    return subprocess.run([sys.executable, "-c", NAMED], env={**environment, "PYTHONPATH": f"{tmp_path}:{environment.get('PYTHONPATH', '')}", **variables},
                          check=True, capture_output=True, text=True).stdout.strip()


def test_the_extras_library_is_named(tmp_path):
    library = tmp_path / "wgpu" / "resources" / "libwgpu_native-release.so"
    library.parent.mkdir(parents=True)
    library.touch()
    # Finding it must not run the package.
    (tmp_path / "wgpu" / "__init__.py").write_text("raise SystemExit('imported')")
    assert named_library(tmp_path) == str(library)
    assert named_library(tmp_path, HEMSTITCH_WEBGPU_LIBRARY="/mine") == "/mine"
    library.unlink()
    assert named_library(tmp_path) == ""
