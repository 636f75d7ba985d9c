#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""check_client.py STAPGEN SAMPLES FOLDER: client.mjs by the reference client, which npm fetches into FOLDER once."""

import pathlib
import shutil
import subprocess
import sys

SKIPPED = 77
HERE = pathlib.Path(__file__).resolve().parent
FILES = ("package.json", "package-lock.json", "client.mjs")


def is_fetched(folder):
    lock = folder / "package-lock.json"
    return (folder / "node_modules").is_dir() and lock.exists() and lock.read_bytes() == (HERE / lock.name).read_bytes()


def main():
    stapgen, samples, folder = (pathlib.Path(word).resolve() for word in sys.argv[1:])
    fetched = is_fetched(folder)
    folder.mkdir(exist_ok=True)
    for name in FILES:
        shutil.copy(HERE / name, folder)
    if not fetched:
        if not shutil.which("npm"):
            print("there is no npm: the client was not tried")
            return SKIPPED
        done = subprocess.run(["npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error"], cwd=folder, check=False)
        if done.returncode != 0:
            shutil.rmtree(folder / "node_modules", ignore_errors=True)
            print("npm cannot fetch the client: it was not tried")
            return SKIPPED
    subprocess.run(["node", folder / "client.mjs", stapgen, samples], check=True)
    return 0


sys.exit(main())
