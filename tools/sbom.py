#!/usr/bin/env python3
"""Writes what is linked into Hemstitch, with versions and licences, as an SPDX 2.3 document.

  tools/sbom.py VERSION CMAKE_CACHE SECONDS PACKAGES [WHEEL] [NAME=VERSION...]     PACKAGES: a file with the Debian packages whose libraries are loaded;
                                                                 SECONDS: the time of the commit; WHEEL: the Python package, if one is published;
                                                                 NAME=VERSION: of a library that a package has as it is

What is compiled in from headers and archives leaves no trace in a program: it is listed here, and for the wheel by the licences in it,
whose names hold the versions of what no package of the system has. The other versions are those of the system's packages. tools/package runs this.
"""

import json
import re
import subprocess
import sys
import zipfile
from datetime import datetime, timezone
from pathlib import Path

# SPDX's names of the licences, by the package that holds the library. A library that is not here stops the build: read its
# licence, then add it.
LICENCES = {
    "libc6": "LGPL-2.1-or-later", "libgcc-s1": "GPL-3.0-or-later WITH GCC-exception-3.1", "libstdc++6": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "libtbb12": "Apache-2.0", "libtbbmalloc2": "Apache-2.0", "libfmt9": "MIT", "libfmt10": "MIT", "liblz4-1": "BSD-2-Clause", "libxxhash0": "BSD-2-Clause",
    "libdeflate0": "MIT", "libisal2": "BSD-3-Clause", "libzstd1": "BSD-3-Clause", "zlib1g": "Zlib",
    "nlohmann-json3-dev": "MIT", "libtbb-dev": "Apache-2.0", "libfmt-dev": "MIT",
    "libisal-dev": "BSD-3-Clause", "liblz4-dev": "BSD-2-Clause", "libdeflate-dev": "MIT", "libxxhash-dev": "BSD-2-Clause",
    "libzstd-dev": "BSD-3-Clause", "zlib1g-dev": "Zlib", "libstdc++-12-dev": "GPL-3.0-or-later WITH GCC-exception-3.1",
    "nanobind": "BSD-3-Clause", "robin-map": "MIT", "cudart_static": "LicenseRef-NVIDIA-CUDA-EULA", "cccl": "Apache-2.0 WITH LLVM-exception",
    "wgpu-native": "MIT OR Apache-2.0",
}
HEADERS = ["nlohmann-json3-dev", "libtbb-dev", "libfmt-dev"]


def output_of(*command):
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout


def package_entry(name, version, licence, download="NOASSERTION", **more):
    return {"SPDXID": "SPDXRef-" + re.sub(r"[^A-Za-z0-9.-]", "-", name), "name": name, "versionInfo": version,
            "downloadLocation": download, "filesAnalyzed": False, "licenseConcluded": licence, "licenseDeclared": licence,
            "copyrightText": "NOASSERTION", **more}


def carried(wheel):
    """(name, version) of what a wheel has the licence of, which is all that is linked into it; the version is None where the system's package says it."""
    found = [re.search(r"/licenses-([a-z0-9+-]+?)(?:-(\d[\d.]*))?\.txt$", name) for name in zipfile.ZipFile(wheel).namelist()]
    libraries = [one.groups() for one in found if one]
    for needed in ("nanobind", "robin-map"):
        if needed not in dict(libraries):
            sys.exit(f"sbom: {wheel} has no licence of {needed}, which is linked into it: rebuild it with tools/python-package")
    return libraries


def main(version, cache, seconds, packages, *more):
    wheel = next((one for one in more if "=" not in one), None)
    carried_whole = [one.split("=", 1) for one in more if "=" in one]
    used = [(name, "DYNAMIC_LINK") for name in Path(packages).read_text().split()] + [(name, "STATIC_LINK") for name in HEADERS]
    in_wheel = dict(carried(wheel)) if wheel else {}
    used += [(name, "STATIC_LINK") for name in in_wheel if name not in HEADERS]
    unknown = [name for name, _ in used if name not in LICENCES]
    if unknown:
        sys.exit(f"sbom: the licence of {', '.join(unknown)} is not in tools/sbom.py: read it, then add its SPDX name")
    entries = [package_entry("hemstitch", version, "Apache-2.0")]
    links = [("SPDXRef-DOCUMENT", "DESCRIBES", entries[0]["SPDXID"])]
    versions = [(name, in_wheel.get(name) or output_of("dpkg-query", "--showformat=${Version}", "--show", name)) for name, _ in used]
    settings = Path(cache).read_text()
    if re.search(r"^HEMSTITCH_CUDA:BOOL=(ON|TRUE|1)$", settings, re.MULTILINE):
        found = re.search(r"^CMAKE_CUDA_COMPILER:\w+=(.*)$", settings, re.MULTILINE)
        release = re.search(r"release ([\d.]+)", output_of(found.group(1), "--version")).group(1)
        versions += [("cudart_static", release), ("cccl", release)]
        used += [("cudart_static", "STATIC_LINK"), ("cccl", "STATIC_LINK")]
    versions += [(name, found) for name, found in carried_whole]
    used += [(name, "DYNAMIC_LINK") for name, _ in carried_whole]
    for (name, found), (_, how) in zip(versions, used, strict=True):
        entries.append(package_entry(name, found, LICENCES[name]))
        links.append((entries[0]["SPDXID"], how, entries[-1]["SPDXID"]))
    document = {
        "spdxVersion": "SPDX-2.3", "dataLicense": "CC0-1.0", "SPDXID": "SPDXRef-DOCUMENT", "name": f"hemstitch-{version}",
        "documentNamespace": f"https://spdx.org/spdxdocs/hemstitch-{version}-{seconds}",
        "creationInfo": {"created": datetime.fromtimestamp(int(seconds), timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ"),
                         "creators": ["Tool: hemstitch-sbom"]},
        "packages": entries,
        "relationships": [{"spdxElementId": of, "relationshipType": how, "relatedSpdxElement": to} for of, how, to in links],
    }
    if any(name == "cudart_static" for name, _ in used):
        document["hasExtractedLicensingInfos"] = [{
            "licenseId": "LicenseRef-NVIDIA-CUDA-EULA", "name": "NVIDIA CUDA Toolkit end user licence agreement",
            "extractedText": "NVIDIA CUDA Toolkit end user licence agreement; its Attachment A names cudart_static as redistributable."}]
    print(json.dumps(document, indent=2))


if __name__ == "__main__":
    main(*sys.argv[1:])
