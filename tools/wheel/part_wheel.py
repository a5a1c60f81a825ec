#!/usr/bin/env python3
"""Makes the wheel of a part, which is a device's code in a file of its own: the package hemstitch finds it beside its module.

  tools/wheel/part_wheel.py NAME FILE VERSION TAG SECONDS FOLDER LICENCE...   NAME: the backend; FILE: its libhemstitch-NAME.so.N; TAG: the systems that
                                                                             it is for, manylinux_2_28_x86_64; SECONDS: the age that files get; FOLDER: where the wheel goes

Holds no module of Python's, so one wheel serves all versions. It needs the package hemstitch of the same version, into whose folder pip puts the file. The same files give the same wheel.
"""

import base64
import hashlib
import sys
import time
import zipfile
from pathlib import Path


def main(name, file, version, tag, seconds, folder, *licences):
    part = Path(file)
    distribution = f"hemstitch_{name}-{version}"
    about = f"{distribution}.dist-info"
    files = {f"hemstitch/{part.name}": part.read_bytes()}
    listed = ""
    for licence in map(Path, licences):
        files[f"{about}/licenses/{licence.name}"] = licence.read_bytes()
        listed += f"License-File: {licence.name}\n"
    files[f"{about}/METADATA"] = (
        f"Metadata-Version: 2.4\nName: hemstitch-{name}\nVersion: {version}\nSummary: The backend {name} of hemstitch\n{listed}"
        f"Requires-Python: >=3.9\nRequires-Dist: hemstitch=={version}\n").encode()
    files[f"{about}/WHEEL"] = f"Wheel-Version: 1.0\nGenerator: hemstitch\nRoot-Is-Purelib: false\nTag: py3-none-{tag}\n".encode()
    record = f"{about}/RECORD"
    lines = [f"{path},sha256={base64.urlsafe_b64encode(hashlib.sha256(content).digest()).rstrip(b'=').decode()},{len(content)}\n"
             for path, content in files.items()]
    files[record] = ("".join(lines) + f"{record},,\n").encode()
    wheel = Path(folder) / f"{distribution}-py3-none-{tag}.whl"
    with zipfile.ZipFile(wheel, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            entry = zipfile.ZipInfo(path, time.gmtime(int(seconds))[:6])
            entry.compress_type = zipfile.ZIP_DEFLATED
            entry.external_attr = (0o100755 if ".so" in path else 0o100644) << 16
            archive.writestr(entry, content)
    print(wheel)


if __name__ == "__main__":
    main(*sys.argv[1:])
