#include "analyze/accounting.h"

#include <algorithm>

namespace stapgen::analyze {

void add_cause(std::vector<Cause>& causes, std::string_view name, std::int64_t count) {
    const auto found = std::ranges::find(causes, name, &Cause::name);
    if (found == causes.end()) {
        causes.push_back({std::string(name), count});
    } else {
        base::add_saturating(found->count, count);
    }
}

std::int64_t Accounting::unaccounted() const {
    const auto known = base::saturating_add(base::saturating_add(reported, filtered),
                                            base::saturating_add(incomplete_total(), lost_total()));
    return base::saturating_subtract(seen, known);
}

namespace {

/// `sign` 1: adds all counts of `more`; -1: subtracts them.
void add_counts(Accounting& into, const Accounting& more, int sign) {
    for (const auto count : {&Accounting::seen, &Accounting::reported, &Accounting::filtered})
        base::add_saturating(into.*count, sign * (more.*count));
    for (const auto causes : {&Accounting::incomplete, &Accounting::lost, &Accounting::other}) {
        for (const auto& cause : more.*causes)
            add_cause(into.*causes, cause.name, sign * cause.count);
    }
}

}  // namespace

Accounting& Accounting::operator+=(const Accounting& more) {
    add_counts(*this, more, 1);
    closed = closed && more.closed;
    return *this;
}

Accounting difference(Accounting now, const Accounting& before) {
    // A cause that was there before and is no more has been taken back: it is negative.
    add_counts(now, before, -1);
    return now;
}

std::optional<Accounting> script_counts(std::span<const decode::Count> counts) {
    Accounting script;
    bool says_seen = false;
    for (const auto& [key, value] : counts) {
        const auto kind = key.substr(0, key.find('.'));
        const auto cause = kind.size() == key.size() ? "unspecified" : key.substr(kind.size() + 1);
        if (key == "seen") {
            says_seen = true;
            script.seen = value;
        } else if (key == "reported") {
            script.reported = value;
        } else if (key == "filtered") {
            script.filtered = value;
        } else if (kind == "incomplete") {
            add_cause(script.incomplete, cause, value);
        } else if (kind == "lost") {
            add_cause(script.lost, cause, value);
        } else {
            add_cause(script.other, key, value);
        }
    }
    return says_seen ? std::optional(std::move(script)) : std::nullopt;
}

}  // namespace stapgen::analyze
