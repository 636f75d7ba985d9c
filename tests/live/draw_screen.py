#!/usr/bin/python3
# SPDX-License-Identifier: GPL-2.0-or-later
"""What stood on the screen just before a program left it or ended: draw_screen.py RAW ROWS COLUMNS [PICTURE.png]

RAW is all that was written to the terminal, as script(1) keeps it. Prints the screen as text, or takes a picture of it
with a headless Chromium.
"""

import html
import pathlib
import subprocess
import sys
import tempfile

from screen import LEAVES_SCREEN, Screen, Stream

PAPER, INK = "#16181d", "#d8dbe0"
COLOURS = {"default": INK, "red": "#ff6b68", "cyan": "#4fc3d9"}


def painted(raw, rows, columns):
    screen = Screen(columns, rows)
    Stream(screen).feed(raw.partition(LEAVES_SCREEN)[0])
    return screen


def text_of(screen):
    return "\n".join(line.rstrip() for line in screen.display) + "\n"


def span(cell):
    ink, paper = COLOURS.get(cell.fg, INK), "transparent"
    if cell.reverse:
        ink, paper = PAPER, ink
    style = f"color:{ink};background:{paper}"
    style += ";font-weight:bold" if cell.bold else ""
    style += ";text-decoration:underline" if cell.underscore else ""
    return f'<span style="{style}">{html.escape(cell.data)}</span>'


def page_of(screen):
    rows = "\n".join("".join(span(screen.buffer[row][column]) for column in range(screen.columns))
                     for row in range(screen.lines))
    return f"""<!doctype html><meta charset="utf-8"><style>
body {{ margin: 0; background: {PAPER} }}
pre {{ margin: 12px; font: 15px/19px "DejaVu Sans Mono", "Liberation Mono", monospace; display: inline-block }}
</style><pre>{rows}</pre>"""


def picture(screen, file):
    with tempfile.TemporaryDirectory() as folder:
        page = pathlib.Path(folder, "screen.html")
        page.write_text(page_of(screen), encoding="utf-8")
        subprocess.run(["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                        f"--user-data-dir={folder}/profile", "--hide-scrollbars", f"--screenshot={file}",
                        f"--window-size={int(screen.columns * 9.03) + 24},{screen.lines * 19 + 24}", page.as_uri()],
                       check=True, timeout=120, stderr=subprocess.DEVNULL)


def main():
    raw, rows, columns, *file = sys.argv[1:]
    screen = painted(pathlib.Path(raw).read_bytes(), int(rows), int(columns))
    if file:
        picture(screen, pathlib.Path(file[0]).resolve())
    else:
        print(text_of(screen), end="")


main()
