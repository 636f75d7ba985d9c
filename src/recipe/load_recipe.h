// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <algorithm>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "base/toml_table.h"
#include "recipe/recipe.h"

namespace stapgen::recipe {

/// The recipes that a recipe takes something from, each read once.
class Includes {
  public:
    explicit Includes(const FindRecipe& find) : find_(find) {}

    /// The recipe that the table names with `key`. What is wrong with it ends the reading.
    const Recipe& find(const base::TomlTable& table, const std::string& key, const std::string& name);
    /// What the recipe that `from` names has of that name; null without `from`.
    template <class T>
    const T* find_from(base::TomlTable& table, const std::string& name, std::vector<T> Recipe::*all) {
        const auto from = table.text_or("from");
        if (from.empty()) return nullptr;
        const auto& there = find(table, "from", from).*all;
        const auto found = std::ranges::find(there, name, &T::name);
        if (found == there.end()) table.wrong("from", from + " has no '" + name + '\'');
        return &*found;
    }
    /// The folders of all that were found.
    [[nodiscard]] std::vector<std::filesystem::path> folders() const;

  private:
    const FindRecipe& find_;
    std::map<std::string, Recipe> found_;
};

/// Whether a field may be called so: STAGE, or STAGE.CAUSE of a part.
bool is_field_name(std::string_view text);
/// The fields that `fields` of this table adds to those of a record.
std::vector<schema::Field> read_fields(base::TomlTable& table, schema::Schema record);
/// Its own fields; those of stages follow.
RecordSchema read_record(base::TomlTable table);
/// The stages and values. Where [record] has none of them, they are its last fields, and behind them their parts.
void read_stages(base::TomlTable& table, Recipe& recipe, Includes& includes);
/// Whether a record with all its fields can be.
void check_record(const base::TomlTable& table, const RecordSchema& record);

/// Adds the fields, stages, options, counters, meanings and counts of another recipe that this one has not yet.
void add_included(Recipe& recipe, const Recipe& other);

}  // namespace stapgen::recipe
