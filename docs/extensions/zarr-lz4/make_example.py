#!/usr/bin/env python3
"""Writes example.zarr, an array whose chunks have the codec `lz4`, with zarr-python and numcodecs.

  make_example.py FOLDER      FOLDER must not be there

zarr-python knows the same encoding as `numcodecs.lz4`: the array is written so, and then gets the other name.
"""

import sys
import warnings
from pathlib import Path

import numpy
import zarr
from zarr.codecs import numcodecs

FILL_VALUE = 42


def values():
    rows, columns = numpy.indices((20, 30))
    numbers = (rows // 4 * columns % 251).astype("uint16")
    numbers[16:, 16:] = FILL_VALUE
    return numbers


def main(folder):
    if Path(folder).exists():
        sys.exit(f"make_example: {folder} is there")
    warnings.filterwarnings("ignore", message="Numcodecs codecs are not")
    array = zarr.create_array(folder, shape=(20, 30), chunks=(16, 16), dtype="uint16", fill_value=FILL_VALUE, compressors=numcodecs.LZ4(acceleration=1))
    array[:] = values()
    metadata = Path(folder) / "zarr.json"
    metadata.write_text(metadata.read_text().replace('"numcodecs.lz4"', '"lz4"') + "\n")


if __name__ == "__main__":
    main(*sys.argv[1:])
