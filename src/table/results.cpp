// SPDX-License-Identifier: GPL-2.0-or-later
#include "table/results.h"

#include <algorithm>
#include <utility>

namespace stapgen::table {

namespace {

const Table& first_of(const std::vector<Table>& tables, auto is_meant) {
    static const Table none;
    const auto found = std::ranges::find_if(tables, is_meant);
    return found == tables.end() ? none : *found;
}

}  // namespace

const Table& Results::at(std::string_view name, Scope scope) const {
    return first_of(tables, [&](const Table& table) { return table.name == name && table.scope == scope; });
}

const Table& Results::at(std::string_view name) const {
    return first_of(tables, [&](const Table& table) { return table.name == name && table.scope != Scope::intervals; });
}

const Value& Results::fact(std::string_view table, std::string_view column) const {
    static const Value nothing;
    const auto& known = at(table);
    return known.rows.empty() ? nothing : known.at(known.rows.front(), column);
}

void Results::say(std::string_view about, std::string text) {
    if (text.empty()) return;
    auto* sentences = find(tables, "sentences");
    if (sentences == nullptr) {
        sentences =
            &tables.emplace_back(Table{.name = "sentences",
                                       .columns = {{"about", Type::text, Meet::key}, {"text", Type::text, Meet::never}},
                                       .shape = Shape::none});
    }
    sentences->rows.push_back({std::string(about), std::move(text)});
}

Texts Results::sentences(std::string_view about) const {
    Texts texts;
    for (const auto& row : at("sentences").rows) {
        if (*held<std::string>(row[0]) == about) texts.push_back(*held<std::string>(row[1]));
    }
    return texts;
}

std::string Results::sentence(std::string_view about) const {
    auto texts = sentences(about);
    return texts.empty() ? std::string() : std::move(texts.front());
}

}  // namespace stapgen::table
