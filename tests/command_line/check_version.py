#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_version.py BUILD SOURCE: what is installed is whole, works where it is moved to, and knows when it is changed."""

import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

from stapgen import Stapgen

INSTALLED = ["bin/stapgen", "share/stapgen/workarounds.toml", "share/stapgen/kernels.toml",
             "share/stapgen/skeleton/my-recipe/recipe.toml", "share/man/man1/stapgen.1.gz",
             "share/man/man1/stapgen-rx-latency.1.gz", "share/man/man1/stapgen-report.1.gz",
             "share/bash-completion/completions/stapgen", "share/zsh/vendor-completions/_stapgen",
             "share/zsh/site-functions/_stapgen", "share/fish/vendor_completions.d/stapgen.fish",
             "share/doc/stapgen/README.md", "share/doc/stapgen/CHANGELOG.md", "share/doc/stapgen/copyright",
             "share/doc/stapgen/THIRD-PARTY-NOTICES.md", "share/doc/stapgen/docs/guide/installing.md"]


def facts(prefix):
    text = Stapgen(prefix / "bin/stapgen").run("--version")
    found = re.fullmatch(r"stapgen (\d+\.\d+\.\d+)\nbuild: git (unknown|[0-9a-f]{12}(?:, dirty)?); (\S+ [\d.]+)\n"
                         r"recipes: (\d+) \((\d+) of the user\); sha256 of those installed ([0-9a-f]{12}), (.*)\n", text)
    assert found, text
    return found.groups()


def check_archive(source, folder):
    """Of an archive of the source the revision is known, too."""
    head = subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], capture_output=True, text=True, check=False).stdout[:12]
    if not head:
        return
    archive = subprocess.run(["git", "-C", source, "archive", "HEAD"], capture_output=True, check=True).stdout
    subprocess.run(["tar", "-x", "-C", folder], input=archive, check=True)
    out = folder / "facts.cpp"
    subprocess.run(["cmake", f"-DSOURCE={folder}", "-DVERSION=1", "-DCOMPILER=c", f"-DOUT={out}", "-P",
                    folder / "scripts/build-facts.cmake"], check=True)
    assert f'"{head}"' in out.read_text(), out.read_text()


def main():
    build, source = (pathlib.Path(word) for word in sys.argv[1:3])
    with tempfile.TemporaryDirectory() as folder:
        check_archive(source, pathlib.Path(folder))
    with tempfile.TemporaryDirectory() as top:
        first, moved = pathlib.Path(top, "first"), pathlib.Path(top, "elsewhere/with a blank")
        subprocess.run(["cmake", "--install", build, "--prefix", first], check=True, stdout=subprocess.DEVNULL)
        missing = [path for path in INSTALLED if not (first / path).is_file()]
        assert not missing, f"not installed: {missing}"
        moved.parent.mkdir()
        first.rename(moved)
        version, revision, _, recipes, own, digits, state = facts(moved)
        assert f"VERSION {version} " in (source / "CMakeLists.txt").read_text()
        assert (int(recipes), own) == (len(list((source / "templates").glob("*/recipe.toml"))), "0")
        assert state == "as built"
        share = moved / "share/stapgen"
        manual = (source / "docs/guide/installing.md").read_text()
        documented = re.search(r"^    cd PREFIX/(share/stapgen) && (find .*)$", manual, re.M)
        sums = subprocess.run(["sh", "-c", documented[2]], cwd=moved / documented[1], capture_output=True, text=True,
                              check=True).stdout
        assert sums.startswith(digits), f"{digits} is not of {sums}"
        if revision != "unknown":
            head = subprocess.run(["git", "-C", source, "rev-parse", "HEAD"], capture_output=True, text=True, check=True)
            assert head.stdout.startswith(revision[:12]), f"{revision} is not {head.stdout}"

        with next((share / "tapsets").glob("*.stp")).open("a", encoding="utf-8") as tapset:
            tapset.write("\n# changed\n")
        assert facts(moved)[6] == "changed since the build"
        shutil.rmtree(share / "templates/page-alloc")
        assert facts(moved)[3] == str(int(recipes) - 1)


main()
