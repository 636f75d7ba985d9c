# SPDX-License-Identifier: GPL-2.0-or-later
"""Symbol tables as the kernel writes them, read for the tests and not by the code under test."""

import bisect
import collections
import gzip

# module is "" for the kernel itself.
Symbol = collections.namedtuple("Symbol", "address type name module")


def parse_kallsyms(text):
    """Return the symbols of a copy of /proc/kallsyms, in its order."""
    symbols = []
    for words in map(str.split, text.splitlines()):
        symbols.append(Symbol(int(words[0], 16), words[1], words[2], words[3][1:-1] if len(words) > 3 else ""))
    return symbols


def parse_modules(text):
    """Return {name: (base, size)} of a copy of /proc/modules."""
    return {words[0]: (int(words[5], 16), int(words[1])) for words in map(str.split, text.splitlines())}


def is_code(symbol):
    return symbol.type in "tTwW"


def markers(symbols):
    """Return the addresses that the linker script names: {"_stext": ...}."""
    names = ("_text", "_stext", "_etext", "_sinittext", "_einittext", "_end")
    return {symbol.name: symbol.address for symbol in symbols if not symbol.module and symbol.name in names}


def find_return_address(symbols, address):
    """Return (name, offset, module) of the function whose call returns to ADDRESS; SYMBOLS are in ascending order."""
    last = bisect.bisect_right(symbols, address - 1, key=lambda symbol: symbol.address) - 1
    start = symbols[last].address
    first = bisect.bisect_left(symbols, start, key=lambda symbol: symbol.address)
    found = next(symbol for symbol in symbols[first:last + 1] if is_code(symbol))
    return found.name, address - start, found.module


def in_text(symbols, address):
    """Whether ADDRESS is in the kernel's own text, not in a module."""
    mark = markers(symbols)
    return mark["_text"] <= address < mark["_etext"]


def kernel_map(root):
    """Return the kallsyms of a boot of ROOT without KASLR and without modules: what a System.map has."""
    return gzip.decompress(root.symbols.read_bytes()).decode()
