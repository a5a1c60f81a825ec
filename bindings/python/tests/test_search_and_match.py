"""Search against grep, matches against the definition."""

import gc
import os
import pathlib
import subprocess
import threading

import numpy
import pytest

import hemstitch


@pytest.fixture(scope="module")
def logs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("logs")
    paths = []
    for number in range(5):
        path = folder / f"{number}.log"
        path.write_text("".join(f"{line} {'Error' if line % 7 == number else 'fine'} of part {line % 13}\n" for line in range(5000)))
        paths.append(path)
    return paths


@pytest.mark.parametrize("options, flags", [({}, []), ({"ignore_case": True}, ["-i"]), ({"whole_words": True}, ["-w"]),
                                            ({"invert": True}, ["-v"]), ({"most_lines": 3}, ["-m3"])])
def test_lines_are_greps(logs, options, flags):
    for patterns in ("Error", ["error", "part 1"], b"part 12", ["nowhere"]):
        given = [patterns] if isinstance(patterns, (str, bytes)) else patterns
        expressions = [part for pattern in given for part in ("-e", pattern)]
        for path, found in zip(logs, hemstitch.search(patterns, logs, threads=2, **options)):
            grep = subprocess.run(["grep", "-F", "-n", *flags, *expressions, path], capture_output=True, env={"LC_ALL": "C"})
            assert [b"%d:%s" % (line.number, line.text) for line in found.lines] == grep.stdout.splitlines()
            assert found.count == len(found.lines) and not found.error


def test_compressed_texts_and_counts(logs, tmp_path):
    paths = []
    for path in logs:
        paths.append(tmp_path / f"{path.name}.lz4")
        paths[-1].write_bytes(hemstitch.compress(path.read_bytes()))
    plain = [found.count for found in hemstitch.search("Error", logs, wanted="count")]
    assert [found.count for found in hemstitch.search("Error", paths, wanted="count", decompress=True)] == plain
    assert all(plain)
    [found] = hemstitch.search("Error", tmp_path / "missing")
    assert found.count == 0 and "No such file" in found.error


def test_names_and_patterns_of_any_bytes(tmp_path):
    name = os.fsencode(tmp_path) + b"/caf\xe9.log"
    with open(name, "wb") as file:
        file.write(b"one\ncaf\xe9\n")
    for path in (name, os.fsdecode(name), pathlib.Path(os.fsdecode(name))):
        [found] = hemstitch.search(b"caf\xe9", path)
        assert [line.text for line in found.lines] == [b"caf\xe9"] and not found.error
    for patterns in ("caf\udce9", ["one", "caf\udce9"]):
        with pytest.raises(hemstitch.Error, match=r"pattern [12] \('caf\\udce9'\) has half of a surrogate pair") as caught:
            hemstitch.Searcher(patterns)
        assert caught.value.status == hemstitch.Status.INVALID_OPTION and caught.value.__context__ is None


def test_searcher(logs):
    text = logs[0].read_bytes()
    searcher = hemstitch.Searcher(["Error", "rror o"], matches=True, before=1)
    found = searcher.search(text)
    line = next(line for line in found.lines if line.selected)
    assert [(match.position, match.bytes) for match in line.matches] == [(line.text.index(b"Error"), 5)]
    assert text[line.byte:line.byte + len(line.text)] == line.text
    positions, lengths = searcher.find(text)
    assert positions.dtype == numpy.uint64 and lengths.dtype == numpy.uint32
    expected = [at for at in range(len(text)) if text.startswith((b"Error", b"rror o"), at)]
    assert positions.tolist() == expected and set(lengths.tolist()) == {5, 6}
    with pytest.raises(hemstitch.Error, match="wanted"):
        hemstitch.Searcher("a", wanted="all")
    with pytest.raises(hemstitch.Error, match="pattern"):
        hemstitch.Searcher([])
    results = []
    threads = [threading.Thread(target=lambda: results.append(searcher.search(text).count)) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == [found.count] * 8


@pytest.mark.parametrize("finder", ["brute_force", "lazy_scan", "coop_stitch", "window_index", "hash_chain"])
def test_matches_stand_where_they_say(finder, text):
    data = text[:20_000]
    matcher = hemstitch.Matcher(finder=finder, min_match_len=4, max_match_len=100)
    assert matcher.parameters["min_match_len"] == 4
    found = matcher.find(data)
    assert found.dtype == numpy.dtype(hemstitch.MATCH) and len(found) > 100
    end = 0
    for position, offset, length in found.tolist():
        assert position >= end and 4 <= length <= 100 and 1 <= offset <= position
        # Overlapping matches repeat what they have just written.
        assert all(data[position + i] == data[position + i - offset] for i in range(length))
        end = position + length
    blocks = [data[:5000], b"", data[5000:9000]]
    many = matcher.find_many(blocks)
    assert [matcher.find(block).tolist() for block in blocks] == [matches.tolist() for matches in many]
    candidates = matcher.candidates(data)
    assert candidates.dtype == numpy.uint32 and len(candidates) == len(data)
    for position in range(0, len(data), 97):
        offset, length = divmod(int(candidates[position]), 1 << 16)
        assert all(data[position + i] == data[position + i - offset] for i in range(length))


def test_evaluate(text):
    flat = hemstitch.evaluate(b"abc" * 1000)
    assert flat["matched_bytes"] + flat["literal_bytes"] == flat["bytes"] == 3000
    assert flat["bits"] == flat["literal_bytes"] * 9 + flat["matches"] * 25
    wide = hemstitch.evaluate(text[:30_000], preset="32k")
    assert wide["ratio"] > hemstitch.evaluate(text[:30_000])["ratio"]
    for options, words in [({"finder": "guess"}, "finder is 'guess'"), ({"speed": 1}, "'speed'"), ({"preset": "none"}, "preset|none"),
                           ({"min_match_len": 1}, "min_match_len"), ({"backend": "cuda"}, "cuda")]:
        with pytest.raises(hemstitch.Error, match=words):
            hemstitch.evaluate(text[:100], **options)


def test_kept_arrays_outlive_what_made_them(text):
    def made(data):
        matcher, searcher = hemstitch.Matcher(), hemstitch.Searcher(["e", "th"])
        return matcher.candidates(data), matcher.find(data), *searcher.find(data)

    arrays = made(text[:5000])
    copies = [array.tolist() for array in arrays]
    gc.collect()
    # What reuses their memory, if it was freed.
    others = [made(bytes(reversed(text[:5000]))) for _ in range(20)]
    assert [array.tolist() for array in arrays] == copies
    assert all(copies) and others[0][1].tolist() != copies[1]
