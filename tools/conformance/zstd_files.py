"""Conformance files of Zstandard (RFC 8878), all of whose blocks are written here, compressed ones too."""

from conformance.codes import TEXT, Bits, Cases, backward_stream, copy_match, little, noise, xxh64

MAGIC, SKIPPABLE = 0xFD2FB528, 0x184D2A50
RAW, RLE, COMPRESSED, RESERVED = range(4)
MOST = 128 << 10
LITERAL_CODES = [(i, 0) for i in range(16)] + [(16, 1), (18, 1), (20, 1), (22, 1), (24, 2), (28, 2), (32, 3), (40, 3), (48, 4), (64, 6)] + \
    [(1 << bits, bits) for bits in range(7, 17)]
MATCH_CODES = [(3 + i, 0) for i in range(32)] + [(35, 1), (37, 1), (39, 1), (41, 1), (43, 2), (47, 2), (51, 3), (59, 3), (67, 4), (83, 4), (99, 5)] + \
    [(3 + (1 << bits), bits) for bits in range(7, 17)]
# (accuracy log, counts), -1 for "less than 1": RFC 8878, 3.1.1.3.2.2.
LITERALS_DEFAULT = (6, [4, 3] + [2] * 11 + [1, 1, 1] + [2] * 9 + [3, 2, 1, 1, 1, 1, 1, -1, -1, -1, -1])
MATCHES_DEFAULT = (6, [1, 4, 3, 2, 2, 2, 2, 2, 2] + [1] * 37 + [-1] * 7)
OFFSETS_DEFAULT = (5, [1] * 6 + [2, 2, 2] + [1] * 15 + [-1] * 5)


def code_of(value, table):
    index = max(i for i, (base, _) in enumerate(table) if base <= value)
    return index, value - table[index][0], table[index][1]


class FseTable:
    """The states of a table: (symbol, bits, baseline) each (RFC 8878, 4.1.1)."""

    def __init__(self, log, counts):
        self.log = log
        size = 1 << log
        symbols, high = [None] * size, size - 1
        for symbol, count in enumerate(counts):
            if count == -1:
                symbols[high] = symbol
                high -= 1
        at, step = 0, (size >> 1) + (size >> 3) + 3
        for symbol, count in enumerate(counts):
            for _ in range(max(count, 0)):
                symbols[at] = symbol
                at = (at + step) & (size - 1)
                while at > high:
                    at = (at + step) & (size - 1)
        following = [abs(count) for count in counts]
        self.states = []
        for symbol in symbols:
            number = following[symbol]
            following[symbol] += 1
            bits = log - number.bit_length() + 1
            self.states.append((symbol, bits, (number << bits) - size))

    def path(self, symbols):
        """States in which a decoder gives these symbols, and the (value, count) that it reads after each but the last. The last
        state reads as many bits as any of its symbol."""
        states = [max((i for i, state in enumerate(self.states) if state[0] == symbols[-1]), key=lambda i: self.states[i][1])]
        reads = []
        for symbol in reversed(symbols[:-1]):
            state, (_, bits, baseline) = next((i, one) for i, one in enumerate(self.states)
                                              if one[0] == symbol and one[2] <= states[-1] < one[2] + (1 << one[1]))
            reads.append((states[-1] - baseline, bits))
            states.append(state)
        return states[::-1], reads[::-1]


class RleTable(FseTable):
    def __init__(self, symbol):
        self.log, self.states = 0, [(symbol, 0, 0)]


def fse_description(log, counts):
    """RFC 8878, 4.1.1."""
    bits = Bits()
    bits.put(log - 5, 4)
    remaining, threshold, width, at = (1 << log) + 1, 1 << log, log + 1, 0
    while remaining > 1:
        value = counts[at] + 1
        at += 1
        most = 2 * threshold - 1 - remaining
        if value < most:
            bits.put(value, width - 1)
        else:
            bits.put(value + most if value >= threshold else value, width)
        remaining -= abs(value - 1)
        while remaining < threshold:
            width, threshold = width - 1, threshold >> 1
        if value == 1:
            zeros = next(i for i, count in enumerate(counts[at:]) if count)
            at += zeros
            while zeros >= 3:
                bits.put(3, 2)
                zeros -= 3
            bits.put(zeros, 2)
    return bits.bytes()


class Huffman:
    """A code of literals from weights, the last of which is left out of the description (RFC 8878, 4.2.1)."""

    def __init__(self, weights, described=None):
        self.weights, self.described = weights, weights[:-1] if described is None else described
        self.most = sum(1 << weight - 1 for weight in weights if weight).bit_length() - 1      # Max_Number_of_Bits
        self.codes, at = {}, 0
        for weight in range(1, self.most + 1):
            for symbol, own in enumerate(weights):
                if own == weight:
                    self.codes[symbol] = (at >> (weight - 1), self.most + 1 - weight)
                    at += 1 << (weight - 1)

    def direct(self):
        nibbles = self.described + [0] * (len(self.described) % 2)
        return bytes([127 + len(self.described)]) + bytes(high << 4 | low for high, low in zip(nibbles[::2], nibbles[1::2]))

    def by_fse(self, log, counts):
        """The weights by two states that take turns (RFC 8878, 4.2.1.2)."""
        table = FseTable(log, counts)
        turns = [table.path(self.described[first::2]) for first in (0, 1)]
        reads = [(states[0], log) for states, _ in turns]
        waiting = [list(one) for _, one in turns]
        for i in range(len(self.described)):
            if waiting[i % 2]:
                reads.append(waiting[i % 2].pop(0))
        data = fse_description(log, counts) + backward_stream(reads)
        return bytes([len(data)]) + data

    def stream(self, literals):
        return backward_stream([self.codes[byte] for byte in literals])

    def four(self, literals):
        size = (len(literals) + 3) // 4
        streams = [self.stream(literals[at:at + size]) for at in (0, size, 2 * size)] + [self.stream(literals[3 * size:])]
        return b"".join(little(len(one), 2) for one in streams[:3]) + b"".join(streams)


def plain_literals(literals, kind=RAW, width=None, size=None):
    """Raw literals, or RLE of the first one. `width`: bits of the size, 5, 12 or 20."""
    size = len(literals) if size is None else size
    width = width or next(bits for bits in (5, 12, 20) if size < 1 << bits)
    head = little(kind | size << 3, 1) if width == 5 else little(kind | {12: 1, 20: 3}[width] << 2 | size << 4, 2 if width == 12 else 3)
    return head + (literals[:1] if kind == RLE else literals)


def coded_literals(size, payload, streams=1, width=None, treeless=False):
    """Huffman-coded literals; `width`: bits of each of the sizes, 10, 14 or 18."""
    width = width or next(bits for bits in (10, 14, 18) if max(size, len(payload)) < 1 << bits)
    form = 0 if streams == 1 else {10: 1, 14: 2, 18: 3}[width]
    return little((3 if treeless else 2) | form << 2 | size << 4 | len(payload) << (4 + width), (4 + 2 * width) // 8)


def sequences(rows, tables=("predefined",) * 3, *, form=None, reserved=0, count=None, spare_bits=()):
    """The section of sequences: rows of (literals, value of the offset, length of the match). Tables of literal lengths, offsets and
    lengths of matches are "predefined", ("rle", code), ("fse", log, counts) or ("repeat", table). `form`: bytes of the count."""
    count = len(rows) if count is None else count
    form = form or (1 if count < 128 else 2 if count < 0x7F00 else 3)
    data = {1: lambda: bytes([count]), 2: lambda: bytes([128 + (count >> 8), count & 255]), 3: lambda: b"\xff" + little(count - 0x7F00, 2)}[form]()
    if not rows:
        return data
    codes = [[code_of(row[0], LITERAL_CODES) for row in rows],
             [(row[1].bit_length() - 1, row[1] - (1 << row[1].bit_length() - 1), row[1].bit_length() - 1) for row in rows],
             [code_of(row[2], MATCH_CODES) for row in rows]]
    modes, described, built = reserved, b"", []
    for table, default, shift in zip(tables, (LITERALS_DEFAULT, OFFSETS_DEFAULT, MATCHES_DEFAULT), (6, 4, 2)):
        if table == "predefined":
            built.append(FseTable(*default))
        elif table[0] == "rle":
            modes |= 1 << shift
            described += bytes([table[1]])
            built.append(RleTable(table[1]))
        elif table[0] == "fse":
            modes |= 2 << shift
            described += fse_description(*table[1:])
            built.append(FseTable(*table[1:]))
        else:
            modes |= 3 << shift
            built.append(table[1])
    paths = [table.path([code[0] for code in own]) for table, own in zip(built, codes)]
    reads = [(states[0], table.log) for table, (states, _) in zip(built, paths)]
    for i in range(len(rows)):
        reads += [codes[kind][i][1:] for kind in (1, 2, 0)]
        if i + 1 < len(rows):
            reads += [paths[kind][1][i] for kind in (0, 2, 1)]
    return data + bytes([modes]) + described + backward_stream(reads + list(spare_bits))


class Frame:
    """Writes a frame, and keeps its content in `out`."""

    def __init__(self):
        self.blocks, self.out, self.repeats = [], bytearray(), [1, 4, 8]

    def _block(self, kind, size, data):
        self.blocks.append((kind, size, data))
        return self

    def raw(self, data, size=None):
        self.out += data
        return self._block(RAW, len(data) if size is None else size, data)

    def rle(self, byte, size):
        self.out += byte * size
        return self._block(RLE, size, byte)

    def reserved(self):
        return self._block(RESERVED, 1, b"?")

    def compressed(self, section, literals, rows=(), tables=("predefined",) * 3, **options):
        """A compressed block of a section of literals, and sequences as in sequences()."""
        at = 0
        for count, value, length in rows:
            self.out += literals[at:at + count]
            at += count
            if value > 3:
                distance = value - 3
                self.repeats = [distance] + self.repeats[:2]
            else:
                place = value - 1 + (count == 0)
                distance = self.repeats[0] - 1 if place == 3 else self.repeats[place]
                if place:
                    self.repeats = [distance] + [one for i, one in enumerate(self.repeats) if i != min(place, 2)]
            if 0 < distance <= len(self.out):
                copy_match(self.out, distance, length)
        self.out += literals[at:]
        data = section + sequences(rows, tables, **options)
        return self._block(COMPRESSED, len(data), data)

    def as_it_is(self, data, content=b""):
        """A compressed block of any bytes."""
        self.out += content
        return self._block(COMPRESSED, len(data), data)

    def bytes_of(self, *, window=0, single=False, size=None, size_bytes=None, check=False, dictionary=None, unused=0, reserved=0,
                 check_change=0, last=True):
        """The frame. `window` is the byte of the window, `size` the content's size to state and `size_bytes` in how many bytes,
        `dictionary` the bytes of its id."""
        if single and size is None:
            size = len(self.out)
        if size is not None and size_bytes is None:
            size_bytes = 1 if single and size < 256 else 2 if 256 <= size < 65792 else 4
        size_flag = {None: 0, 1: 0, 2: 1, 4: 2, 8: 3}[size_bytes]
        dictionary = dictionary or b""
        data = little(MAGIC, 4) + bytes([size_flag << 6 | single << 5 | unused << 4 | reserved << 3 | check << 2 | {0: 0, 1: 1, 2: 2, 4: 3}[len(dictionary)]])
        if not single:
            data += bytes([window])
        data += dictionary
        if size_bytes:
            data += little(size - (256 if size_bytes == 2 else 0), size_bytes)
        for i, (kind, count, inner) in enumerate(self.blocks):
            data += little((last and i + 1 == len(self.blocks)) | kind << 1 | count << 3, 3) + inner
        if check:
            data += little((xxh64(self.out) + check_change) & 0xFFFFFFFF, 4)
        return data


def skippable(data, number=0):
    return little(SKIPPABLE + number, 4) + little(len(data), 4) + data


# Weights of letters, whose powers of 2 add up to 64 (RFC 8878, 4.2.1).
LETTERS = {" ": 5, "e": 4, "s": 4, "t": 4, "h": 3, "n": 3, "u": 3, "c": 2, "d": 2, "i": 2, "l": 2, "o": 2, "a": 1, "b": 1}
WEIGHTS = [LETTERS.get(chr(i), 0) for i in range(ord("u") + 1)]
LITERALS = b"the cloth and the bundle in the sun " * 8


def files():
    cases = Cases("zstd", ".zst")
    window_64k = 6 << 3

    def put(add, name, frame, about, **options):
        data = frame.bytes_of(**{"window": window_64k, **options} if not options.get("single") else options)
        if add == cases.invalid:
            add(name, data, about)
        else:
            add(name, data, frame.out, about)

    def valid(name, frame, about, **options):
        put(cases.valid, name, frame, about, **options)

    def invalid(name, frame, about, **options):
        put(cases.invalid, name, frame, about, **options)

    def choice(name, frame, about, **options):
        put(cases.choice, name, frame, about, **options)

    def text():
        return Frame().raw(TEXT)

    plain = text().bytes_of(window=window_64k)

    # Headers.
    valid("plain", text(), "a raw block, no optional fields")
    valid("checksum", text(), "Content_Checksum (3.1.1)", check=True)
    valid("single-segment", text(), "Single_Segment_Flag, size in one byte (3.1.1.1.1.2)", single=True)
    valid("single-segment-empty", Frame().raw(b""), "a frame of no content that says so", single=True)
    valid("single-segment-empty-checksum", Frame().raw(b""), "no content, and its checksum", single=True, check=True)
    for size, about in ((255, "255: the largest in one byte"), (256, "256: the least in two bytes"), (257, "two bytes")):
        valid(f"single-segment-{size}", Frame().rle(b"s", size), f"size {about} (3.1.1.1.4)", single=True)
    for count in (2, 4, 8):
        valid(f"content-size-{count}-bytes", Frame().rle(b"s", 300), f"Frame_Content_Size of {count} bytes (3.1.1.1.4)", size=300, size_bytes=count)
        valid(f"single-segment-{count}-bytes", Frame().rle(b"s", 300), "the same with Single_Segment_Flag", single=True, size=300, size_bytes=count)
    valid("content-size-65791", Frame().rle(b"s", 65535).rle(b"t", 256), "the largest size in two bytes (3.1.1.1.4)", size=65791, window=7 << 3)
    for window, about in ((0, "1 KB, the least"), (7, "1 KB and 7/8"), (10 << 3 | 3, "1.375 MB"), (13 << 3, "8 MB, which every decoder should support")):
        valid(f"window-{window}", Frame().rle(b"w", 1000), f"a window of {about} (3.1.1.1.2)", window=window)
    for count in (1, 2, 4):
        valid(f"dictionary-id-0-{count}-bytes", text(), "Dictionary_ID 0 is no dictionary (3.1.1.1.3)", dictionary=bytes(count))
    valid("unused-bit", text(), "the unused bit means nothing (3.1.1.1.1.3)", unused=1)
    choice("window-128-mb-and-more", text(), "a window of 144 MB; decoders may refuse what takes them too much memory (3.1.1.1.2)", window=17 << 3 | 1)
    choice("window-largest", text(), "a window of 3.75 TB; decoders may refuse it (3.1.1.1.2)", window=255)
    for count in (1, 2, 4):
        choice(f"dictionary-id-{count}-bytes", text(), "names a dictionary that is not there and that no block needs (3.1.1.1.3)", dictionary=bytes([7] + [0] * (count - 1)))
    cases.invalid("magic-number", b"\x27" + plain[1:], "Magic_Number (3.1.1)")
    invalid("reserved-bit", text(), "Reserved_Bit (3.1.1.1.1.4)", reserved=1)
    invalid("checksum", text(), "Content_Checksum (3.1.1)", check=True, check_change=1)
    invalid("checksum-empty-content", Frame().raw(b""), "the checksum of no content", check=True, check_change=1)
    invalid("content-size-one-less", text(), "Frame_Content_Size is one too small (3.1.1.1.4)", single=True, size=len(TEXT) - 1)
    invalid("content-size-one-more", text(), "Frame_Content_Size is one too large (3.1.1.1.4)", single=True, size=len(TEXT) + 1)
    invalid("content-size-0", text(), "Frame_Content_Size is 0 (3.1.1.1.4)", single=True, size=0)
    invalid("content-size-of-empty-last-block", text().raw(b""), "Frame_Content_Size is too large, and the last block is empty (3.1.1.1.4)", size=len(TEXT) + 9, size_bytes=4)

    # Blocks.
    valid("raw-empty", Frame().raw(b""), "a raw block of no bytes (3.1.1.2)")
    valid("raw-empty-between", Frame().raw(b"").raw(b"a").raw(b"").raw(b"b").raw(b""), "raw blocks of no bytes between others")
    valid("rle", Frame().rle(b"r", 1000), "an RLE block (3.1.1.2.2)")
    valid("rle-one", Frame().rle(b"r", 1), "an RLE block of one byte")
    valid("rle-none", Frame().rle(b"r", 0).raw(b"x"), "an RLE block of no bytes still has its byte")
    valid("rle-128-kb", Frame().rle(b"r", MOST).rle(b"q", MOST), "the largest blocks (3.1.1.2.4)", window=8 << 3)
    valid("rle-of-window", Frame().rle(b"r", 1024).rle(b"q", 1024), "blocks as large as the window of 1 KB (3.1.1.2.4)", window=0)
    valid("mixed-blocks", Frame().raw(TEXT).rle(b"-", 99).compressed(plain_literals(b"abc"), b"abc", [(3, 30 + 3, 40)]).raw(b"!"), "blocks of each type", check=True)
    invalid("block-type-3", Frame().reserved(), "the reserved Block_Type (3.1.1.2.2)")
    invalid("block-type-3-second", text().reserved(), "the reserved Block_Type, after a sound block (3.1.1.2.2)")
    invalid("rle-over-128-kb", Frame().rle(b"r", MOST + 1), "a block of 128 KB and 1 byte (3.1.1.2.4)", window=8 << 3)
    invalid("rle-over-window", Frame().rle(b"r", 1025), "a block larger than the window of 1 KB (3.1.1.2.4)", window=0)
    invalid("raw-over-window", Frame().raw(bytes(1025)), "a raw block larger than the window of 1 KB (3.1.1.2.4)", window=0)
    invalid("raw-past-file", Frame().raw(TEXT, len(TEXT) + 1), "Block_Size reaches past the file (3.1.1.2.3)")
    invalid("no-last-block", text(), "no block is the last (3.1.1.2.1)", last=False)
    invalid("compressed-of-no-bytes", Frame().as_it_is(b"").raw(TEXT), "a compressed block of no bytes has no sections (3.1.1.3); libzstd takes it for an empty one")
    invalid("compressed-of-one-byte", Frame().as_it_is(b"\0"), "a compressed block without a section of sequences (3.1.1.3)")

    # Literals. A compressed block is smaller than its content by older editions of the format, so a match follows the raw ones.
    behind = [(30, 30 + 3, 40)]
    for width in (5, 12, 20):
        valid(f"literals-raw-{width}-bits", Frame().compressed(plain_literals(TEXT[:30], RAW, width), TEXT[:30], behind), "raw literals (3.1.1.3.1)")
        valid(f"literals-rle-{width}-bits", Frame().compressed(plain_literals(b"l" * 30, RLE, width), b"l" * 30, behind), "RLE literals (3.1.1.3.1)")
    valid("literals-rle-128-kb", Frame().compressed(plain_literals(b"l" * MOST, RLE), b"l" * MOST), "as many literals as a block may have", window=8 << 3)
    choice("literals-none", Frame().compressed(plain_literals(b""), b"").raw(b"x"), "a compressed block of no literals and no sequences is not smaller than its content; editions of the format ask encoders for a raw block then")
    choice("literals-raw-alone", Frame().compressed(plain_literals(TEXT[:30]), TEXT[:30]), "a compressed block that is not smaller than its content; editions of the format ask encoders for a raw block then")
    tree = Huffman(WEIGHTS)
    one = tree.direct() + tree.stream(LITERALS)
    valid("literals-huffman-1-stream", Frame().compressed(coded_literals(len(LITERALS), one) + one, LITERALS), "one stream, weights given directly (4.2.1.1)")
    four = tree.direct() + tree.four(LITERALS)
    for width in (10, 14, 18):
        valid(f"literals-huffman-4-streams-{width}-bits", Frame().compressed(coded_literals(len(LITERALS), four, 4, width) + four, LITERALS), "four streams (3.1.1.3.1.6)")
    # Weights 0 to 5, most of them 0.
    by_fse = tree.by_fse(6, [45, 3, 5, 3, 6, 2])
    coded = by_fse + tree.stream(LITERALS)
    valid("literals-huffman-weights-by-fse", Frame().compressed(coded_literals(len(LITERALS), coded) + coded, LITERALS), "weights compressed by FSE (4.2.1.2)")
    two = Huffman([0] * 97 + [1, 1])
    bits = two.direct() + two.stream(b"abba" * 50)
    valid("literals-huffman-1-bit", Frame().compressed(coded_literals(200, bits) + bits, b"abba" * 50), "two symbols of one bit")
    deep = Huffman([1] + list(range(1, 12)))
    literals = bytes(range(12)) + b"\x0b\x0a" * 40
    bits = deep.direct() + deep.stream(literals)
    valid("literals-huffman-11-bits", Frame().compressed(coded_literals(len(literals), bits) + bits, literals), "codes of 1 to 11 bits, the most (4.2.1)")
    first = coded_literals(len(LITERALS), one) + one
    again = tree.stream(LITERALS[::-1])
    valid("literals-treeless", Frame().compressed(first, LITERALS).raw(b"|").compressed(coded_literals(len(LITERALS), again, treeless=True) + again, LITERALS[::-1]),
          "the tree of a block before (3.1.1.3.1.1)")
    again4 = tree.four(LITERALS[::-1])
    valid("literals-treeless-4-streams", Frame().compressed(first, LITERALS).compressed(coded_literals(len(LITERALS), again4, 4, treeless=True) + again4, LITERALS[::-1]),
          "the tree of a block before, four streams")
    invalid("literals-treeless-first", Frame().compressed(coded_literals(len(LITERALS), again, treeless=True) + again, b""), "treeless literals, and no tree before them (3.1.1.3.1.1)")
    cases.invalid("literals-treeless-of-frame-before", Frame().compressed(first, LITERALS).bytes_of(window=window_64k)
                  + Frame().compressed(coded_literals(len(LITERALS), again, treeless=True) + again, b"").bytes_of(window=window_64k),
                  "treeless literals, and the tree is in the frame before (3.1.1.3.1.1)")
    invalid("literals-raw-past-block", Frame().compressed(plain_literals(TEXT[:30], size=31), b""), "Regenerated_Size is more than the block has (3.1.1.3.1)")
    invalid("literals-rle-over-128-kb", Frame().compressed(plain_literals(b"l", RLE, 20, MOST + 1), b""), "more literals than a block may have (3.1.1.2.4)", window=8 << 3)
    bits = tree.direct() + tree.stream(LITERALS)
    invalid("literals-huffman-one-more", Frame().compressed(coded_literals(len(LITERALS) + 1, bits) + bits, b""), "Regenerated_Size is one more than the stream has (4.2.2)")
    invalid("literals-huffman-one-less", Frame().compressed(coded_literals(len(LITERALS) - 1, bits) + bits, b""), "Regenerated_Size is one less than the stream has (4.2.2)")
    invalid("literals-huffman-compressed-size", Frame().compressed(coded_literals(len(LITERALS), bits + bytes(20)) + bits, b""), "Compressed_Size is more than the block has (3.1.1.3.1)")
    no_mark = bits[:-1] + b"\0"
    invalid("literals-huffman-no-mark", Frame().compressed(coded_literals(len(LITERALS), no_mark) + no_mark, b""), "the last byte of the stream has no mark (4.2.2)")
    wrong = Huffman([1, 1, 1], [1, 1, 1, 3])
    bits = wrong.direct() + backward_stream([(0, 2)])
    invalid("literals-huffman-weights", Frame().compressed(coded_literals(1, bits) + bits, b""), "weights whose powers no last one makes a power of 2 (4.2.1.3)")
    bits = Huffman([1, 1], [0, 0]).direct() + backward_stream([(0, 1)])
    invalid("literals-huffman-weights-of-0", Frame().compressed(coded_literals(1, bits) + bits, b""), "weights of 0 alone (4.2.1)")
    jump = tree.direct() + little(500, 2) + tree.four(LITERALS)[2:]
    invalid("literals-huffman-jump-table", Frame().compressed(coded_literals(len(LITERALS), jump, 4) + jump, b""), "the first stream is longer than all four (4.2.2)")

    # Sequences.
    words = TEXT[:60]
    rows = [(20, 12 + 3, 5), (10, 1, 4), (5, 2, 7), (10, 30 + 3, 20), (0, 1, 3), (0, 3 + 1, 11)]
    valid("sequences-predefined", Frame().compressed(plain_literals(words), words, rows), "predefined tables (3.1.1.3.2.2)")
    valid("sequences-one", Frame().compressed(plain_literals(words), words, [(30, 9 + 3, 50)]), "one sequence")
    valid("sequences-no-last-literals", Frame().compressed(plain_literals(words), words, [(60, 9 + 3, 50)]), "no literals after the last match")
    valid("sequences-no-literals", Frame().raw(TEXT).compressed(plain_literals(b""), b"", [(0, 100 + 3, 50), (0, 20 + 3, 6)]), "matches into a block before, no literals")
    valid("sequences-rle", Frame().compressed(plain_literals(words), words, [(16, 9 + 3, 35), (17, 10 + 3, 36), (16, 12 + 3, 35)], (("rle", 16), ("rle", 3), ("rle", 32))),
          "each table by RLE: only extra bits (3.1.1.3.2.1)")
    literal_table = (5, [8, 8, 4, 4, 4, 2, -1, -1])
    offset_table = (5, [12, 4, 6, 4, 4, -1, -1])
    match_table = (6, [20, 10, 0, 0, 0, 0, 0, 30, 3, -1])
    own = [(0, 5, 3), (1, 1, 4), (3, 2, 3), (6, 7, 10), (2, 20, 11), (7, 1, 12), (0, 1, 4), (4, 40, 3)]
    tables = (("fse",) + literal_table, ("fse",) + offset_table, ("fse",) + match_table)
    valid("sequences-fse", text().compressed(plain_literals(words), words, own, tables), "tables of its own, with counts below 1 and runs of 0 (4.1.1)")
    repeated = tuple(("repeat", FseTable(*table)) for table in (literal_table, offset_table, match_table))
    valid("sequences-repeat", text().compressed(plain_literals(words), words, own, tables).raw(b"|").compressed(plain_literals(words), words, own[::-1], repeated),
          "tables of a block before (3.1.1.3.2.1)")
    valid("sequences-repeat-predefined", text().compressed(plain_literals(words), words, rows).compressed(
        plain_literals(words), words, rows, tuple(("repeat", FseTable(*table)) for table in (LITERALS_DEFAULT, OFFSETS_DEFAULT, MATCHES_DEFAULT))),
        "predefined tables, repeated")
    valid("sequences-repeat-rle", text().compressed(plain_literals(words), words, [(16, 12, 35)] * 2, (("rle", 16), ("rle", 3), ("rle", 32))).compressed(
        plain_literals(words), words, [(17, 13, 36)] * 2, (("repeat", RleTable(16)), ("repeat", RleTable(3)), ("repeat", RleTable(32)))), "tables by RLE, repeated")
    valid("sequences-mixed-modes", text().compressed(plain_literals(words), words, [(16, 12, 35), (17, 13, 37), (4, 40, 4)],
                                                     ("predefined", ("fse",) + (5, [2, 4, 6, 10, 4, 6]), ("fse",) + (6, [10, 10] + [4] * 10 + [0] * 20 + [2, 2]))), "modes that differ")
    for count in (127, 128, 0x7EFF, 0x7F00):
        # Matches of 3 bytes at the second of the repeated offsets, 4 and 1 by turns: no bits at all but those of the mark.
        valid(f"sequences-{count}", text().compressed(plain_literals(b""), b"", [(0, 1, 3)] * count, (("rle", 0), ("rle", 0), ("rle", 0))),
              "a count at a bound of its forms (3.1.1.3.2.1)", window=8 << 3)
    valid("sequences-2-byte-count-of-one", Frame().compressed(plain_literals(words), words, [(30, 12, 50)], form=2), "a count below 128 in two bytes")
    valid("literal-lengths-each", Frame().rle(b"0", 100).compressed(
        plain_literals(b"l" * 33072, RLE), b"l" * 33072, [(base, 50 + 3, 3) for base, _ in LITERAL_CODES[:34]]), "each code of literal lengths up to 33 (3.1.1.3.2.1.1)", window=8 << 3)
    valid("literal-length-131071", Frame().compressed(plain_literals(b"l" * 131068, RLE), b"l" * 131068, [(131068, 12, 4)]), "the largest code of literal lengths, 35", window=8 << 3)
    valid("match-lengths-each", Frame().raw(TEXT).compressed(plain_literals(b"abc"), b"abc", [(0, 70 + 3, base) for base, _ in MATCH_CODES[:51]]),
          "each code of lengths of matches up to 50 (3.1.1.3.2.1.1)", window=8 << 3)
    valid("match-length-131072", Frame().raw(TEXT).compressed(plain_literals(b""), b"", [(0, 1 + 3, 131072)]), "a match as long as a block, by code 52", window=8 << 3)
    far = Frame().raw(TEXT)
    for i in range(4):
        far.rle(bytes([65 + i]), MOST)
    valid("offsets-each", far.compressed(plain_literals(b"*" * 40, RLE), b"*" * 40, [(2, (1 << code), 5) for code in range(2, 20)]), "each code of offsets from 2 to 19 (3.1.1.3.2.1.1)", window=10 << 3)
    valid("offset-of-window", Frame().raw(TEXT).rle(b"-", 1024 - len(TEXT)).compressed(plain_literals(b""), b"", [(0, 1024 + 3, 60)]), "an offset as large as the window", window=0)
    valid("repeats-initial", Frame().raw(b"12345678").compressed(plain_literals(b"abcdef"), b"abcdef", [(1, 3, 4), (1, 3, 4), (1, 3, 4), (1, 2, 5)]),
          "repeated offsets, which begin with 1, 4 and 8 (3.1.1.5)")
    valid("repeats-without-literals", Frame().raw(TEXT).compressed(plain_literals(b"ab"), b"ab", [(1, 20 + 3, 5), (0, 1, 4), (0, 2, 4), (0, 3, 4), (0, 3, 9), (1, 1, 3)]),
          "repeated offsets after no literals: the second, the third, the first less 1 (3.1.1.5)")
    valid("repeats-across-blocks", Frame().raw(TEXT).compressed(plain_literals(b"a"), b"a", [(1, 40 + 3, 25)]).raw(b"raw").rle(b"r", 5).compressed(
        plain_literals(b"b"), b"b", [(1, 1, 26)]), "repeated offsets go on from block to block (3.1.1.5)")
    cases.valid("repeats-begin-anew", Frame().raw(TEXT).compressed(plain_literals(b"a"), b"a", [(1, 40 + 3, 25)]).bytes_of(window=window_64k)
                + Frame().raw(TEXT).compressed(plain_literals(b"b"), b"b", [(1, 1, 26)]).bytes_of(window=window_64k),
                _content(Frame().raw(TEXT).compressed(plain_literals(b"a"), b"a", [(1, 40 + 3, 25)]))
                + _content(Frame().raw(TEXT).compressed(plain_literals(b"b"), b"b", [(1, 1, 26)])), "repeated offsets begin anew in each frame (3.1.1.5)")

    def bad(name, about, rows_, tables_=("predefined",) * 3, before=TEXT, literals=words, window=window_64k, **options):
        invalid(name, Frame().raw(before).compressed(plain_literals(literals), literals, rows_, tables_, **options), about, window=window)

    bad("offset-before-content", "an offset one byte before the content (3.1.1.4)", [(0, len(TEXT) + 1 + 3, 5)])
    bad("offset-before-content-first-block", "an offset before the content, in the first block (3.1.1.4)", [(4, 5 + 3, 5)], before=b"")
    bad("repeat-before-content", "the repeated offset 8, after 4 bytes (3.1.1.5)", [(4, 3, 5)], before=b"")
    bad("repeat-of-0", "the first repeated offset less 1 is 0 (3.1.1.5)", [(0, 3, 5)])
    bad("sequences-over-literals", "sequences take one literal more than there is (3.1.1.4)", [(61, 12, 5)])
    bad("sequences-count-one-more", "the stream has bits for one sequence less (3.1.1.3.2.1.2)", rows, count=len(rows) + 1)
    bad("sequences-count-one-less", "bits are left in the stream (3.1.1.3.2.1.2)", rows, count=len(rows) - 1)
    bad("sequences-spare-bits", "9 bits too many in the stream (3.1.1.3.2.1.2)", [(30, 12, 50)], spare_bits=((0, 9),))
    bad("sequences-reserved-modes", "the reserved bits of the modes (3.1.1.3.2.1)", rows, reserved=1)
    bad("sequences-repeat-first", "tables are repeated, and there are none (3.1.1.3.2.1)", [(1, 5, 3)] * 2, repeated)
    bad("rle-literal-length-36", "a code of literal lengths that does not exist (3.1.1.3.2.1.1)", [(16, 12, 35)] * 2, (("rle", 16), ("rle", 3), ("rle", 32)))
    _change(cases, b"\x54\x10\x03\x20", b"\x54\x24\x03\x20")
    bad("rle-match-length-53", "a code of lengths of matches that does not exist (3.1.1.3.2.1.1)", [(16, 12, 35)] * 2, (("rle", 16), ("rle", 3), ("rle", 32)))
    _change(cases, b"\x54\x10\x03\x20", b"\x54\x10\x03\x35")
    bad("fse-accuracy-10", "Accuracy_Log of literal lengths above 9 (3.1.1.3.2.1)", [(0, 5, 3)], (("fse", 10, [1000, 24]), "predefined", "predefined"))
    bad("fse-offset-accuracy-9", "Accuracy_Log of offsets above 8 (3.1.1.3.2.1)", [(0, 5, 3)], ("predefined", ("fse", 9, [12, 200, 300]), "predefined"))
    bad("match-over-128-kb", "a match makes the block longer than 128 KB (3.1.1.2.4)", [(60, 12, 131072 - 59)], window=8 << 3)
    bad("content-over-window", "content of a compressed block is larger than the window of 1 KB (3.1.1.2.4)", [(60, 12, 965)], window=0)
    invalid("sequences-no-mark", Frame().raw(TEXT).compressed(plain_literals(words), words, rows), "the last byte of the stream has no mark (4.1)")
    last = cases.cases[-1]
    last.data = last.data[:-1] + b"\0"
    invalid("bytes-after-no-sequences", Frame().as_it_is(plain_literals(b"n" * 30, RLE) + b"\0" + b"?"), "a byte after the count of no sequences (3.1.1.3.2.1)")
    choice("two-byte-count-of-no-sequences", Frame().as_it_is(plain_literals(b"n" * 30, RLE) + b"\x80\0", b"n" * 30), "no sequences, counted in two bytes (3.1.1.3.2.1); some versions of libzstd refuse it")

    # Frames in a row, skippable ones, ends.
    cases.valid("two-frames", plain + text().bytes_of(single=True), TEXT * 2, "frames in a row (3.1)")
    cases.valid("empty-frame-between", plain + Frame().raw(b"").bytes_of(single=True) + plain, TEXT * 2, "a frame of no content between others")
    cases.valid("skippable-before", skippable(b"user data") + plain, TEXT, "Skippable frame (3.1.2)")
    cases.valid("skippable-after", plain + skippable(b"user data", 15), TEXT, "Skippable frame (3.1.2)")
    cases.valid("skippable-between", plain + skippable(b"") + plain, TEXT * 2, "a skippable frame of no bytes (3.1.2)")
    cases.valid("skippable-every-number", b"".join(skippable(bytes([i]) * i, i) for i in range(16)) + plain, TEXT, "all sixteen magic numbers (3.1.2)")
    cases.choice("skippable-alone", skippable(b"user data"), b"", "a skippable frame and no other (3.1.2)")
    cases.choice("no-bytes", b"", b"", "a file of no bytes; there are one or more frames (3.1)")
    cases.choice("trailing-zeros", plain + bytes(20), TEXT, "zeros after the last frame, which begin no frame (3.1)")
    cases.choice("trailing-garbage", plain + b"garbage!", TEXT, "bytes after the last frame that begin none (3.1)")
    cases.invalid("skippable-cut", plain + skippable(b"user data")[:-1], "cut off in a skippable frame (3.1.2)")
    cases.invalid("second-frame-cut", plain + plain[:30], "cut off in the second frame")
    full = text().bytes_of(window=window_64k, size=len(TEXT), size_bytes=8, check=True, dictionary=bytes(4))
    for count, name in ((3, "magic-number"), (4, "before-descriptor"), (5, "before-window"), (8, "dictionary-id"), (12, "content-size"), (19, "block-header"), (40, "block"),
                        (len(full) - 4, "before-checksum"), (len(full) - 1, "checksum")):
        cases.invalid(f"cut-in-{name}".replace("in-before", "before"), full[:count], f"cut off after {count} bytes")
    return cases.cases


def _change(cases, old, new):
    """Changes bytes of the newest file that are there once."""
    data = cases.cases[-1].data
    assert data.count(old) == 1
    cases.cases[-1].data = data.replace(old, new)


def _content(frame):
    return bytes(frame.out)
