"""fsspec: files of its compressions by us, which others read and wrote."""

import gzip
import io

import lz4.frame
import numcodecs.zstd
import pytest

fsspec = pytest.importorskip("fsspec")

import hemstitch
import hemstitch.fsspec as ours

TEXT = "".join(f"{i},{i * i}\n" for i in range(50_000))
OTHERS = {"gz": (gzip.compress, gzip.decompress), "lz4": (lz4.frame.compress, lz4.frame.decompress),
          "zst": (numcodecs.zstd.compress, lambda data: hemstitch.restore(data, format="zstd"))}


@pytest.fixture(params=["file", "memory"])
def place(request, tmp_path):
    return f"{tmp_path}/a" if request.param == "file" else "memory://a"


@pytest.mark.parametrize("suffix", OTHERS)
def test_both_ways(suffix, place):
    compress, restore = OTHERS[suffix]
    with fsspec.open(f"{place}.{suffix}", "wb") as file:
        file.write(compress(TEXT.encode()))
    with ours.enable():
        with fsspec.open(f"{place}.{suffix}", "rt", compression="infer") as file:
            assert file.read() == TEXT
        with fsspec.open(f"{place}.{suffix}", "rb", compression="infer") as file:
            assert isinstance(file, hemstitch.BufferedFile) and isinstance(file.raw, hemstitch.Reader)
            file.seek(100_000)
            assert file.read(10) == TEXT.encode()[100_000:100_010]
        with fsspec.open(f"{place}-ours.{suffix}", "wt", compression="infer") as file:
            file.write(TEXT)
    with fsspec.open(f"{place}-ours.{suffix}", "rb") as file:
        assert restore(file.read()).decode() == TEXT


def test_a_pack_of_bgzip(place):
    with fsspec.open(f"{place}.vcf.bgz", "wb") as file:
        file.write(hemstitch.compress(TEXT.encode(), format="bgzf"))
    with ours.enable(), fsspec.open(f"{place}.vcf.bgz", "rt", compression="infer") as file:
        assert file.read() == TEXT


def test_damage_is_an_error(place):
    with fsspec.open(f"{place}.gz", "wb") as file:
        file.write(gzip.compress(TEXT.encode())[:-9])
    with ours.enable(), fsspec.open(f"{place}.gz", "rt", compression="infer") as file, pytest.raises(hemstitch.Error):
        file.read()


def test_what_was_there_before_comes_back():
    from fsspec.compression import compr
    from fsspec.utils import compressions

    before = dict(compr), dict(compressions)
    with ours.enable():
        with ours.enable():
            pass
        assert compr["gzip"].func is ours._opened
    assert (dict(compr), dict(compressions)) == before
