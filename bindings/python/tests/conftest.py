import random

import pytest


@pytest.fixture(scope="session")
def text():
    """About 1 MB that compresses as prose does."""
    source = random.Random(20)
    words = ["".join(source.choices("etaoinshrdlu", k=source.randint(2, 9))) for _ in range(2000)]
    return " ".join(source.choices(words, k=170_000)).encode()


@pytest.fixture(scope="session")
def shapes(text):
    """Contents around every boundary: of blocks (64K, 256K), of pages, of history, and of none."""
    noise = random.Random(21).randbytes(300_000)
    sizes = [1, 2, 12, 13, 4095, 4096, 4097, 65535, 65536, 65537, 262143, 262144, 262145]
    return ([b"", b"\0", b"a" * 700_000, b"ab" * 40_000, noise, text] + [text[:size] for size in sizes] +
            [noise[:size] for size in (1, 4096, 65537)])


@pytest.fixture(scope="session")
def most_memory():
    """Code that defines most_memory(), the most KB that its process had. (ru_maxrss begins with what the process that started it had.)"""
    return "import re\nmost_memory = lambda: int(re.search(r'VmHWM:\\s+(\\d+)', open('/proc/self/status').read())[1])\n"
