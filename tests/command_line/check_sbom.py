#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_sbom.py BUILD SOURCE: static/stapgen.spdx.json is an SPDX 2.3 document, and names what the static program is made of.

The schema is that of the specification; licence expressions are parsed by npm's spdx-expression-parse.
"""

import hashlib
import json
import pathlib
import shutil
import subprocess
import sys
import tempfile

import jsonschema

PARSE = """
const roots = ["/usr/share/nodejs", require("child_process").execSync("npm root -g").toString().trim() + "/npm/node_modules"];
const parse = require(require.resolve("spdx-expression-parse", {paths: roots}));
JSON.parse(process.argv[1]).forEach(parse);
"""


def check_document(document, source):
    jsonschema.validate(document, json.loads((source / "tests/command_line/spdx-2.3.schema.json").read_text()))
    packages = {package["SPDXID"]: package for package in document["packages"]}
    assert len(packages) == len(document["packages"]), "an SPDXID is there twice"
    related = {row["relatedSpdxElement"] for row in document["relationships"]}
    assert related == set(packages), related ^ set(packages)
    expressions = sorted({package[key] for package in packages.values() for key in ("licenseConcluded", "licenseDeclared")})
    subprocess.run(["node", "-e", PARSE, json.dumps(expressions)], check=True)
    extracted = {row["licenseId"] for row in document["hasExtractedLicensingInfos"]}
    assert {one for one in expressions if "LicenseRef" in one} == extracted, expressions


def check_contents(document, build, source):
    """Packages are those that stapgen is linked with, and THIRD-PARTY-NOTICES.md has each."""
    stapgen = next(package for package in document["packages"] if package["name"] == "stapgen")
    assert stapgen["checksums"][0]["checksumValue"] == hashlib.sha256((build / "static/stapgen").read_bytes()).hexdigest()
    kinds = {row["relatedSpdxElement"]: row["relationshipType"] for row in document["relationships"]}
    linked = {package["name"] for package in document["packages"] if kinds[package["SPDXID"]] == "STATIC_LINK"}
    assert {"libbpf-dev", "libbz2-dev", "libc6-dev", "libdw-dev", "libelf-dev", "liblzma-dev", "libmd-dev", "libncurses-dev",
            "libpcap0.8-dev", "libzstd-dev", "zlib1g-dev"} <= linked, linked
    headers = {package["name"] for package in document["packages"] if kinds[package["SPDXID"]] == "GENERATED_FROM"}
    assert {"libprotozero-dev", "nlohmann-json3-dev"} <= headers and not headers & linked, headers
    for package in document["packages"]:
        if package["sourceInfo" if "sourceInfo" in package else "name"].startswith("Debian source package "):
            version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}\n", package["name"]], check=True, capture_output=True,
                                     text=True).stdout.split()
            assert package["versionInfo"] in version, package
    notices = (source / "THIRD-PARTY-NOTICES.md").read_text()
    missing = [row for row in (source / "packaging/licences.txt").read_text().splitlines()
               if not row.startswith("#") and row.split("\t")[2] not in notices]
    assert not missing, f"THIRD-PARTY-NOTICES.md lacks {missing}"


def check_refusal(build, source):
    """A package whose licence nobody has written down is an error of the build."""
    with tempfile.TemporaryDirectory() as name:
        other = pathlib.Path(name)
        shutil.copytree(source / "scripts", other / "scripts")
        (other / "packaging").mkdir()
        rows = (source / "packaging/licences.txt").read_text().splitlines(keepends=True)
        (other / "packaging/licences.txt").write_text("".join(row for row in rows if not row.startswith("libmd\t")))
        before = (build / "static/stapgen.spdx.json").read_bytes()
        done = subprocess.run(["cmake", f"-DSOURCE={other}", f"-DBUILD={build}", "-DVERSION=0", "-P", other / "scripts/sbom.cmake"],
                              capture_output=True, text=True, check=False)
        assert done.returncode != 0 and "no licence of libmd" in " ".join(done.stderr.split()), done.stderr
        assert (build / "static/stapgen.spdx.json").read_bytes() == before


def main():
    build, source = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    document = json.loads((build / "static/stapgen.spdx.json").read_text())
    check_document(document, source)
    check_contents(document, build, source)
    check_refusal(build, source)


main()
