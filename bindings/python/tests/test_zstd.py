"""Zstandard through the package, beside the zstd tool where there is one."""

import shutil
import subprocess

import pytest

import hemstitch

DATA = b"".join(b"line %d of some text\n" % (i * i % 1013) for i in range(60_000))


@pytest.mark.parametrize("level", [None, -7, 1, 19])
def test_round_trip(level):
    frame = hemstitch.compress(DATA, format="zstd", level=level)
    assert frame[:4] == b"\x28\xb5\x2f\xfd" and len(frame) < len(DATA) // 2
    assert hemstitch.restore(frame) == DATA
    assert hemstitch.restore(frame, format="zstd", backend="reference") == DATA


def test_levels_are_limited():
    for level in (-8, 0, 23):
        with pytest.raises(hemstitch.Error):
            hemstitch.compress(b"x", format="zstd", level=level)
    with pytest.raises(hemstitch.Error):
        hemstitch.compress(b"x", format="lz4", level=-1)


def test_files(tmp_path):
    path = tmp_path / "data.zst"
    with hemstitch.open(path, "wb") as file:
        file.write(DATA)
    assert path.read_bytes()[:4] == b"\x28\xb5\x2f\xfd"
    with hemstitch.open(path) as file:
        assert file.read() == DATA
    if shutil.which("zstd"):
        assert subprocess.run(["zstd", "-dqc", path], stdout=subprocess.PIPE, check=True).stdout == DATA
        theirs = subprocess.run(["zstd", "-qc", "-9"], input=DATA, stdout=subprocess.PIPE, check=True).stdout
        assert hemstitch.restore(theirs) == DATA


def test_dictionaries(tmp_path):
    samples = [b"".join(b"record %d of %d\n" % (i * k % 997, k) for i in range(40)) for k in range(1, 300)]
    dictionaries = [samples[5]]
    if shutil.which("zstd"):
        for i, sample in enumerate(samples):
            (tmp_path / f"sample{i}").write_bytes(sample)
        subprocess.run(["zstd", "-q", "--train", *tmp_path.glob("sample*"), "--maxdict=4096", "-o", tmp_path / "trained"], check=True,
                       stderr=subprocess.DEVNULL)
        dictionaries.append((tmp_path / "trained").read_bytes())
    content = samples[77]
    for dictionary in dictionaries:
        for format in ("zstd", "lz4", "zlib"):
            plain = hemstitch.compress(content, format=format)
            frame = hemstitch.compress(content, format=format, dictionary=dictionary)
            assert frame != plain
            assert hemstitch.restore(frame, format=format, dictionary=memoryview(dictionary)) == content
        with pytest.raises(hemstitch.Error):
            hemstitch.restore(hemstitch.compress(content, format="zstd", dictionary=dictionary))
        frames = hemstitch.compress_many(samples, format="zstd", dictionary=dictionary)
        assert hemstitch.restore_many(frames, dictionary=dictionary) == samples
        with hemstitch.open(tmp_path / "a.zst", "wb", dictionary=dictionary) as file:
            file.write(content)
            file.flush()
            file.write(content)
        with hemstitch.open(tmp_path / "a.zst", dictionary=dictionary) as file:
            assert file.raw.size() == 2 * len(content) and file.raw.read_range(5, len(content) + 5) == (content + content)[5:len(content) + 5]
            file.seek(3)
            assert file.read() == content[3:] + content


def test_many():
    inputs = [DATA[: 1000 * i] for i in range(20)]
    frames = hemstitch.compress_many(inputs, format="zstd")
    assert hemstitch.restore_many(frames) == inputs
