"""The WebGPU library of `pip install hemstitch[webgpu]`, for the backend webgpu."""

import importlib.util
import os
import pathlib

VARIABLE = "HEMSTITCH_WEBGPU_LIBRARY"


def name_library() -> None:
    """Sets HEMSTITCH_WEBGPU_LIBRARY to the library in the package wgpu, if that is installed and the variable is not set.

    Neither imports that package nor loads the file: the backend does so on first use, and checks its version.
    """
    if VARIABLE in os.environ:
        return
    package = importlib.util.find_spec("wgpu")
    for folder in (package.submodule_search_locations if package else None) or ():
        for library in sorted(pathlib.Path(folder, "resources").glob("libwgpu_native*")):
            os.environ[VARIABLE] = str(library)
            return
