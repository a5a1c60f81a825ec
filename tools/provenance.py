#!/usr/bin/env python3
"""Writes where published files come from: an in-toto statement (v1) with SLSA provenance (v1) about each of them.

  tools/provenance.py VERSION COMMIT SBOM FILE...     SBOM: the list of what is linked in, by tools/sbom.py

Nothing of the machine, its user or the time stands in it, so those who build the same commit with the same packages write the same statement. It is not signed: docs/packagers.md says
how a person does that, and how others check it. tools/release runs this.

https://github.com/in-toto/attestation/blob/main/spec/v1/statement.md, https://slsa.dev/spec/v1.0/provenance
"""

import hashlib
import json
import subprocess
import sys
from pathlib import Path

# Addresses that only name: nothing is there.
BUILD_TYPE = "https://packages.invalid/hemstitch/tools-release/v1"
BUILDER = "https://packages.invalid/hemstitch/by-a-maintainer"

# What makes the files out of sources and libraries, as names of Debian's packages; those that are installed count.
BUILDERS = ("binutils", "clang-[0-9]*", "cmake", "dpkg", "g++-[0-9]*", "gzip", "lld-[0-9]*", "lowdown", "ninja-build", "npm", "patchelf", "python3", "tar", "xz-utils")


def installed(*patterns):
    """(name, version, architecture) of Debian's packages; none where dpkg is not."""
    try:
        shown = subprocess.run(["dpkg-query", "--show", "--showformat=${db:Status-Status} ${binary:Package} ${Version} ${Architecture}\n", *patterns],
                               check=False, capture_output=True, text=True).stdout
    except FileNotFoundError:
        return []
    rows = [line.split() for line in shown.splitlines()]
    return sorted({(row[1].split(":")[0], *row[2:]) for row in rows if row[0] == "installed" and len(row) == 4})


def purl(name, version, architecture):
    return f"pkg:deb/debian/{name.replace('+', '%2B')}@{version.replace('+', '%2B').replace(':', '%3A')}?arch={architecture}"


def dependencies(commit, sbom):
    linked = {entry["name"]: entry["versionInfo"] for entry in json.loads(Path(sbom).read_text())["packages"] if entry["name"] != "hemstitch"}
    packages = installed(*BUILDERS, *linked)
    of_debian = {name for name, *_ in packages}
    found = [{"name": "source", "digest": {"gitCommit": commit}}]
    found += [{"name": name, "uri": purl(name, version, architecture)} for name, version, architecture in packages]
    found += [{"name": name, "uri": f"pkg:generic/{name}@{version}"} for name, version in sorted(linked.items()) if name not in of_debian]
    return found


def statement(version, commit, sbom, files):
    subjects = [{"name": Path(file).name, "digest": {"sha256": hashlib.sha256(Path(file).read_bytes()).hexdigest()}} for file in files]
    return {
        "_type": "https://in-toto.io/Statement/v1",
        "subject": sorted(subjects, key=lambda subject: subject["name"]),
        "predicateType": "https://slsa.dev/provenance/v1",
        "predicate": {
            "buildDefinition": {
                "buildType": BUILD_TYPE,
                "externalParameters": {"command": "tools/release", "version": version, "ref": f"refs/tags/v{version}"},
                "resolvedDependencies": dependencies(commit, sbom),
            },
            "runDetails": {"builder": {"id": BUILDER}},
        },
    }


def main(version, commit, sbom, *files):
    names = [Path(file).name for file in files]
    if not files or len(set(names)) != len(names):
        sys.exit("provenance: no files, or two of one name")
    print(json.dumps(statement(version, commit, sbom, files), indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
