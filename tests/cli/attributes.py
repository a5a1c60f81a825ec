#!/usr/bin/env python3
"""Extended attributes and ACLs for the cases, without packages that know them.

attributes.py give FILE NAME=VALUE...   an ACL's value is "TAG:PERMISSIONS:WHOSE ...", in the numbers of the system
attributes.py take FILE NAME
attributes.py show FILE...              mode, then the attributes but for security labels, which systems give to all files
"""

import os
import struct
import sys

ACLS = ("system.posix_acl_access", "system.posix_acl_default")


def encoded(name, text):
    if name not in ACLS:
        return os.fsencode(text)
    entries = [[int(part) for part in entry.split(":")] for entry in text.split()]
    return struct.pack("<I", 2) + b"".join(struct.pack("<HHi", *entry) for entry in entries)


def shown(name, value):
    if name in ACLS:
        return " ".join("%d:%d:%d" % entry for entry in struct.iter_unpack("<HHi", value[4:]))
    return f"{len(value)} bytes {os.fsdecode(value[:20])!r}"


def show(file):
    parts = [file, f"{os.stat(file).st_mode & 0o7777:04o}"]
    for name in sorted(os.listxattr(file)):
        if not name.startswith("security.") or name == "security.capability":
            parts.append(f"{name}={shown(name, os.getxattr(file, name))}")
    print(*parts)


what, *rest = sys.argv[1:]
if what == "give":
    for one in rest[1:]:
        name, value = one.split("=", 1)
        os.setxattr(rest[0], name, encoded(name, value))
elif what == "take":
    os.removexattr(rest[0], rest[1])
else:
    for file in rest:
        show(file)
