// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/whose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "study/whom.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

using rows::Results;
using table::Group;

/// The values of a key in groups; nothing where one of these lacks it.
std::optional<std::set<std::string>> values_of(const std::vector<const Group*>& groups, std::string_view key) {
    std::set<std::string> values;
    for (const auto* group : groups) {
        const auto* field = table::find_field(*group, key);
        if (field == nullptr) return std::nullopt;
        values.insert(table::group_text(*field));
    }
    return values;
}

/// Nothing where they differ, or lack it.
std::optional<std::string> only_value(const std::vector<const Group*>& groups, std::string_view key) {
    const auto values = values_of(groups, key);
    return values && values->size() == 1 ? std::optional(*values->begin()) : std::nullopt;
}

std::string threads_of(const std::vector<const Group*>& groups) {
    if (groups.empty()) return {};
    const auto comm = only_value(groups, "comm"), pid = only_value(groups, "pid"), tid = only_value(groups, "tid");
    if (tid) return comm ? fmt::format("{}[{}]", *comm, *tid) : fmt::format("thread {}", *tid);
    const auto threads = values_of(groups, "tid");
    const auto number = threads ? fmt::format("{} threads of ", threads->size()) : "";
    if (pid) return comm ? fmt::format("{}{}[{}]", number, *comm, *pid) : fmt::format("{}process {}", number, *pid);
    return comm ? fmt::format("threads named {}", *comm) : "";
}

/// Of the same filters everywhere.
std::string by_filter(const Results& results) {
    std::set<std::string> names;
    for (const auto& origin : results.of<rows::Origin>()) {
        std::string name;
        for (const auto& [option, value] : origin.filters) {
            if (option == "target-tid") name = "thread " + value;
            if (option == "target-pid") name = "process " + value;
            if (option == "comm") name = "threads named " + base::printable(value);
        }
        names.insert(name);
    }
    return names.size() == 1 ? *names.begin() : "";
}

/// The parts of endpoints before or behind the port's colon, each once.
std::set<std::string> halves_of(const std::set<std::string>& endpoints, bool are_ports) {
    std::set<std::string> halves;
    for (const auto& endpoint : endpoints) {
        const auto colon = endpoint.rfind(':');
        halves.insert(are_ports ? endpoint.substr(colon + 1) : endpoint.substr(0, colon));
    }
    return halves;
}

/// "with 10.0.0.7:50112", "on 5 connections of port 6379 with 10.0.0.7"; empty where nothing is common.
std::string peers_of(const std::vector<const Group*>& groups) {
    const auto remotes = values_of(groups, "remote");
    if (!remotes) return {};
    if (remotes->size() == 1) return "with " + *remotes->begin();
    const auto addresses = halves_of(*remotes, false);
    const auto ports = halves_of(values_of(groups, "local").value_or(std::set<std::string>()), true);
    if (addresses.size() > 1 && ports.size() != 1) return {};
    return fmt::format("on {} connections{}{}", remotes->size(), ports.size() == 1 ? " of port " + *ports.begin() : "",
                       addresses.size() == 1 ? " with " + *addresses.begin() : "");
}

/// "of mc-worker, redis-server"; empty where they are many, or not known.
std::string names_of(const std::vector<const Group*>& groups) {
    constexpr std::size_t most_named = 3;
    const auto names = values_of(groups, "comm");
    return names && names->size() <= most_named ? fmt::format("of {}", fmt::join(*names, ", ")) : "";
}

}  // namespace

std::vector<WayOfStage> ways_with(const Results& results, std::string_view part) {
    const auto stage = part.substr(0, part.find('.'));
    std::vector<WayOfStage> with;
    for (const auto& way : results.of<rows::Way>()) {
        const auto is_it = [&](const rows::StageOfWay& of) { return of.stage == stage && of.sum_ns > 0; };
        if (std::ranges::any_of(way.stages, is_it)) with.push_back({way.way, way.n, way.number});
    }
    return with;
}

std::string whose_packets(const Results& results, std::string_view part, std::int64_t n) {
    std::vector<const Group*> groups;
    std::int64_t in_groups = 0;
    for (const auto& row : results.of<rows::Stage>()) {
        const auto count = row.distribution->n();
        if (count == 0 || row.group.empty() || table::is_other(row.group) || row.stage != part) continue;
        groups.push_back(&row.group);
        in_groups += count;
    }
    const auto threads = in_groups == n ? threads_of(groups) : "";
    return threads.empty() ? by_filter(results) : threads;
}

std::string owner_name(const Group& group) {
    if (table::find_field(group, "tid") != nullptr || table::find_field(group, "pid") != nullptr)
        return threads_of({&group});
    const auto* remote = table::find_field(group, "remote");
    const auto name = table::group_text(group.front());
    return remote == nullptr ? name : fmt::format("{} with {}", name, table::group_text(*remote));
}

std::optional<OneOfMany> stand_out_of(const Results& results, std::string_view part) {
    const auto find = [&](std::string_view owner) {
        const auto& all = results.of<rows::StandOut>();
        const auto found =
            std::ranges::find_if(all, [&](const rows::StandOut& of) { return of.stage == part && of.owner == owner; });
        return found == all.end() ? nullptr : &*found;
    };
    const auto first_of = [&](std::string_view wanted, std::string_view else_wanted) {
        const auto* one = find(wanted);
        return one != nullptr ? one : find(else_wanted);
    };
    const auto* ends = first_of("connection", "peer");
    const auto* threads = first_of("thread", "process");
    // Both stand out by themselves: of one another they are only where they have the same records.
    const auto is_near = [](double a, double b) { return std::abs(a - b) < 1e-6; };
    if (ends != nullptr && threads != nullptr &&
        !(is_near(ends->share, threads->share) && is_near(ends->records, threads->records)))
        threads = nullptr;
    const auto* one = ends != nullptr ? ends : threads;
    if (one == nullptr) return std::nullopt;
    OneOfMany many{one->group, one->share, one->records, {}};
    std::vector<std::string> names;
    if (ends != nullptr) {
        names.push_back(owner_name(ends->group));
    }
    if (threads != nullptr) names.push_back(owner_name(threads->group));
    if (ends != nullptr && threads != nullptr)
        many.group.insert(many.group.end(), threads->group.begin(), threads->group.end());
    many.sentence = fmt::format("; {} of that is of {} of them, those of {}", table::percent(one->share),
                                table::percent(one->records), fmt::join(names, ", "));
    return many;
}

std::string whose_slowest(const Results& results, std::string_view part) {
    const auto ways = ways_with(results, part);
    if (ways.size() != 1) return {};
    std::vector<const Group*> groups;
    for (const auto& row : results.of<rows::Slowest>()) {
        if (row.number != ways.front().number) continue;
        const auto found = std::ranges::find(row.stages_ns, part, &table::Durations::value_type::first);
        if (found == row.stages_ns.end() || !found->second) return {};
        if (*found->second < row.total_ns / 2) return {};
        groups.push_back(&row.of);
    }
    if (groups.size() < 2) return {};
    std::vector<std::string> known;
    known.push_back(only_value(groups, "tid") ? "of " + threads_of(groups) : names_of(groups));
    known.push_back(peers_of(groups));
    std::erase(known, "");
    if (auto whom = whom_of_all(groups, part); !whom.empty()) known.push_back(std::move(whom));
    if (known.empty()) return {};
    return fmt::format("; the {} slowest are {}", groups.size(), fmt::join(known, ", "));
}

}  // namespace stapgen::study
