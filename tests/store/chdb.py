# SPDX-License-Identifier: GPL-2.0-or-later
"""ClickHouse's own engine within this process: the library libchdb.so of npm's @chdb/lib-linux-x64-gnu."""

import ctypes
import json


class Clickhouse:
    def __init__(self, library, *arguments):
        self.library = ctypes.CDLL(str(library))
        words = [b"clickhouse", *(argument.encode() for argument in arguments)]
        for name, result, taken in (("connect", ctypes.POINTER(ctypes.c_void_p), [ctypes.c_int, ctypes.c_void_p]),
                                    ("query", ctypes.c_void_p, [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_char_p]),
                                    ("result_error", ctypes.c_char_p, [ctypes.c_void_p]),
                                    ("result_buffer", ctypes.c_void_p, [ctypes.c_void_p]),
                                    ("result_length", ctypes.c_size_t, [ctypes.c_void_p]),
                                    ("destroy_query_result", None, [ctypes.c_void_p])):
            function = getattr(self.library, f"chdb_{name}")
            function.restype, function.argtypes = result, taken
        self.connection = self.library.chdb_connect(len(words), (ctypes.c_char_p * len(words))(*words))

    def run(self, sql, form="JSONEachRow"):
        """Return what is printed."""
        result = self.library.chdb_query(self.connection[0], sql.encode(), form.encode())
        try:
            if error := self.library.chdb_result_error(result):
                raise ValueError(f"{sql}\n{error.decode()}")
            length = self.library.chdb_result_length(result)
            return ctypes.string_at(self.library.chdb_result_buffer(result), length).decode() if length else ""
        finally:
            self.library.chdb_destroy_query_result(result)

    def rows(self, sql):
        """Return the rows of the answer, each a dictionary."""
        settings = " SETTINGS output_format_json_quote_64bit_integers = 0"
        return [json.loads(line) for line in self.run(sql + settings).splitlines()]
