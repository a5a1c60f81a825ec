"""Runs decoders over the conformance files, and writes what they say of them: verdicts.tsv, and the tables of README.md."""

import ctypes
import ctypes.util
import gzip
import hashlib
import platform
import re
import resource
import shutil
import subprocess
import zlib

BEGIN, END = "<!-- verdicts: begin -->\n", "<!-- verdicts: end -->\n"
MOST_CONTENT = 16 << 20
YES, WARNS, NO, WRONG = "yes", "yes, warns", "no", "wrong"


class Program:
    """A program that restores a file to its standard output. Of those that `warn`, status 2 is a warning behind the content."""

    def __init__(self, name, command, version, formats, warns=False):
        self.name, self.command, self.formats, self.warns = name, command, formats, warns
        done = subprocess.run(version, check=False, capture_output=True, text=True)
        self.version = re.search(r"\d+\.\d+(?:\.\d+)*", done.stdout + done.stderr)[0]

    def restore(self, path, form):
        """(status, content), or nothing if it takes too long or dies."""
        command = [word.replace("FORMAT", form) for word in self.command] + [str(path)]
        limits = lambda: resource.setrlimit(resource.RLIMIT_AS, (4 << 30, 4 << 30))     # noqa: E731
        done = subprocess.run(command, check=False, capture_output=True, timeout=20, preexec_fn=limits)
        if done.returncode == 0:
            return YES, done.stdout
        return (WARNS, done.stdout) if done.returncode == 2 and self.warns else (NO, b"")


class Calls:
    """A library that restores a file in memory, by a function for each format, which raises an error for what it refuses."""

    def __init__(self, name, version, functions):
        self.name, self.version, self.functions, self.formats = name, version, functions, tuple(functions)

    def restore(self, path, form):
        try:
            return YES, self.functions[form](path.read_bytes())
        except Exception:       # Each package has errors of its own.
            return NO, b""


def libdeflate():
    library = ctypes.util.find_library("deflate")
    if library is None:
        return []
    library = ctypes.CDLL(library)
    library.libdeflate_alloc_decompressor.restype = ctypes.c_void_p
    decompressor = ctypes.c_void_p(library.libdeflate_alloc_decompressor())
    out = ctypes.create_string_buffer(MOST_CONTENT)

    def one(function, data):
        taken, given = ctypes.c_size_t(), ctypes.c_size_t()
        status = function(decompressor, data, ctypes.c_size_t(len(data)), out, ctypes.c_size_t(MOST_CONTENT), ctypes.byref(taken), ctypes.byref(given))
        if status != 0:
            raise ValueError(status)
        return data[taken.value:], ctypes.string_at(out, given.value)

    def members(data):
        content = b""
        while data:
            data, more = one(library.libdeflate_gzip_decompress_ex, data)
            content += more
        return content

    version = subprocess.run(["pkg-config", "--modversion", "libdeflate"], check=False, capture_output=True, text=True).stdout.strip()
    return [Calls("libdeflate", version, {"gzip": members, "zlib": lambda data: one(library.libdeflate_zlib_decompress_ex, data)[1]})]


def decoders(tool):
    ours = [Program(f"hemstitch {backend}", [tool, "-dcq", "--format", "FORMAT", "--backend", backend], [tool, "--version"],
                    ("lz4", "gzip", "bgzf", "zlib", "zstd"), True) for backend in ("cpu", "reference")]
    programs = (("gzip", ["-dc"], ("gzip",), True), ("pigz", ["-dc"], ("gzip", "zlib"), True), ("igzip", ["-dc"], ("gzip",), False), ("bgzip", ["-dc"], ("bgzf",), False),
                ("lz4", ["-dcq"], ("lz4",), False), ("zstd", ["-dcq"], ("zstd",), False))
    others = [Program(name, [name, *options], [name, "--version"], formats, warns) for name, options, formats, warns in programs if shutil.which(name)]
    python = [Calls("Python", f"{platform.python_version()}, zlib {zlib.ZLIB_RUNTIME_VERSION}", {"gzip": gzip.decompress, "zlib": zlib.decompress})]
    try:
        import lz4.frame
        python.append(Calls("Python lz4", lz4.__version__, {"lz4": lz4.frame.decompress}))
    except ImportError:
        pass
    try:
        import zstd
        python.append(Calls("Python zstd", zstd.version(), {"zstd": zstd.decompress}))
    except ImportError:
        pass
    return ours + others + libdeflate() + python


def expected_rows(folder):
    lines = (folder / "expected.tsv").read_text().splitlines()
    return [dict(zip(lines[0].split("\t"), line.split("\t"))) for line in lines[1:]]


def verdict_of(decoder, folder, row):
    try:
        said, content = decoder.restore(folder / row["file"], row["format"])
    except subprocess.TimeoutExpired:
        return "hangs"
    if said == NO or row["verdict"] == "invalid":
        return said
    return said if hashlib.sha256(content).hexdigest() == row["sha256"] else WRONG


def agrees(row, said):
    return {"valid": said in (YES, WARNS), "invalid": said == NO, "choice": said in (YES, WARNS, NO)}[row["verdict"]]


def table(columns, rows):
    return "".join("| " + " | ".join(cells) + " |\n" for cells in [columns, ["---"] * len(columns)] + rows) + "\n"


def pages(rows, all_decoders, said):
    """The tables of README.md."""
    text = "Files on which each decoder does what the standard says; and how many files of choice it takes:\n\n"
    counted = []
    for decoder in all_decoders:
        for form in decoder.formats:
            own = [row for row in rows if row["format"] == form]
            parts = [[row for row in own if row["verdict"] == verdict] for verdict in ("valid", "invalid", "choice")]
            right = [sum(agrees(row, said[decoder.name, row["file"]]) for row in part) for part in parts[:2]]
            taken = sum(said[decoder.name, row["file"]] in (YES, WARNS) for row in parts[2])
            counted.append((form, [form, decoder.name, decoder.version, *(f"{count} of {len(part)}" for count, part in zip(right + [taken], parts))]))
    order = [form for form in dict.fromkeys(row["format"] for row in rows)]
    text += table(["format", "decoder", "version", "valid, restored", "invalid, refused", "choice, taken"],
                  [cells for _, cells in sorted(counted, key=lambda one: order.index(one[0]))])
    for form in order:
        own = [decoder for decoder in all_decoders if form in decoder.formats]
        shown = [row for row in rows if row["format"] == form
                 and (row["verdict"] == "choice" or not all(agrees(row, said[decoder.name, row["file"]]) for decoder in own))]
        text += f"### {form}: choices, and where a decoder differs from the standard\n\n"
        cells = []
        for row in shown:
            words = [said[decoder.name, row["file"]] for decoder in own]
            cells.append([f"`{row['file'].split('/', 1)[1].rsplit('.', 1)[0]}`", row["about"], *(word if agrees(row, word) else f"**{word}**" for word in words)])
        text += table(["file", "about", *(decoder.name for decoder in own)], cells)
    return text


def write_verdicts(folder, tool):
    rows, all_decoders = expected_rows(folder), decoders(tool)
    said = {(decoder.name, row["file"]): verdict_of(decoder, folder, row) for decoder in all_decoders for row in rows if row["format"] in decoder.formats}
    lines = ["\t".join(["file", "verdict", *(f"{decoder.name} {decoder.version}" for decoder in all_decoders)])]
    lines += ["\t".join([row["file"], row["verdict"], *(said.get((decoder.name, row["file"]), "-") for decoder in all_decoders)]) for row in rows]
    (folder / "verdicts.tsv").write_text("\n".join(lines) + "\n")
    page = folder / "README.md"
    before, rest = page.read_text().split(BEGIN)
    page.write_text(before + BEGIN + pages(rows, all_decoders, said).rstrip("\n") + "\n" + END + rest.split(END)[1])
    return 0
