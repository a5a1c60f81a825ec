"""Dask: one file written by many workers, one of which is killed."""

import os
import signal
import subprocess

import lz4.frame
import pytest

distributed = pytest.importorskip("distributed")

import hemstitch
import hemstitch.dask as ours


@pytest.fixture(scope="module")
def client():
    with distributed.LocalCluster(n_workers=2, threads_per_worker=1, dashboard_address=None, host="127.0.0.1") as cluster:
        with distributed.Client(cluster) as client:
            yield client


@pytest.mark.parametrize("format", ["lz4", "gzip", "bgzf"])
def test_compress_and_restore(client, format, text, tmp_path):
    data = text * 3
    (tmp_path / "log").write_bytes(data)
    size = ours.compress(tmp_path / "log", tmp_path / "packed", part_bytes=500_000, format=format)
    packed = (tmp_path / "packed").read_bytes()
    assert len(packed) == size and hemstitch.restore(packed) == data
    tool = ["lz4", "-t"] if format == "lz4" else ["gzip", "-t"]
    assert subprocess.run(tool, input=packed, capture_output=True).returncode == 0
    if format == "gzip":
        with pytest.raises(hemstitch.Error, match="need earlier blocks; restore all of it"):
            ours.restore(tmp_path / "packed", tmp_path / "again")
    else:
        assert ours.restore(tmp_path / "packed", tmp_path / "again", part_bytes=700_000) == len(data)
        assert (tmp_path / "again").read_bytes() == data
    assert {path.name for path in tmp_path.iterdir()} <= {"log", "packed", "again"}


def test_several_files_and_none(client, text, tmp_path):
    for name in ("a", "b"):
        (tmp_path / name).write_bytes(text)
    (tmp_path / "empty").write_bytes(b"")
    ours.compress([tmp_path / name for name in ("a", "empty", "b")], tmp_path / "packed", part_bytes=1 << 20)
    assert hemstitch.restore((tmp_path / "packed").read_bytes()) == text * 2
    ours.compress(tmp_path / "empty", tmp_path / "packed")
    assert lz4.frame.decompress((tmp_path / "packed").read_bytes()) == b""
    assert ours.restore(tmp_path / "packed", tmp_path / "again") == 0
    for wrong in (dict(format="zlib"), dict(part_bytes=0), dict(level=77)):
        with pytest.raises(hemstitch.Error):
            ours.compress(tmp_path / "a", tmp_path / "new", **wrong)
    assert not (tmp_path / "new").exists() and not list(tmp_path.glob("*.parts-*"))
    with pytest.raises(FileNotFoundError):
        ours.compress(tmp_path / "missing", tmp_path / "new")


def test_without_a_cluster(text, tmp_path):
    import dask

    (tmp_path / "log").write_bytes(text)
    with dask.config.set(scheduler="threads"):
        ours.compress(tmp_path / "log", tmp_path / "packed", part_bytes=100_000)
        assert ours.restore(tmp_path / "packed", tmp_path / "again", part_bytes=99_999) == len(text)
    assert (tmp_path / "again").read_bytes() == text


def test_search(client, tmp_path):
    paths = []
    for number in range(10):
        paths.append(tmp_path / f"{number}")
        paths[-1].write_text(f"fine\nerror {number}\n")
    found = ours.search("error", paths, paths_a_task=3)
    assert [one.path for one in found] == [str(path) for path in paths]
    assert [(one.count, one.lines) for one in found] == [(1, [(2, 5, b"error %d" % number)]) for number in range(10)]
    with pytest.raises(hemstitch.Error, match="wanted"):
        ours.search("error", paths, wanted="all")


def _die_once(flag):
    """The first worker that comes here is killed in the middle of its work."""
    try:
        os.close(os.open(flag, os.O_CREAT | os.O_EXCL))
    except FileExistsError:
        return
    os.kill(os.getpid(), signal.SIGKILL)


def test_a_killed_worker_leaves_nothing_double(client, text, tmp_path, monkeypatch):
    data = text * 3
    (tmp_path / "log").write_bytes(data)
    place_part, compress_part = ours._place_part, ours._compress_part
    # Both steps: once after a part was written, and once after one was placed.
    flags = [str(tmp_path / "killed 0"), str(tmp_path / "killed 1")]

    def compress_and_die(*args, flag=flags[0], real=compress_part, die=_die_once):
        size = real(*args)
        die(flag)
        return size

    def place_and_die(*args, flag=flags[1], real=place_part, die=_die_once):
        real(*args)
        die(flag)

    monkeypatch.setattr(ours, "_compress_part", compress_and_die)
    monkeypatch.setattr(ours, "_place_part", place_and_die)
    size = ours.compress(tmp_path / "log", tmp_path / "packed", part_bytes=400_000)
    assert os.path.exists(flags[0]) and os.path.exists(flags[1])
    assert os.path.getsize(tmp_path / "packed") == size
    assert hemstitch.restore((tmp_path / "packed").read_bytes()) == data
    assert {path.name for path in tmp_path.iterdir()} == {"log", "packed", "killed 0", "killed 1"}
