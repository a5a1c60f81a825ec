"""What the plans that run the tool share: options, the nine Silesia files, a folder in memory, a deadline, and where rows go.

A plan is a module with `measure(bench)`, which calls `bench.keep(row)` and `bench.left_out(what)`, and for which `bench.has_time()` may say no.
It may have SIZE: the name and the default of its option for a size, and RECORDED: the options that a record's command names.
"""

import argparse
import json
import sys
import time
from pathlib import Path

from benches.corpus import TOOL, memory_folder, silesia_files
from records import recorded_run

SIZE = ("bytes", 2 << 30)
SECONDS = 190  # what tools/device-run gives them


class Bench:
    def __init__(self, name, arguments, size, folder):
        self.name, self.tool, self.size, self.folder = name, arguments.tool, size, Path(folder)
        self.silesia, self.is_recorded = silesia_files(arguments.corpora), arguments.record
        self.deadline = time.monotonic() + arguments.seconds
        self.rows = []

    def has_time(self, seconds=0):
        return time.monotonic() + seconds <= self.deadline

    def left_out(self, what):
        print(f"bench {self.name}: no time left for {what}", file=sys.stderr)

    def keep(self, row):
        self.rows.append(row)
        if not self.is_recorded:
            print(json.dumps(row), flush=True)


def run(name, module, words):
    option, default = getattr(module, "SIZE", SIZE)
    parser = argparse.ArgumentParser(prog=f"bench {name}", description=module.__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("corpora", metavar="CORPORA", help="a folder with silesia/dickens and the others")
    parser.add_argument("--tool", type=Path, default=TOOL, metavar="FILE", help="beside this script in a bundle, else build/release/hemstitch")
    parser.add_argument(f"--{option}", type=int, default=default, metavar="SIZE", dest="size")
    parser.add_argument("--seconds", type=float, default=SECONDS, metavar="N", help="what has no time left after them is told on stderr (default: %(default)s)")
    parser.add_argument("--record", action="store_true", help="write the run into bench/results instead of its rows to stdout")
    arguments = parser.parse_args(words)
    with memory_folder(f"hemstitch-{name}-") as folder:
        bench = Bench(name, arguments, arguments.size, folder)
        module.measure(bench)
    if arguments.record:
        sized = f" --{option} {arguments.size}" if option == "bytes" else ""
        path = recorded_run.record(name, recorded_run.cpu_name(), f"tools/bench {name}{sized} --record CORPORA",
                                   [recorded_run.file_entry(path) for path in bench.silesia], bench.rows)
        print(f"recorded in {path}; tools/results makes the tables")
