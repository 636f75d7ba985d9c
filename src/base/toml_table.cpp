// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/toml_table.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <utility>

#include "base/limits.h"
#include "base/text.h"

namespace stapgen::base {

namespace {

/// Thrown inside this file only, and caught in read_toml().
struct TomlError {
    toml::source_position where;
    std::string what, hint;
};

std::optional<std::string> string_of(const toml::node& node) {
    return node.value_exact<std::string>();
}

std::optional<std::string> scalar_of(const toml::node& node) {
    if (const auto value = node.value_exact<std::int64_t>()) return std::to_string(*value);
    if (const auto value = node.value_exact<double>()) return fmt::to_string(*value);
    if (const auto value = node.value_exact<bool>()) return *value ? "true" : "false";
    return string_of(node);
}

/// Whether a text nests deeper than that, in brackets or in the dots of a key: toml++ takes keys apart, and lets go of
/// what it made of them, by calling itself. Of no TOML it says anything.
bool is_deeper(std::string_view text, std::size_t limit) {
    std::size_t depth = 0, dots = 0;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        if (c == '"' || c == '\'') {
            const std::string three(3, c);
            const bool is_long = text.substr(at).starts_with(three);
            const auto mark = is_long ? std::string_view(three) : std::string_view(three).substr(0, 1);
            for (at += mark.size(); at < text.size() && !text.substr(at).starts_with(mark); ++at) {
                if (!is_long && text[at] == '\n') break;
                if (c == '"' && text[at] == '\\') ++at;
            }
            at += mark.size() - 1;
        } else if (c == '#') {
            at = std::min(text.find('\n', at), text.size());
            dots = 0;
        } else if (c == '.') {
            if (++dots > limit) return true;
        } else if (c == '[' || c == '{') {
            if (++depth > limit) return true;
            dots = 0;
        } else if (c == ']' || c == '}') {
            depth -= depth > 0 ? 1 : 0;
            dots = 0;
        } else if (c == ',' || c == '=' || c == '\n') {
            dots = 0;
        }
    }
    return false;
}

constexpr std::string_view a_text = "a text in quotes";

}  // namespace

struct TomlTable::Source {
    const toml::table& table;
    std::string title;
    std::set<std::string> asked{};

    const toml::node* get(const std::string& key) {
        asked.insert(key);
        return table.get(key);
    }
    /// Nothing if it is not there; `read` gives nothing if it is not `kind`.
    template <class Read>
    auto value(const std::string& key, std::string_view kind, Read read) {
        const auto* node = get(key);
        auto found = node == nullptr ? std::nullopt : read(*node);
        if (node != nullptr && !found)
            throw TomlError{node->source().begin, fmt::format("'{}' must be {}", key, kind), {}};
        return found;
    }
};

bool TomlTable::has(const std::string& key) const {
    return source_->table.contains(key);
}

std::vector<std::string> TomlTable::keys() const {
    std::vector<std::string> names;
    for (const auto& [key, node] : source_->table)
        names.emplace_back(key.str());
    return names;
}

std::string TomlTable::text(const std::string& key) {
    if (auto value = source_->value(key, a_text, string_of)) return *std::move(value);
    throw TomlError{source_->table.source().begin, fmt::format("{} has no '{}'", source_->title, key), {}};
}

std::string TomlTable::text_or(const std::string& key, std::string fallback) {
    return source_->value(key, a_text, string_of).value_or(std::move(fallback));
}

std::vector<std::string> TomlTable::texts(const std::string& key) {
    std::vector<std::string> values;
    const auto list = source_->value(key, "a list of texts", [](const toml::node& node) {
        return node.is_array() ? std::optional(node.as_array()) : std::nullopt;
    });
    if (!list) return values;
    for (const auto& item : **list) {
        auto value = string_of(item);
        if (!value) throw TomlError{item.source().begin, fmt::format("'{}' must be {}", key, a_text), {}};
        values.push_back(*std::move(value));
    }
    return values;
}

double TomlTable::number(const std::string& key) {
    return source_
        ->value(key, "a number, 0 or more",
                [](const toml::node& node) {
                    const auto value = node.value<double>();
                    const bool fits = value && node.is_number() && std::isfinite(*value) && *value >= 0;
                    return fits ? value : std::nullopt;
                })
        .value_or(0);
}

std::optional<std::int64_t> TomlTable::integer(const std::string& key) {
    return source_->value(key, "a whole number",
                          [](const toml::node& node) { return node.value_exact<std::int64_t>(); });
}

bool TomlTable::flag(const std::string& key) {
    return source_->value(key, "true or false", [](const toml::node& node) { return node.value_exact<bool>(); })
        .value_or(false);
}

std::optional<std::string> TomlTable::scalar(const std::string& key) {
    return source_->value(key, a_text, scalar_of);
}

std::vector<std::string> TomlTable::scalars(const std::string& key) {
    std::vector<std::string> values;
    const auto read = [&values](const toml::node& node) -> std::optional<bool> {
        const auto add = [&values](const toml::node& item) {
            auto value = scalar_of(item);
            if (value) values.push_back(*std::move(value));
            return value.has_value();
        };
        const auto* list = node.as_array();
        const bool is_good = list == nullptr ? add(node) : std::all_of(list->begin(), list->end(), add);
        return is_good ? std::optional(true) : std::nullopt;
    };
    (void)source_->value(key, "a text in quotes, a number, true or false, or a list of these", read);
    return values;
}

std::optional<TomlTable> TomlTable::table(const std::string& key) {
    const auto title = fmt::format("[{}]", key);
    return source_->value(key, "a table: " + title, [&](const toml::node& node) {
        const auto* table = node.as_table();
        return table == nullptr ? std::nullopt
                                : std::optional(TomlTable(std::make_shared<Source>(Source{*table, title})));
    });
}

std::vector<TomlTable> TomlTable::tables(const std::string& key) {
    const auto title = fmt::format("[[{}]]", key);
    const auto read = [&](const toml::node& node) -> std::optional<std::vector<TomlTable>> {
        if (!node.is_array_of_tables()) return std::nullopt;
        std::vector<TomlTable> values;
        for (const auto& item : *node.as_array())
            values.emplace_back(std::make_shared<Source>(Source{*item.as_table(), title}));
        return values;
    };
    return source_->value(key, "tables: " + title, read).value_or(std::vector<TomlTable>{});
}

void TomlTable::wrong(const std::string& key, std::string what, std::string hint) const {
    const auto* node = source_->table.get(key);
    throw TomlError{(node != nullptr ? node->source() : source_->table.source()).begin, std::move(what),
                    std::move(hint)};
}

void TomlTable::refuse_the_rest() const {
    for (const auto& [key, node] : source_->table) {
        const std::string name(key.str());
        if (source_->asked.contains(name)) continue;
        const auto meant = did_you_mean(name, {source_->asked.begin(), source_->asked.end()});
        throw TomlError{key.source().begin, fmt::format("unknown key '{}' in {}", name, source_->title),
                        meant ? fmt::format("did you mean '{}'?", *meant) : std::string{}};
    }
}

Result<void> read_toml(const TomlFile& file, const std::function<void(TomlTable& table)>& read) {
    const auto error = [&](const toml::source_position& where, std::string_view what, std::string_view hint) {
        return bad_input(fmt::format("{}:{}:{}: {}", file.name, where.line, where.column, what), std::string(hint));
    };
    if (is_deeper(file.text, limits::toml_depth)) {
        return bad_input(fmt::format("{}: tables or lists in it are more than {} deep", file.name, limits::toml_depth),
                         std::string(file.hint));
    }
    try {
        const auto root = toml::parse(file.text, file.name);
        TomlTable table(std::make_shared<TomlTable::Source>(TomlTable::Source{root, std::string(file.title)}));
        read(table);
        return {};
    } catch (const toml::parse_error& wrong) {
        return error(wrong.source().begin, wrong.description(), file.hint_of_toml);
    } catch (const TomlError& wrong) {
        return error(wrong.where, wrong.what, wrong.hint.empty() ? file.hint : wrong.hint);
    }
}

}  // namespace stapgen::base
