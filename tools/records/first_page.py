"""The two pictures of README.md, for tools/results: the tool beside lz4, pigz and gzip, and a GPU beside nvCOMP."""

from records.svg_chart import bars

# The two pictures, under docs/plots.
FILES, DEVICES = "first-page-files.svg", "first-page-gpu.svg"


class MissingRow(Exception):
    """A recorded run lacks what a picture shows."""


def rows_of(run, **about):
    """The run's rows that are about this; one at least."""
    found = [row for row in run["rows"] if all(row.get(key) == value for key, value in about.items())]
    if not found:
        wanted = ", ".join(f"{key} {value}" for key, value in about.items())
        raise MissingRow(f"a picture of README.md needs a row with {wanted}; the run of {run['command']} of {run['date']} has none")
    return found


def cores_text(count):
    return "1 core" if count == 1 else f"{count} cores"


def files_picture(lz4, gzip):
    """The two runs of tools/bench."""
    threads = max(row["threads"] for row in rows_of(lz4, what="compress"))
    panels = []
    for what in ("compress", "restore"):
        row = rows_of(lz4, what=what, threads=threads, block_bytes=262144)[0]
        panels.append((f".lz4, level 1, {what}", [(f"hemstitch, {cores_text(threads)}", row["gbps"], True),
                                                  (f"{row['peer']}, 1 core", row["peer_gbps"], False)]))
    for what in ("compress", "restore"):
        rows = [rows_of(gzip, what=what, peer=peer)[0] for peer in ("pigz", "gzip")]
        panels.append((f".gz, level {rows[0]['level']}, {what}",
                       [(f"hemstitch, {cores_text(rows[0]['threads'])}, ratio {rows[0]['ratio']:.2f}", rows[0]["gbps"], True),
                        *((f"{row['peer']}, {cores_text(row['peer_threads'])}, ratio {row['peer_ratio']:.2f}", row["peer_gbps"], False)
                          for row in rows)]))
    return bars("Files compressed and restored", "Nine Silesia files as one; longer bars are faster", "GB/s", panels)


def ours_since(peer_run, own_runs):
    """For the rows of a run beside a peer, those of later runs of ours alone on the same device: the same data, the same blocks."""
    def is_as(row, other):
        return all(row.get(key) == other.get(key) for key in ("what", "block_bytes", "file", "span")) and \
            str(row["level"] if "level" in row else 1) == str(other["level"]) and row.get("bytes", 0) > 1e9
    later = [run for run in own_runs if run and run["device"] == peer_run["device"] and run["date"] > peer_run["date"]]
    found = [next((row for run in later for row in run["rows"] if is_as(row, other)), None) for other in rows_of(peer_run, file="mean")]
    return [row for row in found if row]


def devices_picture(lz4, deflate, lz4_alone):
    """The runs of bench/peers, on the same bytes and the same GPU; ours from later runs without the peer, where there are some."""
    panels, later = [], {(row["what"], row["block_bytes"]): row for row in ours_since(lz4, lz4_alone)}
    for what in ("compress", "restore"):
        row = rows_of(lz4, what=what, file="mean", block_bytes=65536)[0]
        panels.append((f"LZ4, {what}", [("Hemstitch", later.get((what, 65536), row)["gbps"], True), (row["peer"], row["peer_gbps"], False)]))
    for what in ("compress", "restore"):
        found = sorted(rows_of(deflate, what=what, file="mean"), key=lambda row: row["ratio"])
        entries = [(f"{row.get('peer', 'Hemstitch')}, ratio {row['ratio']:.2f}", row["gbps"], "peer" not in row)
                   for row in found if row["ratio"] > 2]
        panels.append((f"DEFLATE, {what}", entries))
    about = "Silesia files; longer bars are faster"
    if later:
        about += f". LZ4: Hemstitch on {max(run['date'] for run in lz4_alone if run)[:10]}, the other on {lz4['date'][:10]}"
    return bars(f"Blocks of 64 KB in the memory of one {lz4['device']}", about, "GB/s", panels)


def pictures(newest_run):
    """{name of a file: SVG}. `newest_run(ENDING)` finds a recorded run, or None."""
    lz4, gzip = newest_run("-lz4-cpu.json"), newest_run("-gzip-cpu.json")
    lz4_peer, deflate_peer = newest_run("-lz4-peer.json"), newest_run("-deflate-peer.json")
    found = {}
    if lz4 and gzip:
        found[FILES] = files_picture(lz4, gzip)
    if lz4_peer and deflate_peer:
        alone = newest_run("-device-lz4-compress.json"), newest_run("-device-lz4-restore.json")
        found[DEVICES] = devices_picture(lz4_peer, deflate_peer, alone)
    return found
