"""Conformance files of gzip (RFC 1952), BGZF (SAM specification, 4.1), zlib (RFC 1950) and the DEFLATE in them (RFC 1951)."""

import zlib

from conformance.codes import TEXT, Bits, Cases, copy_match, little, noise

LENGTHS = [(3 + i, 0) for i in range(8)] + [(base + (step << extra), extra) for extra, base in ((1, 11), (2, 19), (3, 35), (4, 67), (5, 131))
                                            for step in range(4)] + [(258, 0)]
DISTANCES = [(1 + i, 0) for i in range(4)] + [((2 + half << extra) + 1, extra) for extra in range(1, 14) for half in range(2)]
ORDER = (16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15)
FIXED = [8] * 144 + [9] * 112 + [7] * 24 + [8] * 8
FLAT = [4] * 13 + [5] * 6       # a complete code of all 19 code lengths
END = 256


def symbol_of(value, table):
    """The symbol of a length or distance, and its extra bits: the last row that begins at or before it."""
    index = max(i for i, (base, _) in enumerate(table) if base <= value)
    return index, value - table[index][0], table[index][1]


def codes_of(lengths):
    """Canonical codes (RFC 1951, 3.2.2). An over-subscribed set has none; it gets any bits that fit."""
    code, codes = 0, [0] * len(lengths)
    for length in range(1, 16):
        for symbol, own in enumerate(lengths):
            if own == length:
                codes[symbol] = code & ((1 << length) - 1)
                code += 1
        code <<= 1
    return codes


def complete(symbols, count):
    """Lengths of a complete code of `symbols`, at least two: as equal as can be."""
    symbols = sorted(symbols)
    bits = (len(symbols) - 1).bit_length()
    shorter = (1 << bits) - len(symbols)
    lengths = [0] * count
    for i, symbol in enumerate(symbols):
        lengths[symbol] = bits - 1 if i < shorter else bits
    return lengths


def run_steps(lengths):
    """Code lengths as steps: repeats and runs of zeros wherever there are three or more."""
    steps, at = [], 0
    while at < len(lengths):
        run = next((i for i in range(at, len(lengths)) if lengths[i] != lengths[at]), len(lengths)) - at
        if lengths[at] == 0 and run >= 3:
            run = min(run, 138)
            steps.append((18, run - 11) if run >= 11 else (17, run - 3))
        else:
            steps.append((lengths[at], 0))
            run = min(run - 1, 6)
            if run >= 3:
                steps.append((16, run - 3))
                run += 1
            else:
                run = 1
        at += run
    return steps


class Deflate:
    """Writes a stream of blocks, and keeps its content in `out`.

    Tokens are bytes, (length, distance), ("symbol", n): a code of the literals alone, ("distance", n): one of the distances alone,
    ("raw", bits, count), and ("copy", length, distance): what a decoder makes of the last of these.
    """

    def __init__(self):
        self.bits, self.out = Bits(), bytearray()

    def stored(self, data, last=False, *, length=None, complement=0, padding=0):
        self.bits.put(last, 1)
        self.bits.put(0, 2)
        self.bits.align(padding)
        length = len(data) if length is None else length
        self.bits.put(length, 16)
        self.bits.put(length ^ 0xFFFF ^ complement, 16)
        self.bits.put(int.from_bytes(data, "little"), 8 * len(data))
        self.out += data
        return self

    def fixed(self, tokens, last=False, end=True):
        self.bits.put(last, 1)
        self.bits.put(1, 2)
        self._tokens(tokens + (("symbol", END),) * end, FIXED, [5] * 32)
        return self

    def dynamic(self, tokens, last=False, *, literals=None, distances=None, code_lengths=FLAT, steps=None, shown=19, hlit=None, hdist=None, end=True):
        """`steps`, instead of one step for each length: (symbol, extra bits) of the code lengths. `shown`: how many lengths of their
        code are written. `hlit` and `hdist` are the fields, if they say something else than how many lengths there are."""
        tokens = tokens + (("symbol", END),) * end
        literals = complete(self._used(tokens)[0] | {0, END}, 286) if literals is None else literals
        distances = complete(self._used(tokens)[1] | {0, 1}, 30) if distances is None else distances
        bits = self.bits
        bits.put(last, 1)
        bits.put(2, 2)
        bits.put(len(literals) - 257 if hlit is None else hlit, 5)
        bits.put(len(distances) - 1 if hdist is None else hdist, 5)
        bits.put(shown - 4, 4)
        for symbol in ORDER[:shown]:
            bits.put(code_lengths[symbol], 3)
        codes = codes_of(code_lengths)
        for symbol, extra in steps if steps is not None else [(length, 0) for length in literals + distances]:
            bits.put_code(codes[symbol], code_lengths[symbol])
            bits.put(extra, {16: 2, 17: 3, 18: 7}.get(symbol, 0))
        self._tokens(tokens, literals, distances)
        return self

    @staticmethod
    def _used(tokens):
        literals, distances = set(), set()
        for token in tokens:
            if isinstance(token, bytes):
                literals |= set(token)
            elif token[0] == "symbol":
                literals.add(token[1])
            elif token[0] == "distance":
                distances.add(token[1])
            elif token[0] not in ("raw", "copy"):
                literals.add(257 + symbol_of(token[0], LENGTHS)[0])
                distances.add(symbol_of(token[1], DISTANCES)[0])
        return literals, distances

    def _tokens(self, tokens, literals, distances):
        literal_codes, distance_codes = codes_of(literals), codes_of(distances)
        bits = self.bits
        for token in tokens:
            if isinstance(token, bytes):
                for byte in token:
                    bits.put_code(literal_codes[byte], literals[byte])
                self.out += token
            elif token[0] == "symbol":
                bits.put_code(literal_codes[token[1]], literals[token[1]])
            elif token[0] == "distance":
                bits.put_code(distance_codes[token[1]], distances[token[1]])
            elif token[0] == "raw":
                bits.put(token[1], token[2])
            elif token[0] == "copy":
                copy_match(self.out, token[2], token[1])
            else:
                symbol, extra, count = symbol_of(token[0], LENGTHS)
                bits.put_code(literal_codes[257 + symbol], literals[257 + symbol])
                bits.put(extra, count)
                symbol, extra, count = symbol_of(token[1], DISTANCES)
                bits.put_code(distance_codes[symbol], distances[symbol])
                bits.put(extra, count)
                if token[1] <= len(self.out):
                    copy_match(self.out, token[1], token[0])


def gzip_member(deflate, *, magic=b"\x1f\x8b", method=8, flags=0, mtime=0, xfl=0, system=255, extra=None, name=None, comment=None,
                header_crc=False, header_change=0, crc_change=0, size_change=0, padding=0):
    """A member around a `Deflate`. What is called `..._change` is added to a field."""
    flags |= header_crc << 1 | (extra is not None) << 2 | (name is not None) << 3 | (comment is not None) << 4
    head = magic + bytes([method, flags]) + little(mtime, 4) + bytes([xfl, system])
    if extra is not None:
        head += little(len(extra), 2) + extra
    for text in (name, comment):
        if text is not None:
            head += text + b"\0"
    if header_crc:
        head += little((zlib.crc32(head) + header_change) & 0xFFFF, 2)
    deflate.bits.align(padding)
    return (head + deflate.bits.bytes() + little((zlib.crc32(deflate.out) + crc_change) & 0xFFFFFFFF, 4)
            + little((len(deflate.out) + size_change) & 0xFFFFFFFF, 4))


def zlib_stream(deflate, *, method=8, window=7, level=2, dictionary=None, check_change=0, adler_change=0):
    flags = level << 6 | (dictionary is not None) << 5
    first = window << 4 | method
    flags |= -(first << 8 | flags) % 31
    deflate.bits.align()
    return (bytes([first, flags ^ check_change]) + (b"" if dictionary is None else dictionary.to_bytes(4, "big")) + deflate.bits.bytes()
            + ((zlib.adler32(deflate.out) + adler_change) & 0xFFFFFFFF).to_bytes(4, "big"))


def bgzf_block(deflate, *, before=b"", after=b"", identifier=b"BC", field=None, size_change=0, behind=b"",
               content_size_change=0, **options):
    """A BGZF block; `before` and `after` are other subfields, `behind` bytes after the data of the block."""
    deflate.bits.align()
    body = deflate.bits.bytes() + behind
    extra_size = len(before) + len(after) + 4 + (2 if field is None else len(field))
    size = 12 + extra_size + len(body) + 8 - 1 + size_change
    field = little(size, 2) if field is None else field
    extra = before + identifier + little(len(field), 2) + field + after
    whole = gzip_member(deflate, extra=extra, size_change=content_size_change, **options)
    return whole[:-8] + behind + whole[-8:]


def small(content=TEXT):
    """A stream of one block of fixed codes, with matches where the text repeats itself."""
    return Deflate().fixed((content,), True)


def inner_files(cases):
    """What concerns DEFLATE, as members of gzip: the trailers fit what a lax decoder restores."""

    def valid(name, deflate, about):
        content = bytes(deflate.out)
        cases.valid(name, gzip_member(deflate), content, about)

    def invalid(name, deflate, about, **options):
        cases.invalid(name, gzip_member(deflate, **options), about)

    def choice(name, deflate, about, **options):
        content = bytes(deflate.out)
        cases.choice(name, gzip_member(deflate, **options), content, about)

    # Stored blocks.
    valid("stored", Deflate().stored(TEXT, True), "a stored block (RFC 1951, 3.2.4)")
    valid("stored-empty", Deflate().stored(b"", True), "a stored block of no bytes")
    valid("stored-65535", Deflate().stored(bytes(65535), True), "the longest stored block")
    valid("stored-empty-many", Deflate().stored(b"").stored(b"").stored(b"a").stored(b"").stored(b"b").stored(b"", True), "stored blocks of no bytes between others")
    valid("stored-padding-of-ones", Deflate().stored(TEXT[:50], True, padding=255), "bits up to the byte are ignored (RFC 1951, 3.2.4)")
    shifted = Deflate()
    for count in range(8):
        # Literals of nine bits move the place where the stored block begins.
        shifted.fixed((b"\xf0" * count + b"ab",)).stored(b"stored")
    valid("stored-at-every-bit", shifted.fixed((b"end",), True), "stored blocks whose headers begin at each bit of a byte")
    valid("match-into-stored", Deflate().stored(TEXT[:80]).fixed(((40, 80), (3, 1)), True), "a match into a stored block (RFC 1951, 3.2.3)")
    invalid("stored-nlen", Deflate().stored(TEXT, True, complement=0x0100), "NLEN is not the complement of LEN (RFC 1951, 3.2.4)")
    invalid("stored-nlen-equal", Deflate().stored(bytes(16), True, complement=0xFFFF), "NLEN equals LEN")

    # Fixed codes.
    valid("fixed-empty", Deflate().fixed((), True), "a block of fixed codes, without content")
    valid("fixed-empty-many", Deflate().fixed(()).fixed(()).fixed((b"x",)).fixed(()).fixed((), True), "empty blocks of fixed codes")
    valid("fixed-every-literal", Deflate().fixed((bytes(range(256)),), True), "all literals (RFC 1951, 3.2.6)")
    valid("fixed-every-length", Deflate().fixed((b"lengths",) + tuple((length, 7) for length in range(3, 259)), True), "matches of 3 to 258 bytes (RFC 1951, 3.2.5)")
    far = (b"A far distance!",) + ((258, 15),) * 128
    at_ends = tuple((3, value) for base, extra in DISTANCES for value in {base, base + (1 << extra) - 1})
    valid("fixed-every-distance", Deflate().fixed(far + tuple(sorted(at_ends)), True), "each code of distances, with its least and its largest (RFC 1951, 3.2.5)")
    valid("distance-32768", Deflate().fixed((b"0123456789", (258, 10)) + ((258, 7),) * 126 + ((258, 32768), (3, 32768)), True), "the largest distance")
    valid("distance-of-all-content", Deflate().fixed((b"abcd", (258, 4), (258, 262)), True), "a match from the first byte of content")
    valid("overlap-1", Deflate().fixed((b"a", (258, 1), (258, 1)), True), "runs of one byte")
    valid("overlap-2-to-9", Deflate().fixed((b"abcdefghi",) + tuple((100, distance) for distance in range(2, 10)), True), "matches that overlap themselves")
    valid("match-across-blocks", Deflate().fixed((TEXT[:50],)).dynamic(((20, 50), b"and")).fixed(((60, 73),), True), "matches into blocks before (RFC 1951, 3.2.3)")
    choice("length-258-by-284", Deflate().fixed((b"abc", ("symbol", 284), ("raw", 31, 5), ("distance", 2), ("copy", 258, 3)), True),
           "length 258 by code 284 with 31 as extra bits; the table says 227 to 257 (RFC 1951, 3.2.5)")
    for symbol in (286, 287):
        invalid(f"fixed-length-code-{symbol}", Deflate().fixed((b"abc", ("symbol", symbol), ("distance", 0)), True), f"{symbol} never occurs (RFC 1951, 3.2.6)")
    for symbol in (30, 31):
        invalid(f"fixed-distance-code-{symbol}", Deflate().fixed((b"abc", ("symbol", 257), ("distance", symbol)), True), f"{symbol} never occurs (RFC 1951, 3.2.6)")
    invalid("distance-before-content", Deflate().fixed((b"abc", (3, 4), b"d"), True), "a distance one byte past the beginning (RFC 1951, 3.2.3)")
    invalid("distance-at-first-byte", Deflate().fixed(((3, 1), b"d"), True), "a match before any content (RFC 1951, 3.2.3)")
    invalid("distance-32768-before-content", Deflate().fixed((TEXT, (258, 32768)), True), "a distance far past the beginning (RFC 1951, 3.2.3)")
    cases.invalid("distance-into-member-before", gzip_member(small()) + gzip_member(Deflate().fixed(((3, 1), b"d"), True)),
                  "a match of the second member into the first (RFC 1952, 2.2)")
    invalid("block-type-3", _of_type_3(), "the reserved block type (RFC 1951, 3.2.3)")
    invalid("block-type-3-second", _of_type_3(Deflate().fixed((TEXT,))), "the reserved block type, after a sound block (RFC 1951, 3.2.3)")

    # Dynamic codes.
    text = (TEXT, (30, 80), b".")
    valid("dynamic", Deflate().dynamic(text, True), "a block of dynamic codes (RFC 1951, 3.2.7)")
    valid("dynamic-empty", Deflate().dynamic((), True), "dynamic codes, without content")
    valid("dynamic-many", Deflate().dynamic((TEXT[:9],)).dynamic(()).dynamic(((9, 9),)).dynamic((b"!",), True), "several blocks, each with codes of its own")
    skewed = [0] * 286
    for length, symbol in enumerate(b"abcdefghijklmno", 1):
        skewed[symbol] = length
    skewed[END] = 15
    valid("dynamic-15-bits", Deflate().dynamic((b"onmlkjihgfedcba" * 3,), True, literals=skewed), "codes of 1 to 15 bits")
    uneven = [0] * 14 + [15] + list(range(15, 0, -1))
    valid("dynamic-distances-15-bits", Deflate().fixed(far).dynamic(tuple((3, DISTANCES[symbol][0]) for symbol in range(14, 30)), True, distances=uneven),
          "codes of distances of 1 to 15 bits")
    valid("dynamic-all-codes", Deflate().dynamic(far + tuple(sorted(at_ends)), True, literals=complete(range(286), 286), distances=complete(range(30), 30)),
          "286 codes of literals and 30 of distances, the most that are used")
    valid("dynamic-257-literals", Deflate().dynamic((TEXT,), True, literals=complete(range(257), 257), distances=[1, 1]), "no lengths of matches: HLIT is 0")
    valid("dynamic-no-distances", Deflate().dynamic((TEXT,), True, distances=[0]), "one distance code of zero bits: literals alone (RFC 1951, 3.2.7)")
    valid("dynamic-no-distances-of-30", Deflate().dynamic((TEXT,), True, distances=[0] * 30), "30 distance codes, all of zero bits")
    valid("dynamic-one-distance", Deflate().dynamic((TEXT, (258, 1), (3, 1)), True, distances=[1]), "one distance code, of one bit (RFC 1951, 3.2.7)")
    valid("dynamic-one-distance-of-30", Deflate().fixed(far).dynamic((TEXT, (258, 24577), (3, 32768)), True, distances=[0] * 29 + [1]),
          "one distance code, the last of 30")
    two = [0] * 257
    two[97] = two[END] = 1
    valid("dynamic-runs-of-138", Deflate().dynamic((b"aaaa",), True, literals=two, distances=[0], code_lengths=[2, 2] + [0] * 16 + [1], shown=18,
                                                   steps=[(18, 97 - 11), (1, 0), (18, 127), (18, 20 - 11), (1, 0), (0, 0)]),
          "runs of 11 to 138 zeros by symbol 18 (RFC 1951, 3.2.7)")
    sixteen = [0] * 259
    for symbol in tuple(b"cloth and bread"[:13]) + (END, 257, 258):
        sixteen[symbol] = 4
    for symbol in range(sixteen.count(4), 16):
        sixteen[symbol] = 4
    valid("dynamic-repeat-into-distances", Deflate().dynamic((b"cloth and ", (3, 4), (4, 10)), True, literals=sixteen, distances=[4] * 16,
                                                             steps=[(length, 0) for length in sixteen[:257]] + [(16, 3)] * 3),
          "a repeat that begins in the lengths of literals and ends in those of distances (RFC 1951, 3.2.7)")
    short_run = complete(set(TEXT) | {END, 260}, 286)
    valid("dynamic-runs", Deflate().dynamic((TEXT, (6, 1)), True, literals=short_run, distances=[1, 1] + [0] * 28, steps=run_steps(short_run + [1, 1] + [0] * 28)),
          "repeats by 16, 17 and 18, with a run of zeros into the distances (RFC 1951, 3.2.7)")
    valid("dynamic-5-code-lengths", Deflate().dynamic((bytes(range(255)),), True, literals=[8] * 255 + [0, 8], distances=[0],
                                                      code_lengths=[1, 0, 0, 0, 0, 0, 0, 0, 1] + [0] * 10, shown=5), "the code lengths 0 and 8 alone, the least that are shown")
    seven = [0] * 19
    for symbol, length in ((8, 1), (0, 2), (17, 3), (18, 4), (16, 5), (7, 6), (9, 7), (6, 7)):
        seven[symbol] = length
    valid("dynamic-7-bit-code-lengths", Deflate().dynamic((TEXT,), True, literals=complete(range(257), 257), distances=[0], code_lengths=seven),
          "the code of the code lengths has 1 to 7 bits")

    over = complete(range(257), 257)
    over[0] -= 1
    invalid("dynamic-literals-over-subscribed", Deflate().dynamic((TEXT,), True, literals=over, distances=[0]), "more codes of literals than fit (RFC 1951, 3.2.2)")
    invalid("dynamic-distances-over-subscribed", Deflate().dynamic((TEXT,), True, distances=[1, 1, 1]), "more codes of distances than fit (RFC 1951, 3.2.2)")
    invalid("dynamic-code-lengths-over-subscribed", Deflate().dynamic((TEXT,), True, code_lengths=[3] + FLAT[1:]), "more codes of code lengths than fit (RFC 1951, 3.2.2)")
    choice("dynamic-literals-incomplete", Deflate().dynamic((TEXT,), True, literals=[9] * 257, distances=[0]), "codes of literals that leave bits without meaning, which do not occur (RFC 1951, 3.2.2, is silent)")
    choice("dynamic-distances-incomplete", Deflate().dynamic((TEXT, (9, 1), (9, 2)), True, distances=[2, 2]), "two codes of distances of two bits; the others do not occur (RFC 1951, 3.2.7, names only the case of one)")
    choice("dynamic-one-distance-of-2-bits", Deflate().dynamic((TEXT, (9, 1)), True, distances=[2]), "one code of distances, of two bits; it is encoded using one (RFC 1951, 3.2.7)")
    choice("dynamic-code-lengths-incomplete", Deflate().dynamic((TEXT,), True, code_lengths=[5] * 19), "the code of the code lengths leaves bits without meaning (RFC 1951, 3.2.2, is silent)")
    choice("dynamic-end-alone", Deflate().dynamic((), True, literals=[0] * 256 + [1], distances=[0]), "the end of the block is the only code, of one bit (RFC 1951, 3.2.2, is silent)")
    invalid("dynamic-no-end", Deflate().dynamic((TEXT,), True, literals=complete(range(256), 256) + [0], distances=[0], end=False), "256 has no code: the block cannot end (RFC 1951, 3.2.3)")
    invalid("dynamic-literal-no-code", Deflate().dynamic((TEXT, ("raw", 0x1FF, 9)), True, literals=[9] * 257, distances=[0]), "bits that are no code of literals occur (RFC 1951, 3.2.2)")
    invalid("dynamic-distance-no-code", Deflate().dynamic((TEXT, ("symbol", 257), ("raw", 1, 1), ("copy", 3, 1)), True, distances=[1]), "the bit that is no code of distances occurs (RFC 1951, 3.2.7)")
    invalid("dynamic-distance-without-codes", Deflate().dynamic((TEXT, ("symbol", 257), ("copy", 3, 1)), True, distances=[0]), "a match, and there are no distances (RFC 1951, 3.2.7)")
    invalid("dynamic-distance-before-content", Deflate().dynamic((b"ab", (3, 3)), True), "a distance past the beginning (RFC 1951, 3.2.3)")
    for count in (287, 288):
        invalid(f"dynamic-hlit-{count}", Deflate().dynamic((TEXT,), True, literals=complete(set(TEXT) | {0, END}, count), distances=[0]), "HLIT: there are 257 to 286 codes (RFC 1951, 3.2.7)")
    for count in (31, 32):
        choice(f"dynamic-hdist-{count}", Deflate().dynamic((TEXT, (9, 1)), True, distances=complete({0, 1}, count)),
               "HDIST: RFC 1951, 3.2.7, allows 1 to 32 codes, of which 30 and 31 never occur; zlib refuses more than 30")
    invalid("dynamic-repeat-first", Deflate().dynamic((TEXT,), True, literals=complete(range(257), 257), distances=[0],
                                                      steps=[(16, 0)] + [(length, 0) for length in complete(range(257), 257)[3:] + [0]]), "16 as the first code length: there is none before it (RFC 1951, 3.2.7)")
    invalid("dynamic-repeat-past-last", Deflate().dynamic((TEXT,), True, literals=complete(range(257), 257), distances=[0],
                                                          steps=[(length, 0) for length in complete(range(257), 257)] + [(17, 0)]), "a run of zeros past the last length (RFC 1951, 3.2.7)")

    # Ends.
    choice("padding-of-ones", Deflate().fixed((TEXT + b"x" * 3,), True), "bits after the last block, up to the byte, are 1; RFC 1951 is silent", padding=255)
    whole = gzip_member(small())
    invalid("no-last-block", Deflate().fixed((TEXT,)), "no block is the last: the trailer is read as a block (RFC 1951, 3.2.3)", crc_change=0)
    cases.invalid("cut-in-block", whole[:40], "cut off in a block")
    cases.invalid("cut-in-stored", gzip_member(Deflate().stored(TEXT, True))[:60], "cut off in a stored block")
    cases.invalid("cut-in-stored-size", gzip_member(Deflate().stored(TEXT, True))[:13], "cut off in the size of a stored block")
    cases.invalid("cut-in-dynamic-codes", gzip_member(Deflate().dynamic((TEXT,), True))[:30], "cut off in the codes of a block")
    cases.invalid("cut-before-end-of-block", whole[:-9], "the last byte of the last block is missing, and the trailer")


def _of_type_3(deflate=None):
    deflate = deflate or Deflate()
    deflate.bits.put(1, 1)
    deflate.bits.put(3, 2)
    deflate.bits.put(0, 7)
    return deflate


def gzip_files():
    cases = Cases("gzip", ".gz")
    plain = gzip_member(small())
    cases.valid("plain", plain, TEXT, "one member, no optional fields")
    for name, options, about in (
            ("fextra", {"extra": b"ap\x04\x00data"}, "FEXTRA with one subfield (RFC 1952, 2.3.1.1)"),
            ("fextra-empty", {"extra": b""}, "FEXTRA of no bytes"),
            ("fextra-several", {"extra": b"aa\x00\x00bb\x01\x00?cc\x02\x00!!"}, "three subfields, one of them empty"),
            ("fextra-of-zeros-and-magic", {"extra": b"zz\x08\x00\x00\x00\x1f\x8b\x08\x00\x00\x00"}, "a subfield that looks like a header"),
            ("fextra-65535", {"extra": b"xx" + little(65531, 2) + bytes(65531)}, "the largest FEXTRA"),
            ("fname", {"name": b"cloth.txt"}, "FNAME"),
            ("fname-empty", {"name": b""}, "FNAME of no characters"),
            ("fname-latin-1", {"name": b"Saumstich \xfcber alles"}, "FNAME with a letter of ISO 8859-1"),
            ("fname-long", {"name": b"n" * 2000}, "FNAME of 2000 characters"),
            ("fname-path", {"name": b"../../up/cloth.txt"}, "FNAME with folders, which no decoder may follow"),
            ("fcomment", {"comment": b"first line\nsecond line"}, "FCOMMENT of two lines"),
            ("fcomment-empty", {"comment": b""}, "FCOMMENT of no characters"),
            ("fhcrc", {"header_crc": True}, "FHCRC"),
            ("every-field", {"extra": b"ap\x01\x00x", "name": b"n", "comment": b"c", "header_crc": True, "flags": 1}, "all optional fields and FTEXT"),
            ("ftext", {"flags": 1}, "FTEXT"), ("mtime-largest", {"mtime": 0xFFFFFFFF}, "MTIME"), ("xfl-2", {"xfl": 2}, "XFL of the slowest level"),
            ("xfl-255", {"xfl": 255}, "XFL without meaning; decoders need not look at it (RFC 1952, 2.3.1.2)"), ("os-0", {"system": 0}, "OS: FAT"),
            ("os-200", {"system": 200}, "OS without meaning; decoders need not look at it (RFC 1952, 2.3.1.2)")):
        cases.valid(f"header-{name}", gzip_member(small(), **options), TEXT, about)
    nothing = gzip_member(Deflate().fixed((), True))
    cases.valid("empty-content", nothing, b"", "a member without content")
    cases.valid("two-members", plain + gzip_member(small(b"second")), TEXT + b"second", "members follow each other (RFC 1952, 2.2)")
    cases.valid("two-members-of-other-headers", gzip_member(small(), name=b"first", header_crc=True) + gzip_member(small(b"second"), extra=b"", comment=b"!"),
                TEXT + b"second", "members with different fields")
    cases.valid("empty-member-first", nothing + plain, TEXT, "a member without content before another")
    cases.valid("empty-member-last", plain + nothing, TEXT, "a member without content behind another")
    cases.valid("empty-members-between", plain + nothing * 3 + plain, TEXT + TEXT, "members without content between others")
    cases.valid("hundred-members", b"".join(gzip_member(small(bytes([i]))) for i in range(100)), bytes(range(100)), "a hundred members of one byte")
    cases.valid("header-ends-at-512", gzip_member(small(), name=b"n" * 501), TEXT, "a header of 512 bytes")
    cases.valid("member-begins-at-32768", gzip_member(Deflate().stored(bytes(32768 - 23), True)) + plain, bytes(32768 - 23) + TEXT, "a member that begins at byte 32768")

    cases.choice("no-bytes", b"", b"", "a series of no members (RFC 1952, 2.2)")
    cases.choice("trailing-zero", plain + b"\0", TEXT, "one zero after the last member; RFC 1952 knows no padding")
    cases.choice("trailing-zeros", plain + bytes(300), TEXT, "zeros after the last member; RFC 1952 knows no padding")
    cases.choice("trailing-garbage", plain + b"garbage", TEXT, "bytes after the last member that begin no member")
    cases.choice("second-member-method", plain + gzip_member(small(), method=7), TEXT, "a second member of an unknown method")
    cases.choice("fhcrc", gzip_member(small(), header_crc=True, header_change=1), TEXT, "FHCRC is wrong; decoders must only skip it (RFC 1952, 2.3.1.2)")
    cases.choice("fextra-subfield-too-long", gzip_member(small(), extra=b"ap\x09\x00data"), TEXT, "a subfield is longer than FEXTRA; decoders must only skip it (RFC 1952, 2.3.1.2)")
    cases.choice("fextra-half-a-subfield", gzip_member(small(), extra=b"a"), TEXT, "FEXTRA of one byte; decoders must only skip it (RFC 1952, 2.3.1.2)")
    cases.invalid("id1", gzip_member(small(), magic=b"\x1e\x8b"), "ID1 (RFC 1952, 2.3.1)")
    cases.invalid("id2", gzip_member(small(), magic=b"\x1f\x8c"), "ID2 (RFC 1952, 2.3.1)")
    for method in (0, 7, 9):
        cases.invalid(f"cm-{method}", gzip_member(small(), method=method), "CM is not 8; a decoder must check it (RFC 1952, 2.3.1.2)")
    for bit in (5, 6, 7):
        cases.invalid(f"reserved-flag-{bit}", gzip_member(small(), flags=1 << bit), f"bit {bit} of FLG; a decoder must refuse it (RFC 1952, 2.3.1.2)")
    cases.invalid("crc32", gzip_member(small(), crc_change=1), "CRC32 (RFC 1952, 2.3.1)")
    cases.invalid("crc32-empty-content", gzip_member(Deflate().fixed((), True), crc_change=1), "CRC32 of no content")
    cases.invalid("isize", gzip_member(small(), size_change=1), "ISIZE (RFC 1952, 2.3.1)")
    cases.invalid("isize-0", gzip_member(small(), size_change=-len(TEXT)), "ISIZE is 0 (RFC 1952, 2.3.1)")
    cases.invalid("second-member-crc32", plain + gzip_member(small(), crc_change=1), "CRC32 of the second member")
    cases.invalid("byte-between-block-and-trailer", plain[:-8] + b"\0" + plain[-8:], "a byte before CRC32")
    cases.invalid("no-trailer", plain[:-8], "CRC32 and ISIZE are missing")
    for count, name in ((4, "isize"), (7, "crc32")):
        cases.invalid(f"cut-in-{name}", plain[:-count], f"cut off {count} bytes before the end")
    every = gzip_member(small(), extra=b"ap\x04\x00data", name=b"name", comment=b"comment", header_crc=True)
    for count, name in ((1, "id"), (3, "flg"), (9, "os"), (11, "xlen"), (16, "fextra"), (22, "fname"), (30, "fcomment"), (34, "fhcrc"), (35, "before-block")):
        cases.invalid(f"cut-in-{name}" if "-" not in name else f"cut-{name}", every[:count], f"cut off in the header, after {count} bytes")
    cases.invalid("second-member-cut-in-header", plain + every[:20], "cut off in the header of the second member")
    cases.invalid("second-member-cut-in-block", plain + plain[:40], "cut off in a block of the second member")
    inner_files(cases)
    return cases.cases


def bgzf_files():
    cases = Cases("bgzf", ".gz")
    end = bgzf_block(Deflate().fixed((), True))
    plain = bgzf_block(small())
    cases.valid("plain", plain + end, TEXT, "one block and the end marker (SAM, 4.1)")
    cases.valid("several", plain * 5 + end, TEXT * 5, "five blocks")
    cases.valid("empty-content", end, b"", "the end marker alone")
    cases.valid("stored", bgzf_block(Deflate().stored(TEXT, True)) + end, TEXT, "a stored block of DEFLATE")
    cases.valid("dynamic", bgzf_block(Deflate().dynamic((TEXT, (50, 70)), True)) + end, TEXT + TEXT[len(TEXT) - 70:][:50], "dynamic codes")
    cases.valid("several-blocks-of-deflate", bgzf_block(Deflate().fixed((TEXT,)).stored(b"!").fixed(((80, 81),), True)) + end, TEXT + b"!" + (TEXT + b"!")[-81:][:80],
                "a BGZF block of three blocks of DEFLATE")
    cases.valid("65536-of-content", bgzf_block(Deflate().fixed((b"0123456789abcdef",) + ((256, 16),) * 255 + ((240, 16),), True)) + end, b"0123456789abcdef" * 4096,
                "the largest content of a block")
    cases.valid("65280-of-content", bgzf_block(Deflate().fixed((bytes(255),) + ((255, 255),) * 255, True)) + end, bytes(65280), "the content that writers put into a block")
    cases.valid("largest-block", bgzf_block(Deflate().stored(bytes(65536 - 31), True)) + end, bytes(65536 - 31), "BSIZE is 65535")
    cases.valid("subfield-before", bgzf_block(small(), before=b"ap\x02\x00xy") + end, TEXT, "another subfield before BC")
    cases.valid("subfield-after", bgzf_block(small(), after=b"ap\x02\x00xy") + end, TEXT, "another subfield after BC")
    cases.valid("mtime-and-os", bgzf_block(small(), mtime=1, system=3, xfl=4) + end, TEXT, "MTIME, XFL and OS may be anything")
    cases.valid("marker-between", plain + end + plain + end, TEXT * 2, "two BGZF files, one after the other")
    cases.valid("markers-at-end", plain + end * 3, TEXT, "several end markers")
    cases.choice("no-marker", plain * 2, TEXT * 2, "the end marker is missing: the file may be cut off (SAM, 4.1.2)")
    cases.choice("trailing-zeros", plain + end + bytes(40), TEXT, "zeros after the end marker")
    cases.choice("no-bytes", b"", b"", "no blocks and no end marker")
    cases.invalid("bsize-one-less", bgzf_block(small(), size_change=-1) + end, "BSIZE is one too small (SAM, 4.1)")
    cases.invalid("bsize-one-more", bgzf_block(small(), size_change=1) + end, "BSIZE is one too large (SAM, 4.1)")
    cases.invalid("bsize-0", bgzf_block(small(), field=b"\0\0") + end, "BSIZE has no room for the block (SAM, 4.1)")
    cases.invalid("bsize-header-alone", bgzf_block(small(), field=little(17, 2)) + end, "BSIZE ends with the header")
    cases.invalid("bsize-past-file", bgzf_block(small(), field=b"\xff\xff"), "BSIZE reaches past the file")
    cases.invalid("crc32", bgzf_block(small(), crc_change=1) + end, "CRC32")
    cases.invalid("crc32-of-second", plain + bgzf_block(small(), crc_change=1) + end, "CRC32 of the second block")
    cases.invalid("isize", bgzf_block(small(), content_size_change=1) + end, "ISIZE")
    cases.invalid("isize-of-marker", plain + bgzf_block(Deflate().fixed((), True), content_size_change=1), "ISIZE of the end marker")
    cases.invalid("65537-of-content", bgzf_block(Deflate().fixed((b"0123456789abcdef!",) + ((256, 17),) * 255 + ((240, 17),), True)) + end, "content of 65537 bytes in a block (SAM, 4.1: ISIZE is at most 65536)")
    cases.invalid("byte-behind-deflate", bgzf_block(small(), behind=b"\0") + end, "a byte between the data of a block and CRC32")
    cases.invalid("cut-in-block", plain + plain[:60], "cut off in the second block")
    cases.invalid("cut-in-marker", plain + end[:-1], "cut off in the end marker")
    cases.invalid("cut-in-header", plain + end[:14], "cut off in the header of a block")
    cases.invalid("distance-before-block", plain + bgzf_block(Deflate().fixed(((3, 1), b"d"), True)) + end, "a match into the block before")
    return cases.cases


def zlib_files():
    cases = Cases("zlib", ".zz")
    cases.valid("plain", zlib_stream(small()), TEXT, "a window of 32 KB (RFC 1950, 2.2)")
    for level in (0, 1, 3):
        cases.valid(f"flevel-{level}", zlib_stream(small(), level=level), TEXT, "FLEVEL (RFC 1950, 2.2)")
    for window in range(7):
        cases.valid(f"cinfo-{window}", zlib_stream(Deflate().fixed((TEXT, (30, 90), (20, 181)), True), window=window),
                    _content(Deflate().fixed((TEXT, (30, 90), (20, 181)), True)), f"a window of {256 << window} bytes; all distances are below it")
    cases.valid("empty-content", zlib_stream(Deflate().fixed((), True)), b"", "no content: Adler-32 is 1")
    cases.valid("stored", zlib_stream(Deflate().stored(TEXT, True)), TEXT, "a stored block")
    cases.valid("dynamic", zlib_stream(Deflate().dynamic((TEXT,), True)), TEXT, "dynamic codes")
    high = Deflate().fixed((b"\xff",) + ((258, 1),) * 260, True)
    cases.valid("adler-32-of-ff", zlib_stream(high), high.out, "67,081 bytes of 255: sums of Adler-32 that wrap (RFC 1950, 8.2)")
    far = Deflate().fixed((noise(300, 5), (20, 300)), True)
    cases.choice("distance-over-window", zlib_stream(far, window=0), far.out, "a distance of 300 in a window of 256 bytes (RFC 1950, 2.2); decoders need not check it (2.3)")
    cases.choice("trailing-garbage", zlib_stream(small()) + b"garbage", TEXT, "bytes after the stream; RFC 1950 is silent")
    cases.choice("two-streams", zlib_stream(small()) + zlib_stream(small(b"second")), TEXT, "a second stream; RFC 1950 knows one")
    cases.invalid("no-bytes", b"", "no header")
    for method in (0, 7, 9, 15):
        cases.invalid(f"cm-{method}", zlib_stream(small(), method=method), "CM is not 8 (RFC 1950, 2.2)")
    for window in (8, 15):
        cases.invalid(f"cinfo-{window}", zlib_stream(small(), window=window), "CINFO above 7 (RFC 1950, 2.2)")
    cases.invalid("fcheck", zlib_stream(small(), check_change=1), "FCHECK (RFC 1950, 2.2)")
    cases.invalid("fdict", zlib_stream(small(), dictionary=0x01020304), "FDICT, and the dictionary is not known (RFC 1950, 2.3)")
    cases.invalid("adler-32", zlib_stream(small(), adler_change=1), "ADLER32 (RFC 1950, 2.2)")
    cases.invalid("adler-32-empty-content", zlib_stream(Deflate().fixed((), True), adler_change=1), "ADLER32 of no content")
    plain = zlib_stream(small())
    swapped = plain[:-4] + plain[:-5:-1]
    cases.invalid("adler-32-other-order", swapped, "ADLER32 in little-endian order (RFC 1950, 2.1)")
    cases.invalid("no-adler-32", plain[:-4], "ADLER32 is missing")
    for count, name in ((len(plain) - 1, "adler-32"), (50, "block"), (1, "header"), (2, "before-block")):
        cases.invalid(f"cut-in-{name}" if "-block" not in name else "cut-before-block", plain[:count], f"cut off after {count} bytes")
    cases.invalid("distance-before-content", zlib_stream(Deflate().fixed((b"abc", (3, 4), b"d"), True)), "a distance one byte past the beginning (RFC 1951, 3.2.3)")
    cases.invalid("block-type-3", zlib_stream(_of_type_3()), "the reserved block type (RFC 1951, 3.2.3)")
    return cases.cases


def _content(deflate):
    return bytes(deflate.out)
