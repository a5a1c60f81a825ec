"""The two pictures of README.md, for tools/results: the tool beside lz4, pigz, igzip and bgzip, and a GPU beside nvCOMP."""

from svg_chart import bars

# The two pictures, under docs/plots.
FILES, DEVICES = "first-page-files.svg", "first-page-gpu.svg"


def rows_of(run, **about):
    return [row for row in run["rows"] if all(row.get(key) == value for key, value in about.items())]


def files_picture(lz4, gzip):
    """`lz4`: the run of tools/bench. `gzip`: that of tools/bench-gzip."""
    threads = max(row["threads"] for row in lz4["rows"] if "peer_gbps" in row)
    panels = []
    for what in ("compress", "restore"):
        [row] = rows_of(lz4, what=what, threads=threads, block_bytes=262144)
        panels.append((f".lz4, {what}, {threads} cores", [(f"hemstitch -T{threads}", row["gbps"], True), (row["peer"], row["peer_gbps"], False)]))
    for what, of in (("compress to /dev/null", "compress"), ("test", "restore")):
        [ours] = rows_of(gzip, what=what, backend="cpu", format="gzip", level=6, file="corpus", bytes=112007453, span="file")
        [pigz] = rows_of(gzip, what=what, backend="", format="gzip", level=6, peer="pigz")
        panels.append((f".gz, level 6, {of}, 16 cores", [(f"hemstitch, ratio {ours['ratio']:.2f}", ours["gbps"], True),
                                                       (f"pigz, ratio {pigz['ratio']:.2f}", pigz["gbps"], False)]))
    return bars("Files compressed and restored", "Nine Silesia files as one; longer bars are faster", "GB/s", panels)


def devices_picture(lz4, deflate):
    """The runs of bench/peers, on the same bytes and the same GPU."""
    panels = []
    for what in ("compress", "restore"):
        [row] = rows_of(lz4, what=what, file="mean", block_bytes=65536)
        panels.append((f"LZ4, {what}", [("Hemstitch", row["gbps"], True), (row["peer"], row["peer_gbps"], False)]))
    for what in ("compress", "restore"):
        found = sorted(rows_of(deflate, what=what, file="mean"), key=lambda row: row["ratio"])
        entries = [(f"{row.get('peer', 'Hemstitch')}, ratio {row['ratio']:.2f}", row["gbps"], "peer" not in row)
                   for row in found if row["ratio"] > 2]
        panels.append((f"DEFLATE, {what}", entries))
    return bars(f"Blocks of 64 KB in the memory of one {lz4['device']}", "Silesia files; longer bars are faster", "GB/s", panels)


def pictures(newest_run):
    """{name of a file: SVG}. `newest_run(ENDING)` finds a recorded run, or None."""
    lz4, gzip = newest_run("-lz4-cpu.json"), newest_run("-device-gzip.json")
    lz4_peer, deflate_peer = newest_run("-lz4-peer.json"), newest_run("-deflate-peer.json")
    found = {}
    if lz4 and gzip:
        found[FILES] = files_picture(lz4, gzip)
    if lz4_peer and deflate_peer:
        found[DEVICES] = devices_picture(lz4_peer, deflate_peer)
    return found
