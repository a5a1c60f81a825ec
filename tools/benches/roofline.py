"""What the kernels move and execute for each byte of content, by the device's counters (ncu), beside the rate of a copy.

The data is nine Silesia files one behind the other, over and over, up to SIZE bytes. `bench --span kernel` compresses and restores it under
ncu, which counts for every launch: bytes between the device's memory and its chip, instructions of warps, time. A row is a kernel with at
least a hundredth of the time of its direction. Its rate is that of the whole content, and moved_gbps what it moves meanwhile; the clocks are left as they
are. `bench compact` has the rate of a copy in the same units (shuffle's peer, of which each byte is read and written).
"""

import collections
import csv
import re
import shutil
import subprocess
import sys
from pathlib import Path

from benches.corpus import usable_backends, write_corpus

SIZE = ("bytes", 512 << 20)
WORKS = (("lz4", 1, "64K"), ("lz4", 3, "64K"), ("lz4", 9, "256K"), ("bgzf", 6, "64K"))
METRICS = ("dram__bytes_read.sum", "dram__bytes_write.sum", "smsp__inst_executed.sum", "gpu__time_duration.sum")
SCALE = {"byte": 1, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9, "inst": 1, "ns": 1e-9, "nsecond": 1e-9, "us": 1e-6, "usecond": 1e-6, "ms": 1e-3,
         "msecond": 1e-3, "s": 1, "second": 1, "": 1}
PASSES = 2  # of bench with no seconds: one that warms up, one that counts
LEAST_SHARE = 0.01


def find_ncu():
    places = [Path("/usr/local/cuda/bin/ncu"), *Path("/usr/local").glob("cuda*/bin/ncu"), *Path("/opt/nvidia").glob("nsight-compute/*/ncu")]
    return shutil.which("ncu") or next((str(place) for place in places if place.exists()), None)


def short_name(kernel):
    """hemstitch::cuda::(anonymous namespace)::walk<256>(...) -> walk"""
    plain = re.sub(r"\(anonymous namespace\)::|<unnamed>::", "", kernel)
    return re.split(r"[<(]", plain)[0].split("::")[-1].split()[-1]


def counted(ncu, command):
    """{kernel: [bytes read, bytes written, instructions, seconds]} of all its launches."""
    done = subprocess.run([str(word) for word in (ncu, "--csv", "--clock-control", "none", "--cache-control", "none", "--metrics", ",".join(METRICS), *command)],
                          capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"bench roofline: exit {done.returncode} from ncu\n{done.stderr}{done.stdout[-2000:]}")
    lines = done.stdout.splitlines()
    start = next(number for number, line in enumerate(lines) if line.startswith('"ID"'))
    kernels = collections.defaultdict(lambda: [0.0] * len(METRICS))
    for row in csv.DictReader(lines[start:]):
        if row["Metric Name"] in METRICS:
            value = float(row["Metric Value"].replace(",", "")) * SCALE[row["Metric Unit"]]
            kernels[short_name(row["Kernel Name"])][METRICS.index(row["Metric Name"])] += value / PASSES
    return kernels


def measure(bench):
    ncu = find_ncu()
    if ncu is None or not usable_backends(bench.tool, ("cuda",)):
        sys.exit("bench roofline: needs a CUDA device, and ncu (Nsight Compute)")
    corpus = bench.folder / "corpus"
    write_corpus(bench.silesia, bench.size, corpus)
    for format_name, level, block in WORKS:
        if not bench.has_time():
            bench.left_out(f"{format_name} level {level}")
            continue
        kernels = counted(ncu, (bench.tool, "bench", "--backend", "cuda", "--span", "kernel", "--seconds", 0, "--format", format_name,
                                f"-{level}", "-B", block, corpus))
        for what in ("compress", "restore"):
            # Both directions run the kernels that copy and sum up; they count where they matter.
            of_it = {name: values for name, values in kernels.items() if ("restore" in name) == (what == "restore")}
            all_seconds = sum(values[3] for values in of_it.values())
            for name, (read, written, instructions, seconds) in sorted(of_it.items(), key=lambda item: -item[1][3]):
                if seconds < LEAST_SHARE * all_seconds:
                    continue
                bench.keep({"what": what, "backend": "cuda", "format": format_name, "level": level, "block_bytes": int(block[:-1]) << 10,
                            "name": name, "bytes": bench.size, "span": "kernel", "gbps": round(bench.size / seconds / 1e9, 2),
                            "moved_gbps": round((read + written) / seconds / 1e9, 1),
                            "moved_bytes_per_byte": round((read + written) / bench.size, 3),
                            "instructions_per_byte": round(instructions / bench.size, 3), "verified": True})
