// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <functional>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

/// A row of a table is a struct with named members, and a function `columns` that lists its columns once. All that
/// walks a table is a visitor of that list: merging (table/merge.h), each format, the schema, the help. How a cell is
/// written follows from its type and that of its column's name. A column of rows that never merge may be a function of
/// the row.
namespace stapgen::table {

// How the cells of two rows of one key merge.
struct Key {};        ///< they are a part of the key
struct Continues {};  ///< as Key, of numbers: those of a later measurement follow
struct Sum {};        ///< counts and distributions are added up
struct Smallest {};   ///< of those that are known
struct Largest {};    ///< of those that are known
struct First {};      ///< of those that are known
struct Same {};       ///< nothing is known where they differ
struct Separate {};   ///< the table's rows stand side by side, whatever their keys

/// A column's name in documents, with its unit.
struct Name {
    std::string_view text;
    constexpr Name(const char* name) : text(name) {}  // NOLINT(google-explicit-constructor)
};
// Numbers that are not written as they are.
struct Plain : Name {
    using Name::Name;
};
struct Ns : Name {  ///< a duration, or a distribution of durations
    using Name::Name;
};
struct Moment : Name {  ///< ns since 1970
    using Name::Name;
};
struct Mean : Name {  ///< more than thousandths of it say nothing
    using Name::Name;
};
struct MeanNs : Mean {
    constexpr MeanNs(const char* name) : Mean(name) {}  // NOLINT(google-explicit-constructor)
};
struct Benign : Name {  ///< a flag: what the row counts is part of normal operation
    using Name::Name;
};
struct Share : Name {  ///< a part of something: 0 to 1 of what cannot be below 0
    using Name::Name;
};
struct Known : Name {  ///< a text; empty: not known
    using Name::Name;
};

/// Where a column is written.
enum class In {
    all,
    documents,  ///< not where each row has one number: it is no number, or no name of one
    rows,       ///< only there: what says of the rows of several tables what each is
    hidden,     ///< in neither; people may see it
};

/// What is seen of a column. People see it at `place`, where its table is laid out for them.
struct Shown {
    int place = 0;  ///< from the left, from 1; 0: they do not. Columns of one place are one: texts are joined
    std::string_view heading{};
    std::string_view if_true{};  ///< of a flag: its text
    std::string_view joint{};    ///< in front of its text, behind that of another column of its place
    bool is_head = false;        ///< says what a row is about; of several the first does
    bool if_any = false;         ///< seen only where a cell says something
    bool on_page_only = false;   ///< not in text
    bool is_alarm = false;       ///< of a flag: stands out in rows that counted something
    In in = In::all;
    bool is_rare = false;         ///< documents have it only where it holds something
    std::string_view row_name{};  ///< of a column of rows: as About::row_name
};

/// What a document has of a table.
enum class Shape {
    rows,    ///< an array of objects
    record,  ///< one object: there is one row
    fields,  ///< keys of the document itself, of the only row
    list,    ///< an array of the first column's cells
    map,     ///< one object, whose keys are the first column's cells
    series,  ///< an object with an array for each column of its blocks
    none,    ///< nothing: other tables have it
};

/// What a table is called, and what a document has of it: `Row::about`.
struct About {
    std::string_view name;
    std::string_view row_name{};  ///< "drop": of a row among those of other tables; empty: it is not among them
    Shape shape = Shape::rows;
    bool is_rare = false;           ///< documents have it only where it has rows
    std::size_t most = 0;           ///< limit of rows of measurements that are added up; 0: none
    bool has_interval_rows = true;  ///< rows of intervals are among those of other tables, too
};

/// Cells that are rows themselves.
template <class Cell>
inline constexpr bool is_row = requires {
    Cell::about;
};
template <class Cell>
inline constexpr bool is_rows = false;
template <class Row>
inline constexpr bool is_rows<std::vector<Row>> = is_row<Row>;

/// Calls with the merge rule, the name, the member (std::invoke has its cell) and what is shown of each column.
template <class Row, class Visit>
constexpr void each_column(Visit&& visit) {
    Row::columns([&]<class NameOf>(auto rule, NameOf name, auto member, const Shown& shown = {}) {
        if constexpr (std::is_base_of_v<Name, NameOf>) {
            visit(rule, name, member, shown);
        } else {
            visit(rule, Plain(name), member, shown);
        }
    });
}

template <class Row, class Member>
using CellOf = std::remove_cvref_t<std::invoke_result_t<Member, Row&>>;

/// Whether a column of it has that rule.
template <class Row, class Rule>
consteval bool has_rule() {
    bool found = false;
    each_column<Row>([&](auto rule, auto /*name*/, auto /*member*/, const Shown& /*shown*/) {
        found = found || std::is_same_v<decltype(rule), Rule>;
    });
    return found;
}

template <class Rule>
inline constexpr bool is_key_rule = std::is_same_v<Rule, Key> || std::is_same_v<Rule, Continues>;

/// Rows stand in an order that means something: that of the recipe, or the largest first.
template <class Row>
struct TableOf : std::vector<Row> {
    using std::vector<Row>::vector;

    bool is_there = false;      ///< it was measured, though it may have no rows
    std::int64_t left_out = 0;  ///< rows beyond Row::about.most
};

/// A table for each kind of row.
template <class... Rows>
struct TablesOf {
    std::tuple<TableOf<Rows>...> tables;

    /// Whether it is one of the rows.
    template <class Row>
    static constexpr bool lists = (std::is_same_v<Row, Rows> || ...);

    template <class Row>
    [[nodiscard]] TableOf<Row>& of() {
        return std::get<TableOf<Row>>(tables);
    }
    template <class Row>
    [[nodiscard]] const TableOf<Row>& of() const {
        return std::get<TableOf<Row>>(tables);
    }
    /// Whether it was measured.
    template <class Row>
    [[nodiscard]] bool has() const {
        return of<Row>().is_there || !of<Row>().empty();
    }
    /// The only row of a table of facts; one without any where there is none.
    template <class Row>
    [[nodiscard]] const Row& one() const {
        static const Row none{};
        return of<Row>().empty() ? none : of<Row>().front();
    }
    /// To be set.
    template <class Row>
    [[nodiscard]] Row& one() {
        return of<Row>().empty() ? of<Row>().emplace_back() : of<Row>().front();
    }
    template <class Row>
    void put(std::vector<Row> rows) {
        static_cast<std::vector<Row>&>(of<Row>()) = std::move(rows);
    }
    void each(auto&& visit) const { (visit(of<Rows>()), ...); }
    void each(auto&& visit) { (visit(of<Rows>()), ...); }
};

}  // namespace stapgen::table
