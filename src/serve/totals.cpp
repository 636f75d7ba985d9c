// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/totals.h"

#include <map>
#include <type_traits>
#include <unordered_set>
#include <utility>

#include "base/saturate.h"
#include "table/merge.h"

namespace stapgen::serve {

namespace {

/// Of the whole, and with something in it; but counts are of the groups that the recipe makes.
template <class Row>
bool is_series(const Row& row) {
    if constexpr (requires { row.distribution; }) return row.group.empty() && row.distribution->n() > 0;
    return true;
}

template <class Row>
std::int64_t amount_of(const Row& row) {
    if constexpr (requires { row.distribution; }) {
        return row.distribution->n();
    } else {
        return row.count;
    }
}

template <class Row>
void raise_row(Row& into, const Row& now);

/// Sums never fall.
template <class Cell>
void raise_cell(Cell& into, const Cell& now) {
    if constexpr (table::is_row<Cell>) {
        raise_row(into, now);
    } else if constexpr (table::is_rows<Cell>) {
        std::map<std::string, std::size_t> known;
        for (std::size_t i = 0; i < into.size(); ++i)
            known.emplace(table::key_of(into[i]), i);
        for (const auto& row : now) {
            const auto found = known.find(table::key_of(row));
            if (found == known.end()) {
                into.push_back(row);
            } else {
                raise_row(into[found->second], row);
            }
        }
    } else {
        auto more = now;
        table::merge_cell<table::Largest>(into, more);
    }
}

template <class Row>
void raise_row(Row& into, const Row& now) {
    table::each_column<Row>([&]<class Rule>(Rule /*rule*/, auto /*name*/, auto member, const table::Shown& /*shown*/) {
        if constexpr (std::is_same_v<Rule, table::Sum>) {
            raise_cell(into.*member, now.*member);
        } else if constexpr (!table::is_key_rule<Rule>) {
            auto more = now.*member;
            table::merge_cell<Rule>(into.*member, more);
        }
    });
}

}  // namespace

bool SeriesLimit::admit() {
    auto taken = taken_.load();
    while (taken < most_) {
        if (taken_.compare_exchange_weak(taken, taken + 1)) return true;
    }
    return false;
}

Totals::Totals(const std::string& recipe, SeriesLimit& limit) : limit_(limit) {
    measured_.one<rows::Report>().recipe = recipe;
    for (auto* accounts : {&ended_, &now_, &risen_}) {
        (void)accounts->one<rows::Accounting>();
        (void)accounts->one<rows::Input>();
    }
}

template <class Row>
void Totals::add(table::TableOf<Row> more) {
    auto& into = measured_.of<Row>();
    std::unordered_set<std::string> known;
    for (const auto& row : into)
        known.insert(table::key_of(row));
    std::erase_if(more, [&](const Row& row) {
        if (!is_series(row)) return true;
        auto key = table::key_of(row);
        if (known.contains(key)) return false;
        if (limit_.admit()) return !known.insert(std::move(key)).second;
        base::add_saturating(kept_out_, amount_of(row));
        return true;
    });
    table::add(into, std::move(more));
}

void Totals::add(const rows::Results& interval) {
    auto drops = interval.of<rows::Drop>();
    for (auto& drop : drops)
        drop.group.clear();
    table::fold(drops);
    add(interval.of<rows::Count>());
    add(std::move(drops));
    add(interval.of<rows::Stage>());
    add(interval.of<rows::Value>());
}

void Totals::set_run(const rows::Results& run) {
    now_ = ended_;
    now_.each([&]<class Row>(table::TableOf<Row>& now) {
        table::add(now, run.of<Row>());
        raise_cell<std::vector<Row>>(risen_.of<Row>(), now);
    });
    risen_.one<rows::Accounting>().incomplete_by = now_.one<rows::Accounting>().incomplete_by;
    if (!run.of<rows::Origin>().empty()) measured_.of<rows::Origin>() = run.of<rows::Origin>();
}

void Totals::end_run() {
    ended_ = now_;
}

rows::Results Totals::results() const {
    auto results = measured_;
    risen_.each([&]<class Row>(const table::TableOf<Row>& rows) { results.of<Row>() = rows; });
    return results;
}

}  // namespace stapgen::serve
