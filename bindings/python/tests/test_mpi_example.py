"""examples/mpi: ranks write one file, which lz4 reads."""

import os
import pathlib
import shutil
import subprocess

import pytest

import hemstitch

EXAMPLE = pathlib.Path(__file__).parents[3] / "examples" / "mpi" / "compress_file.c"
# tools/check names a build whose library the example is linked with.
LIBRARY = os.environ.get("HEMSTITCH_BUILD")

pytestmark = pytest.mark.skipif(not (shutil.which("mpicc") and shutil.which("mpirun") and LIBRARY),
                                reason="no MPI here, or HEMSTITCH_BUILD names no build folder")


@pytest.fixture(scope="module", params=[1 << 30, 300_000], ids=["whole", "in pieces"])
def program(request, tmp_path_factory):
    path = tmp_path_factory.mktemp("mpi") / "compress_file"
    subprocess.run(["mpicc", "-std=c11", "-Wall", "-Wextra", "-Werror", f"-DPIECE_BYTES=((MPI_Offset){request.param})",
                    f"-I{EXAMPLE.parents[2]}/include", EXAMPLE, f"-L{LIBRARY}/src", f"-Wl,-rpath,{LIBRARY}/src", "-lhemstitch", "-o", path],
                   check=True)
    return path


@pytest.mark.parametrize("ranks", [1, 2, 4])
def test_ranks_write_one_file(program, ranks, text, tmp_path):
    for number, data in enumerate([text * 3, b"", b"abc", text[:ranks * 1000 + 1]]):
        (tmp_path / "input").write_bytes(data)
        (tmp_path / "output").write_bytes(b"longer than what comes" * 500_000)
        environment = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1")
        run = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), program, tmp_path / "input", tmp_path / "output"],
                             capture_output=True, text=True, env=environment, timeout=120)
        assert run.returncode == 0, run.stderr
        packed = (tmp_path / "output").read_bytes()
        assert hemstitch.restore(packed) == data
        lz4 = subprocess.run(["lz4", "-dc", tmp_path / "output"], capture_output=True)
        assert lz4.returncode == 0 and lz4.stdout == data
    run = subprocess.run(["mpirun", "--oversubscribe", "-n", str(ranks), program, tmp_path / "missing", tmp_path / "new"],
                         capture_output=True, text=True, env=environment, timeout=120)
    assert run.returncode != 0 and "missing" in run.stderr and not (tmp_path / "new").exists()
