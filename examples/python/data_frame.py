"""Reads a .csv.gz or a .json.gz (a record a line) into a data frame, or its text into a device's memory.

    python3 data_frame.py table.csv.gz
"""

import sys

import pandas

import hemstitch


def read(path):
    with hemstitch.open(path) as file:  # restored by all cores while pandas parses
        return pandas.read_json(file, lines=True) if path.endswith(".json.gz") else pandas.read_csv(file)


def text_on_device(path):
    """The text as bytes in a CUDA device's memory, restored there where the file's form allows it. What takes DLPack or __cuda_array_interface__ has them
    without a copy: cupy.asarray(), torch.as_tensor(), a parser of the device's."""
    return hemstitch.load(path, device="cuda")


if __name__ == "__main__":
    print(read(sys.argv[1]))
