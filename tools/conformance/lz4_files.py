"""Conformance files of LZ4: "LZ4 Frame Format Description" 1.6.1 (Frame) and "LZ4 Block Format Description" (Block)."""

from conformance.codes import TEXT, Cases, copy_match, little, noise, xxh32

MAGIC, LEGACY, SKIPPABLE = 0x184D2204, 0x184C2102, 0x184D2A50


def length_bytes(value):
    """What follows a token whose field says 15."""
    return b"\xff" * ((value - 15) // 255) + bytes([(value - 15) % 255]) if value >= 15 else b""


def block(sequences, last, out=None):
    """A block of (literals, offset, length of the match) and the last literals. Its content is appended to `out`."""
    out = bytearray() if out is None else out
    data = bytearray()
    for literals, offset, length in sequences:
        data.append(min(len(literals), 15) << 4 | min(length - 4, 15))
        data += length_bytes(len(literals)) + literals + little(offset, 2) + length_bytes(length - 4)
        out += literals
        if 0 < offset <= len(out):
            copy_match(out, offset, length)
    data.append(min(len(last), 15) << 4)
    data += length_bytes(len(last)) + last
    out += last
    return bytes(data)


def frame(blocks, content, *, version=1, independent=True, block_checks=False, size=None, check=False, reserved=0, dictionary=None,
          largest=4, descriptor_bits=0, header_change=0, block_change=0, content_change=0, end=True):
    """A frame of blocks, each (data, whether it is stored). What is called `..._change` is added to a checksum."""
    flags = version << 6 | independent << 5 | block_checks << 4 | (size is not None) << 3 | check << 2 | reserved << 1 | (dictionary is not None)
    descriptor = bytes([flags, largest << 4 | descriptor_bits])
    if size is not None:
        descriptor += little(size, 8)
    if dictionary is not None:
        descriptor += little(dictionary, 4)
    data = little(MAGIC, 4) + descriptor + bytes([((xxh32(descriptor) >> 8) + header_change) & 255])
    for inner, stored in blocks:
        data += little(len(inner) | stored << 31, 4) + inner
        if block_checks:
            data += little((xxh32(inner) + block_change) & 0xFFFFFFFF, 4)
    if end:
        data += bytes(4)
        if check:
            data += little((xxh32(content) + content_change) & 0xFFFFFFFF, 4)
    return data


def skippable(data, number=0):
    return little(SKIPPABLE + number, 4) + little(len(data), 4) + data


def one(sequences, last, **options):
    """A frame of one block, and its content."""
    out = bytearray()
    data = block(sequences, last, out)
    return frame([(data, False)], bytes(out), **options), bytes(out)


def files():
    cases = Cases("lz4", ".lz4")
    words = (TEXT[:40], 20, 12), (b"", 33, 7), (b"open ", 9, 19)
    last = b"the last literals"
    text = bytearray()
    text_block = block(words, last, text)
    text = bytes(text)
    plain = frame([(text_block, False)], text)

    # Frames and their flags.
    cases.valid("plain", plain, text, "independent blocks, no checksums, no sizes")
    for name, options, about in (
            ("content-checksum", {"check": True}, "content checksum (Frame: Content checksum)"),
            ("block-checksum", {"block_checks": True}, "block checksums (Frame: Block checksum)"),
            ("content-size", {"size": len(text)}, "content size (Frame: Content Size)"),
            ("linked-one-block", {"independent": False}, "a linked frame of one block"),
            ("every-flag", {"check": True, "block_checks": True, "size": len(text), "independent": False}, "all of these flags at once")):
        cases.valid(name, frame([(text_block, False)], text, **options), text, about)
    for largest, name in ((5, "256k"), (6, "1m"), (7, "4m")):
        cases.valid(f"block-maximum-{name}", frame([(text_block, False)], text, largest=largest), text, "Frame: Block Maximum Size")
    cases.valid("empty-content", frame([], b""), b"", "no blocks, only the end mark")
    cases.valid("empty-content-checksum", frame([], b"", check=True, size=None), b"", "no blocks, and a content checksum, of no bytes")
    cases.valid("one-byte", frame([(b"x", True)], b"x"), b"x", "a stored block of one byte")
    cases.valid("one-byte-compressed", one([], b"x")[0], b"x", "a compressed block of one literal")
    raw = noise(300, 1)
    cases.valid("stored", frame([(raw, True)], raw, block_checks=True), raw, "a stored block with a checksum (Frame: Data Blocks)")
    cases.valid("short-blocks", frame([(raw[:7], True), (text_block, False), (raw[7:9], True), (text_block, False)], raw[:7] + text + raw[7:9] + text),
                raw[:7] + text + raw[7:9] + text, "blocks below the maximum, stored and compressed by turns")
    cases.valid("full-block", *one([(b"ab", 2, 65536 - 14)], b"123456789012"), "a block that restores to the maximum of 64 KB")

    # Blocks.
    counts = (0, 1, 14, 15, 16, 269, 270, 271, 524, 525, 526, 3000)
    cases.valid("literal-lengths", *one([(b"start", 5, 4)] + [(noise(count, count), 5, 8) for count in counts], TEXT[:20]),
                "literal lengths at the bounds of their bytes (Block: Compressed block format)")
    lengths = (4, 5, 18, 19, 20, 272, 273, 274, 275, 527, 528, 529, 10000)
    cases.valid("match-lengths", *one([(TEXT[:21], 13, length) for length in lengths], TEXT[:12]), "lengths of matches at the bounds of their bytes")
    cases.valid("overlaps", *one([(TEXT[:40], offset, 100) for offset in range(1, 40)], TEXT[:12]), "matches that overlap themselves, at offsets of 1 to 39")
    cases.valid("offsets", *one([(noise(300, 9), offset, 20) for offset in (255, 256, 257, 299, 300)], TEXT[:12]), "offsets at the bounds of a byte")
    cases.valid("offset-65535", *one([(b"0123456789", 1, 65525), (b"", 65535, 200)], b"123456789012", largest=5), "the largest offset")
    cases.valid("match-from-first-byte", *one([(b"abcdefgh", 8, 8)], b"123456789012"), "a match that begins at the first byte of content")
    cases.valid("no-literals-between", *one([(TEXT[:30], 30, 5), (b"", 12, 6), (b"", 1, 4), (b"", 40, 40)], b"123456789012"), "matches in a row")
    cases.valid("last-literals-13", *one([(TEXT[:20], 3, 9)], TEXT[:13]), "more last literals than the end of a block asks for")
    cases.valid("literals-of-zero-extension", *one([], noise(15, 3)), "15 literals alone: the byte that is added is 0")

    # Linked blocks.
    linked = bytearray()
    linked_blocks = [(block([(TEXT[:60], 20, 9)], TEXT[60:80], linked), False)]
    linked_blocks += [(block([(b"", len(linked), 30)], b"123456789012", linked), False)]
    linked += TEXT[80:90]
    linked_blocks += [(TEXT[80:90], True)]
    linked_blocks += [(block([(b"", 5, 12), (b"-", len(linked) + 13, 20)], b"123456789012", linked), False)]
    cases.valid("linked", frame(linked_blocks, linked, independent=False, check=True), linked,
                "matches into blocks before, compressed and stored (Frame: Block Independence flag)")
    far = bytearray()
    far_blocks = [(block([(b"0123456789abcdef", 16, 65536 - 28)], b"123456789012", far), False)]
    far_blocks += [(block([(b"", 65535, 50)], b"123456789012", far), False)]
    cases.valid("linked-offset-65535", frame(far_blocks, far, independent=False), far, "the largest offset, across blocks")
    cases.invalid("independent-match-into-block-before", frame(linked_blocks, linked, independent=True),
                  "the flag says independent, a match reaches into the block before (Frame: Block Independence flag)")

    # Skippable frames, legacy frames, several frames.
    cases.valid("skippable-before", skippable(b"user data") + plain, text, "Frame: Skippable Frames")
    cases.valid("skippable-after", plain + skippable(b"user data", 15), text, "Frame: Skippable Frames")
    cases.valid("skippable-empty", skippable(b"") + plain + skippable(b"", 7), text, "skippable frames of no bytes")
    cases.valid("skippable-every-number", b"".join(skippable(bytes([i]) * i, i) for i in range(16)) + plain, text, "all sixteen magic numbers")
    cases.choice("skippable-alone", skippable(b"user data"), b"", "a skippable frame and no other")
    cases.invalid("skippable-cut", plain + skippable(b"user data")[:-1], "cut off in a skippable frame")
    cases.choice("two-frames", plain + frame([(raw, True)], raw, check=True), text + raw, "Frame Concatenation leaves it to the decoder")
    cases.choice("empty-frame-between", plain + frame([], b"") + plain, text + text, "Frame Concatenation leaves it to the decoder")
    cases.choice("skippable-between", plain + skippable(b"?") + plain, text + text, "Frame Concatenation leaves it to the decoder")
    legacy = little(LEGACY, 4) + little(len(text_block), 4) + text_block
    cases.valid("legacy", legacy, text, "Frame: Legacy frame")
    big = bytearray()
    big_block = block([(b"legacy", 6, (8 << 20) - 18)], b"123456789012", big)
    cases.valid("legacy-two-blocks", little(LEGACY, 4) + little(len(big_block), 4) + big_block + little(len(text_block), 4) + text_block,
                bytes(big) + text, "a block of 8 MB and one more (Frame: Legacy frame)")
    cases.choice("legacy-then-frame", legacy + plain, text + text, "a legacy frame ends where another magic number stands")
    cases.choice("legacy-empty", little(LEGACY, 4), b"", "a legacy frame of no blocks")
    cases.invalid("legacy-cut", legacy[:-1], "a legacy block is cut off")
    cases.invalid("legacy-size-cut", legacy + b"\x05", "the size of a legacy block is cut off")
    cases.choice("no-bytes", b"", b"", "a file of no bytes has no frame")
    cases.choice("trailing-zeros", plain + bytes(20), text, "zeros after the end mark begin no frame")
    cases.choice("trailing-garbage", plain + b"garbage!", text, "bytes after the end mark that begin no frame")

    # Choices.
    cases.choice("dictionary-id", frame([(text_block, False)], text, dictionary=7), text,
                 "a dictionary is named that no match needs (Frame: Dictionary ID); without it a decoder cannot know this")
    cases.choice("content-size-small", frame([(text_block, False)], text, size=len(text) - 1), text,
                 "content size one too small; it may be skipped or used to validate (Frame: Content Size)")
    cases.choice("content-size-large", frame([(text_block, False)], text, size=len(text) + 1), text,
                 "content size one too large; it may be skipped or used to validate (Frame: Content Size)")
    cases.choice("content-size-zero", frame([(text_block, False)], text, size=0), text, "content size 0, and content (Frame: Content Size)")
    cases.choice("stored-block-of-no-bytes", frame([(b"", True), (text_block, False)], text), text,
                 "size word 0x80000000; only 0x00000000 is the end mark")
    cases.choice("block-of-no-literals", frame([(b"\0", False), (text_block, False)], text), text, "a block of one token, without content")
    cases.choice("ends-4-literals-after-match", *one([(TEXT[:40], 10, 12)], b"1234"), "the last 5 bytes are literals: binds encoders (Block: End of block conditions)")
    cases.choice("ends-with-match", *one([(TEXT[:40], 10, 12)], b""), "no literal after the last match: binds encoders (Block: End of block conditions)")
    cases.choice("match-in-last-12-bytes", *one([(TEXT[:40], 10, 5)], b"123456"), "the last match begins at least 12 bytes before the end: binds encoders")

    # One field wrong.
    cases.invalid("magic-number", b"\x05" + plain[1:], "magic number (Frame: Magic Number)")
    for version in (0, 2, 3):
        cases.invalid(f"version-{version}", frame([(text_block, False)], text, version=version), "version is not 01 (Frame: Version Number)")
    cases.invalid("reserved-flag", frame([(text_block, False)], text, reserved=1), "bit 1 of FLG (Frame: Reserved bits)")
    for bit in (0, 3):
        cases.invalid(f"reserved-bd-{bit}", frame([(text_block, False)], text, descriptor_bits=1 << bit), f"bit {bit} of BD (Frame: Reserved bits)")
    cases.invalid("reserved-bd-7", frame([(text_block, False)], text, largest=12), "bit 7 of BD (Frame: Reserved bits)")
    for largest in range(4):
        cases.invalid(f"block-maximum-{largest}", frame([(text_block, False)], text, largest=largest), "there are 4 to 7 (Frame: Block Maximum Size)")
    cases.invalid("header-checksum", frame([(text_block, False)], text, header_change=1), "Frame: Header Checksum")
    cases.invalid("block-checksum", frame([(text_block, False)], text, block_checks=True, block_change=1), "Frame: Block checksum")
    cases.invalid("block-checksum-stored", frame([(raw, True)], raw, block_checks=True, block_change=1), "the checksum of a stored block")
    cases.invalid("content-checksum", frame([(text_block, False)], text, check=True, content_change=1), "Frame: Content checksum")
    cases.invalid("content-checksum-empty", frame([], b"", check=True, content_change=1), "the checksum of no content")
    cases.invalid("block-size-over-maximum", frame([(bytes(65537), True)], bytes(65537)), "a stored block of 64 KB and 1 byte (Frame: Block Size)")
    cases.invalid("content-over-maximum", one([(b"ab", 2, 65537 - 14)], b"123456789012")[0], "a block restores to 64 KB and 1 byte (Frame: Block Size)")
    cases.invalid("block-size-over-data", plain[:7] + little(len(text_block) + 5, 4) + plain[11:], "a block's size reaches past the end mark and the file")
    cases.invalid("block-size-one-less", plain[:7] + little(len(text_block) - 1, 4) + plain[11:], "a block's size ends within its last literals")
    cases.invalid("no-end-mark", frame([(text_block, False)], text, end=False), "the end mark is missing (Frame: EndMark)")
    cases.invalid("end-mark-cut", plain[:-1], "the end mark is cut off")
    cases.invalid("content-checksum-cut", frame([(text_block, False)], text, check=True)[:-1], "the content checksum is cut off")
    cases.invalid("block-checksum-cut", frame([(text_block, False)], text, block_checks=True, end=False)[:-1], "a block's checksum is cut off")
    for count, name in ((2, "magic-number"), (5, "descriptor"), (6, "header-checksum"), (9, "block-size"), (30, "block")):
        cases.invalid(f"cut-in-{name}", plain[:count], f"cut off after {count} bytes")
    cases.invalid("cut-in-content-size", frame([(text_block, False)], text, size=len(text))[:10], "cut off in the content size")

    def bad(name, data, about):
        cases.invalid(name, frame([(data, False)], b""), about)

    bad("offset-0", block([(TEXT[:40], 0, 8)], b"123456789012"), "an offset of 0 (Block: offset)")
    bad("offset-before-content", block([(b"abcdefgh", 9, 8)], b"123456789012"), "an offset one byte before the content")
    bad("offset-65535-before-content", block([(b"abcdefgh", 65535, 8)], b"123456789012"), "an offset far before the content")
    bad("match-at-first-byte", block([(b"", 1, 8)], b"123456789012"), "a match before any content")
    bad("literals-past-block", b"\x90" + b"12345678", "one literal more than the block has")
    bad("literal-length-cut", b"\xf0\xff\xff", "the bytes that continue a literal length end with the block")
    bad("match-length-cut", b"\x4fabcd\x01\x00\xff", "the bytes that continue a match length end with the block")
    bad("offset-cut", b"\x40abcd\x01", "an offset of one byte")
    bad("ends-after-match-length", b"\x44abcd\x02\x00", "the block ends after a match, without the token of the last literals (Block: End of block conditions)")
    bad("literal-length-of-many-ff", b"\xf0" + b"\xff" * 3000 + b"\x00", "a literal length of 765,015 in a block of 64 KB")
    return cases.cases
