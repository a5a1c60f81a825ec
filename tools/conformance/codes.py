"""What the makers of conformance files share: checksums, writers of bits, and copies as LZ77 defines them."""

MASK32 = (1 << 32) - 1
MASK64 = (1 << 64) - 1
# Text of our own, in which words come again.
TEXT = (b"Hemstitching draws threads out of the cloth and binds those that are left in bundles. "
        b"A hem is bound as it is sewn, thread by thread, and the cloth is left open between the bundles. ")


class Case:
    """One file: its place below `conformance`, the format it is judged as, the verdict, its bytes, its content if there is one, and
    what it is about, or what is wrong with it, by section of the standard."""

    def __init__(self, path, form, verdict, data, content, about):
        self.path, self.form, self.verdict, self.data, self.content, self.about = path, form, verdict, bytes(data), content, about


class Cases:
    """Collects the files of one format."""

    def __init__(self, form, suffix):
        self.form, self.suffix, self.cases = form, suffix, []

    def _add(self, verdict, name, data, content, about):
        self.cases.append(Case(f"{self.form}/{verdict}/{name}{self.suffix}", self.form, verdict, data, content, about))

    def valid(self, name, data, content, about):
        self._add("valid", name, data, bytes(content), about)

    def invalid(self, name, data, about):
        self._add("invalid", name, data, None, about)

    def choice(self, name, data, content, about):
        """`content` is what a decoder restores that takes the file."""
        self._add("choice", name, data, bytes(content), about)


class Bits:
    """Bits into bytes, the lowest bit of a byte first."""

    def __init__(self):
        self.whole, self.value, self.rest = bytearray(), 0, 0

    def put(self, value, count):
        assert 0 <= value < (1 << count)
        self.value |= value << self.rest
        self.rest += count
        full = self.rest // 8
        self.whole += (self.value & ((1 << 8 * full) - 1)).to_bytes(full, "little")
        self.value >>= 8 * full
        self.rest %= 8

    def put_code(self, code, count):
        """A Huffman code of DEFLATE: its highest bit comes first."""
        self.put(int(format(code, f"0{count}b")[::-1], 2) if count else 0, count)

    def align(self, padding=0):
        """Up to a byte; `padding` are the bits of the gap."""
        gap = -self.rest % 8
        self.put(padding & ((1 << gap) - 1), gap)

    def bytes(self):
        return bytes(self.whole) + bytes([self.value] * (self.rest > 0))


def backward_stream(reads):
    """The bit stream of Zstandard that is read from its end, from (value, count) in the order in which they are read."""
    bits = Bits()
    for value, count in reversed(reads):
        bits.put(value, count)
    bits.put(1, 1)
    return bits.bytes()


def copy_match(out, distance, length):
    """Appends `length` bytes from `distance` before the end of `out`, which may overlap what they write."""
    assert 0 < distance <= len(out)
    pattern = bytes(out[len(out) - distance:][:length])
    out += (pattern * (length // len(pattern) + 1))[:length]


def little(value, size):
    return value.to_bytes(size, "little")


def noise(size, seed):
    """Bytes without repeats worth the name: the upper bits of a linear congruential generator."""
    out = bytearray()
    for _ in range(size):
        seed = (seed * 6364136223846793005 + 1442695040888963407) & MASK64
        out.append(seed >> 56)
    return bytes(out)


def _rotated(value, count, width):
    return ((value << count) | (value >> (width - count))) & ((1 << width) - 1)


def xxh32(data):
    """XXH32 with seed 0 (specification of xxHash 0.1.1)."""
    p1, p2, p3, p4, p5 = 2654435761, 2246822519, 3266489917, 668265263, 374761393
    at = 0
    if len(data) >= 16:
        lanes = [(p1 + p2) & MASK32, p2, 0, -p1 & MASK32]
        while at + 16 <= len(data):
            for i in range(4):
                lanes[i] = _rotated((lanes[i] + int.from_bytes(data[at:at + 4], "little") * p2) & MASK32, 13, 32) * p1 & MASK32
                at += 4
        h = sum(_rotated(lane, turn, 32) for lane, turn in zip(lanes, (1, 7, 12, 18))) & MASK32
    else:
        h = p5
    h = (h + len(data)) & MASK32
    while at + 4 <= len(data):
        h = _rotated((h + int.from_bytes(data[at:at + 4], "little") * p3) & MASK32, 17, 32) * p4 & MASK32
        at += 4
    for byte in data[at:]:
        h = _rotated((h + byte * p5) & MASK32, 11, 32) * p1 & MASK32
    h = (h ^ (h >> 15)) * p2 & MASK32
    h = (h ^ (h >> 13)) * p3 & MASK32
    return h ^ (h >> 16)


def xxh64(data):
    """XXH64 with seed 0 (specification of xxHash 0.1.1)."""
    p1, p2, p3, p4, p5 = 11400714785074694791, 14029467366897019727, 1609587929392839161, 9650029242287828579, 2870177450012600261

    def one_round(lane, word):
        return _rotated((lane + word * p2) & MASK64, 31, 64) * p1 & MASK64

    at = 0
    if len(data) >= 32:
        lanes = [(p1 + p2) & MASK64, p2, 0, -p1 & MASK64]
        while at + 32 <= len(data):
            for i in range(4):
                lanes[i] = one_round(lanes[i], int.from_bytes(data[at:at + 8], "little"))
                at += 8
        h = sum(_rotated(lane, turn, 64) for lane, turn in zip(lanes, (1, 7, 12, 18))) & MASK64
        for lane in lanes:
            h = ((h ^ one_round(0, lane)) * p1 + p4) & MASK64
    else:
        h = p5
    h = (h + len(data)) & MASK64
    while at + 8 <= len(data):
        h = (_rotated(h ^ one_round(0, int.from_bytes(data[at:at + 8], "little")), 27, 64) * p1 + p4) & MASK64
        at += 8
    if at + 4 <= len(data):
        h = (_rotated(h ^ (int.from_bytes(data[at:at + 4], "little") * p1 & MASK64), 23, 64) * p2 + p3) & MASK64
        at += 4
    for byte in data[at:]:
        h = _rotated(h ^ (byte * p5 & MASK64), 11, 64) * p1 & MASK64
    h = (h ^ (h >> 33)) * p2 & MASK64
    h = (h ^ (h >> 29)) * p3 & MASK64
    return h ^ (h >> 32)
