// SPDX-License-Identifier: GPL-2.0-or-later
#include "study/whose.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <set>
#include <utility>

#include "base/text.h"
#include "study/whom.h"
#include "table/texts.h"

namespace stapgen::study {

namespace {

using table::Group;
using table::Results;

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
    const auto& origins = results.at("origins");
    std::set<std::string> names;
    for (const auto& row : origins.rows) {
        std::string name;
        if (const auto* filters = table::held<table::Labels>(origins.at(row, "filters"))) {
            for (const auto& [option, value] : *filters) {
                if (option == "target-tid") name = "thread " + value;
                if (option == "target-pid") name = "process " + value;
                if (option == "comm") name = "threads named " + base::printable(value);
            }
        }
        names.insert(name);
    }
    return names.size() == 1 ? *names.begin() : "";
}

/// Of an address and a port.
std::string address_of(const std::string& endpoint) {
    return endpoint.substr(0, endpoint.rfind(':'));
}

}  // namespace

std::vector<WayOfStage> ways_with(const Results& results, std::string_view part) {
    const auto stage = part.substr(0, part.find('.'));
    const auto& stages = results.at("ways.stages");
    const auto& ways = results.at("ways");
    std::vector<WayOfStage> with;
    for (const auto& way : ways.rows) {
        const auto has_it = [&](const table::Row& row) {
            return row.front() == way.front() && *table::held<std::string>(stages.at(row, "stage")) == stage &&
                   table::real_of(stages.at(row, "sum_ns")) > 0;
        };
        if (std::ranges::any_of(stages.rows, has_it))
            with.push_back({table::text_of(ways.at(way, "way")), table::count_of(ways.at(way, "n")), way.front()});
    }
    return with;
}

std::string whose_packets(const Results& results, std::string_view part, std::int64_t n) {
    const auto& stages = results.at("stages");
    std::vector<const Group*> groups;
    std::int64_t in_groups = 0;
    for (const auto& row : stages.rows) {
        const auto* group = table::held<Group>(stages.at(row, "group"));
        const auto count = table::held<table::Histogram>(stages.at(row, "distribution"))->n();
        if (count == 0 || group->empty() || table::is_other(*group)) continue;
        if (*table::held<std::string>(stages.at(row, "stage")) != part) continue;
        groups.push_back(group);
        in_groups += count;
    }
    const auto threads = in_groups == n ? threads_of(groups) : "";
    return threads.empty() ? by_filter(results) : threads;
}

std::string whose_slowest(const Results& results, std::string_view part) {
    const auto& slowest = results.at("slowest");
    const auto ways = ways_with(results, part);
    if (ways.size() != 1) return {};
    std::vector<const Group*> groups;
    for (const auto& row : slowest.rows) {
        if (row.front() != ways.front().number) continue;
        const auto* stages = table::held<table::Durations>(slowest.at(row, "stages_ns"));
        const auto found = std::ranges::find(*stages, part, &table::Durations::value_type::first);
        if (found == stages->end() || !found->second) return {};
        if (*found->second < table::count_of(slowest.at(row, "total_ns")) / 2) return {};
        groups.push_back(table::held<Group>(slowest.at(row, "of")));
    }
    if (groups.size() < 2) return {};
    const auto threads = only_value(groups, "tid") ? threads_of(groups) : "";
    const auto remotes = values_of(groups, "remote").value_or(std::set<std::string>());
    std::set<std::string> peers;
    for (const auto& remote : remotes)
        peers.insert(address_of(remote));
    std::vector<std::string> known;
    if (!threads.empty()) known.push_back("of " + threads);
    if (peers.size() == 1) known.push_back("with " + *peers.begin());
    if (auto whom = whom_of_all(groups, part); !whom.empty()) known.push_back(std::move(whom));
    if (known.empty()) return {};
    return fmt::format("; the {} slowest are {}", groups.size(), fmt::join(known, ", "));
}

}  // namespace stapgen::study
