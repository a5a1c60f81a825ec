"""Pages in memory."""

import os
import random
import threading

import pytest

import hemstitch

PAGE = 4096


def page_of(number, version=0):
    return random.Random(number * 1000 + version).randbytes(PAGE // 4) * 4


def test_pages_come_back():
    store = hemstitch.PageStore(checksums=True)
    for number in (0, 1, 7, 2**63, 2**64 - 1):
        store.put(number, page_of(number % 1000))
        assert store.get(number) == page_of(number % 1000) and number in store
    store.put(7, bytearray(PAGE))
    assert store.get(7) == bytes(PAGE) and len(store) == 5 and store.numbers() == [0, 1, 7, 2**63, 2**64 - 1]
    assert store.get(8) is None and 8 not in store
    room = bytearray(b"x" * PAGE)
    assert not store.get(8, out=room) and room == b"x" * PAGE
    assert store.get(1, out=memoryview(room)) and room == page_of(1)
    assert store.discard(7) and not store.discard(7) and store.get(7) is None
    assert store.discard_range(0, 100) == 2 and len(store) == 2
    said = store.statistics()
    assert said["pages"] == 2 and said["puts"] == 6 and said["discards"] == 3 and said["misses"] > 0 and 0 < said["kept_bytes"] < 2 * PAGE
    assert repr(store).startswith("<hemstitch.PageStore: 2 pages of 4096 bytes in ")


@pytest.mark.parametrize("backend", ["cpu", "reference"])
def test_many_at_once(backend, tmp_path):
    store = hemstitch.PageStore(page_bytes=8192, page_count=1000, backend=backend, level=9)
    numbers = list(range(0, 600, 3))
    pages = b"".join(page_of(number) * 2 for number in numbers)
    store.put_many(iter(numbers), pages)
    assert store.page_bytes == 8192 and store.get_many(numbers) == pages and store.get(3) == page_of(3) * 2
    room = bytearray(3 * 8192)
    assert store.get_many([0, 1, 3], out=room) == 2
    assert room == page_of(0) * 2 + bytes(8192) + page_of(3) * 2
    assert store.get_many([]) == b""
    store.save(tmp_path / "pages.lz4")
    other = hemstitch.PageStore(page_bytes=8192)
    other.load(os.fsencode(tmp_path / "pages.lz4"))
    assert other.numbers() == numbers and other.get_many(numbers) == pages
    other.compact()
    assert len(hemstitch.restore((tmp_path / "pages.lz4").read_bytes())) == len(pages)


def test_what_is_refused():
    with pytest.raises(TypeError, match="page_size"):
        hemstitch.PageStore(page_size=4096)
    with pytest.raises(ValueError, match="5000"):
        hemstitch.PageStore(page_bytes=5000)
    with pytest.raises(ValueError, match="budget"):
        hemstitch.PageStore(budget_bytes=100)
    with pytest.raises(ValueError):
        hemstitch.PageStore(backend="nowhere")
    store = hemstitch.PageStore(page_count=10, budget_bytes=400_000)
    for wrong in (b"", bytes(PAGE - 1), bytes(PAGE + 1)):
        with pytest.raises(ValueError):
            store.put(1, wrong)
    with pytest.raises(ValueError):
        store.put(10, bytes(PAGE))
    with pytest.raises(ValueError):
        store.get(1, out=bytearray(PAGE - 1))
    with pytest.raises(ValueError):
        store.put_many([1, 2], bytes(PAGE))
    with pytest.raises(BufferError):
        store.put(2, page_of(2)) or store.get(2, out=bytes(PAGE))
    with pytest.raises(TypeError):
        store.put(-1, bytes(PAGE))
    with pytest.raises(TypeError):
        store.put(1, "text")
    full = hemstitch.PageStore(budget_bytes=400_000)
    with pytest.raises(hemstitch.Error) as caught:
        for number in range(1000):
            full.put(number, random.Random(number).randbytes(PAGE))
    assert caught.value.status == hemstitch.Status.MEMORY_LIMIT
    assert all(full.get(one) == random.Random(one).randbytes(PAGE) for one in full.numbers())


def test_threads_see_whole_pages():
    store = hemstitch.PageStore()
    for number in range(8):
        store.put(number, page_of(number))
    wrong = []

    def work(seed):
        choice = random.Random(seed)
        room = bytearray(PAGE)
        for _ in range(300):
            number = choice.randrange(8)
            if choice.random() < 0.5:
                store.put(number, page_of(number, choice.randrange(3)))
            elif not store.get(number, out=room) or bytes(room) not in [page_of(number, version) for version in range(3)]:
                wrong.append(number)

    threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not wrong


def test_a_child_of_fork():
    store = hemstitch.PageStore()
    store.put(1, page_of(1))
    child = os.fork()
    if child == 0:
        code = 1
        try:
            try:
                store.get(1)
            except hemstitch.Error as error:
                own = hemstitch.PageStore()
                own.put(1, page_of(2))
                code = 0 if error.status == hemstitch.Status.WRONG_STATE and own.get(1) == page_of(2) else 2
            del store
        finally:
            os._exit(code)
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    assert store.get(1) == page_of(1)
