// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "symbols/files/symbol_table.h"

inline stapgen::symbols::SymbolTable table_of(std::string text) {
    auto table = stapgen::symbols::SymbolTable::parse(std::move(text));
    REQUIRE_MESSAGE(table, table.error().what);
    return std::move(*table);
}
