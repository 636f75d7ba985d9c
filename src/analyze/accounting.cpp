#include "analyze/accounting.h"

#include <algorithm>

namespace stapgen::analyze {

namespace {

void add_causes(std::vector<Cause>& into, const std::vector<Cause>& from) {
    for (const auto& cause : from)
        add_cause(into, cause.name, cause.count);
}

void subtract_causes(std::vector<Cause>& now, const std::vector<Cause>& before) {
    for (auto& cause : now) {
        const auto found = std::ranges::find(before, cause.name, &Cause::name);
        if (found != before.end()) cause.count = base::saturating_subtract(cause.count, found->count);
    }
    // What was there at the last tick and is no more has been taken back.
    for (const auto& cause : before) {
        if (std::ranges::find(now, cause.name, &Cause::name) == now.end()) now.push_back({cause.name, -cause.count});
    }
}

}  // namespace

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

Accounting& Accounting::operator+=(const Accounting& more) {
    base::add_saturating(seen, more.seen);
    base::add_saturating(reported, more.reported);
    base::add_saturating(filtered, more.filtered);
    add_causes(incomplete, more.incomplete);
    add_causes(lost, more.lost);
    add_causes(other, more.other);
    closed = closed && more.closed;
    return *this;
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

Accounting difference(Accounting now, const Accounting& before) {
    now.seen = base::saturating_subtract(now.seen, before.seen);
    now.reported = base::saturating_subtract(now.reported, before.reported);
    now.filtered = base::saturating_subtract(now.filtered, before.filtered);
    subtract_causes(now.incomplete, before.incomplete);
    subtract_causes(now.lost, before.lost);
    subtract_causes(now.other, before.other);
    return now;
}

}  // namespace stapgen::analyze
