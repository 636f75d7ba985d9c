#pragma once

#include <doctest/doctest.h>

#include <string>
#include <utility>

#include "symbols/symbol_table.h"

inline stapgen::symbols::SymbolTable table_of(std::string text) {
    auto table = stapgen::symbols::SymbolTable::parse(std::move(text));
    REQUIRE(table);
    return std::move(*table);
}
