"""Reads arrays of a .npz that numpy.savez_compressed() wrote, all members restored in one call.

    arrays = npz_members.read("run.npz", ["x", "y"])
"""

import io
import struct
import zipfile
import zlib

import numpy

import hemstitch

LOCAL_HEADER_BYTES = 30


def read(path, names=None):
    with zipfile.ZipFile(path) as archive, open(path, "rb") as file:
        members = [archive.getinfo(f"{name}.npy") for name in names] if names is not None else archive.infolist()
        stored = [stored_bytes(file, member) for member in members]
    deflated = [i for i, member in enumerate(members) if member.compress_type == zipfile.ZIP_DEFLATED]
    contents = dict(enumerate(stored)) | dict(zip(deflated, hemstitch.restore_many([stored[i] for i in deflated], format="deflate")))
    arrays = {}
    for i, member in enumerate(members):
        if isinstance(contents[i], hemstitch.Error):
            raise contents[i]
        if zlib.crc32(contents[i]) != member.CRC:
            raise zipfile.BadZipFile(f"{member.filename} in {path} is damaged")
        arrays[member.filename.removesuffix(".npy")] = numpy.lib.format.read_array(io.BytesIO(contents[i]), allow_pickle=False)
    return arrays


def stored_bytes(file, member):
    """A member as it stands in the archive, behind its own header, whose last two numbers are the sizes of a name and of what else there is."""
    file.seek(member.header_offset)
    name, more = struct.unpack_from("<HH", file.read(LOCAL_HEADER_BYTES), LOCAL_HEADER_BYTES - 4)
    file.seek(name + more, io.SEEK_CUR)
    return file.read(member.compress_size)
