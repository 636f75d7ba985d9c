// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <map>
#include <type_traits>
#include <utility>

#include "base/text.h"
#include "rows/results.h"

namespace stapgen::show {

namespace {

template <class Value>
bool says_something(const Value& value) {
    if constexpr (table::is_optional<Value>) return value.has_value();
    if constexpr (std::is_same_v<Value, bool>) return value;
    return true;
}

template <class NameOf, class Row, class Value>
Cell cell_of(const Row& row, const Value& value, const table::Shown& shown) {
    if constexpr (std::is_same_v<NameOf, table::Moment>) {
        return {end_text(value)};
    } else if constexpr (table::is_optional<Value>) {
        if (value) return cell_of<NameOf>(row, *value, shown);
        return {std::is_same_v<NameOf, table::Plain> && std::is_arithmetic_v<typename Value::value_type> ? "-" : ""};
    } else if constexpr (std::is_same_v<Value, bool>) {
        if (!value) return {};
        const bool is_alarm = shown.is_alarm && row.count > 0;
        return {.text = std::string(shown.if_true), .ink = is_alarm ? base::Ink::bad : base::Ink::plain};
    } else if constexpr (std::is_same_v<NameOf, table::Ns>) {
        return {duration_text(value)};
    } else if constexpr (std::is_same_v<NameOf, table::MeanNs>) {
        return {Style().cell(value) + " us"};
    } else if constexpr (std::is_same_v<NameOf, table::Mean>) {
        return {fmt::format("{:.3f}", value)};
    } else if constexpr (std::is_same_v<NameOf, table::Share>) {
        return {fmt::format("{:.0f} %", 100 * value)};
    } else if constexpr (std::is_same_v<Value, double>) {
        return {per_second_text(value)};
    } else if constexpr (std::is_same_v<Value, std::int64_t>) {
        return {fmt::format("{}", value)};
    } else if constexpr (std::is_same_v<Value, table::Place>) {
        return {place_text(value)};
    } else if constexpr (std::is_same_v<Value, table::Reason>) {
        return reason_cell(row);
    } else if constexpr (std::is_same_v<Value, table::Shared<table::Path>>) {
        return {path_text(*value)};
    } else if constexpr (std::is_same_v<Value, std::string>) {
        return {value};
    } else {
        return {};
    }
}

/// Of columns that have one place, the first in front.
template <class Row>
struct Place {
    table::Shown shown{};
    bool is_number = false;
    table::Group Row::*group = nullptr;
    std::int64_t Row::*count = nullptr;
    std::vector<std::pair<std::string_view, std::function<Cell(const Row&)>>> parts{};  ///< and what joins each

    [[nodiscard]] Cell joined(const Row& row) const {
        Cell all;
        for (const auto& [joint, cell] : parts) {
            auto more = cell(row);
            if (all.text.empty()) {
                all = std::move(more);
            } else if (!more.text.empty()) {
                all.text += std::string(joint) + more.text;
            }
        }
        return all;
    }
};

template <class Row>
std::map<int, Place<Row>> places_of(const std::vector<Row>& rows) {
    std::map<int, Place<Row>> places;
    table::each_column<Row>([&]<class NameOf>(auto /*rule*/, NameOf /*name*/, auto member, const table::Shown& shown) {
        using Value = table::CellOf<Row, decltype(member)>;
        const auto says = [&](const Row& row) { return says_something(row.*member); };
        if (shown.place == 0 || (shown.if_any && std::ranges::none_of(rows, says))) return;
        auto& place = places[shown.place];
        if (place.parts.empty()) {
            place.shown = shown;
            bool is_number = false;
            if constexpr (table::is_optional<Value>) {
                is_number = std::is_arithmetic_v<typename Value::value_type>;
            } else {
                is_number = std::is_arithmetic_v<Value>;
            }
            place.is_number = is_number && !std::is_same_v<Value, bool> && !std::is_same_v<NameOf, table::Moment>;
            if constexpr (std::is_same_v<Value, table::Group>) place.group = member;
            if constexpr (std::is_same_v<Value, std::int64_t> && std::is_same_v<NameOf, table::Plain>)
                place.count = member;
        }
        place.parts.emplace_back(shown.joint,
                                 [member, shown](const Row& row) { return cell_of<NameOf>(row, row.*member, shown); });
    });
    return places;
}

/// A count without a heading has that of what was counted.
template <class Row>
std::string heading_of(const Place<Row>& place, const std::vector<Row>& rows) {
    if constexpr (requires(Row row) { row.counted; }) {
        if (place.shown.heading.empty() && !rows.empty())
            return base::upper(base::printable(rows.front().counted.value_or("")));
    }
    return std::string(place.shown.heading);
}

template <class Row>
void add(Table& out, Column column, const std::vector<Row>& rows, const auto& cell_of_row) {
    out.columns.push_back(std::move(column));
    for (std::size_t i = 0; i < rows.size(); ++i)
        out.rows[i].push_back(cell_of_row(rows[i]));
}

}  // namespace

template <class Row>
Table laid_out(const std::vector<Row>& rows, std::string caption, std::optional<std::int64_t> whole) {
    Table out{.caption = std::move(caption), .columns = {}, .folded = rows::is_of_interval<Row>};
    out.rows.resize(rows.size());
    bool has_head = false;
    const auto places = places_of(rows);
    for (const auto& numbered : places) {
        const auto& place = numbered.second;
        if (place.group != nullptr) {
            const auto keys = keys_of(rows, place.group);
            for (const auto& key : keys) {
                add(out, {key_name(key), Kind::text}, rows,
                    [&](const Row& row) { return Cell{key_cell(row.*place.group, key, key == keys.front())}; });
            }
            continue;
        }
        const bool is_head = place.shown.is_head && !place.is_number && !has_head;
        has_head = has_head || is_head;
        const auto kind = place.is_number ? Kind::number : is_head ? Kind::head : Kind::text;
        add(out, {heading_of(place, rows), kind, place.shown.on_page_only ? In::page : In::all}, rows,
            [&](const Row& row) { return place.joined(row); });
        if (place.count != nullptr && whole) {
            add(out, {"SHARE", Kind::text, In::page}, rows,
                [&](const Row& row) { return part_cell(row.*place.count, *whole); });
        }
    }
    return out;
}

// All rows that people see.
template Table laid_out(const std::vector<rows::Drop>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::OfInterval<rows::Drop>>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::Stack>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::Advice>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::Count>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::OfInterval<rows::Count>>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::Counter>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::Average>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::Who>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::Function>&, std::string, std::optional<std::int64_t>);
template Table laid_out(const std::vector<rows::Ledger>&, std::string, std::optional<std::int64_t>);

}  // namespace stapgen::show
