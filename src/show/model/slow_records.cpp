// SPDX-License-Identifier: GPL-2.0-or-later
#include "show/model/slow_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "schema/schema.h"
#include "show/model/texts.h"

namespace stapgen::show {

std::vector<SlowRecord> slowest_of(const rows::Results& results, std::int64_t direction) {
    std::vector<SlowRecord> records;
    for (const auto& row : results.of<rows::Slowest>()) {
        if (row.number != direction) continue;
        auto& record = records.emplace_back();
        record.total_ns = row.total_ns;
        record.time_ns = row.time_ns;
        record.of = row.of;
        std::int64_t at = 0;
        for (const auto& [stage, ns] : row.stages_ns) {
            if (!ns || schema::is_part(stage)) continue;
            record.steps.push_back({stage, at, *ns, {}});
            at = base::saturating_add(at, *ns);
        }
        for (const auto& [part, ns] : row.stages_ns) {
            const auto step = std::ranges::find(record.steps, schema::divided_stage(part), &SlowRecord::Step::stage);
            if (ns && step != record.steps.end()) step->parts.emplace_back(schema::cause_of(part), *ns);
        }
        record.length_ns = std::max({std::int64_t{1}, at, record.total_ns});
    }
    return records;
}

bool has_epoch(const rows::Results& results) {
    return results.one<rows::Run>().start.has_value();
}

std::string record_name(std::string_view direction, const table::Group& of) {
    const auto text_of = [&](std::string_view key) { return group_text(of, key); };
    const auto local = text_of("local"), remote = text_of("remote"), comm = text_of("comm"), tid = text_of("tid");
    const bool has_ends = !local.empty() && !remote.empty(), has_thread = !comm.empty() && !tid.empty();
    const bool has_container = !text_of("container").empty(), tells_who = find_field(of, "waited_ns") != nullptr;
    // waited_text() says these.
    static constexpr std::array<std::string_view, 6> waits{"waited", "by", "waited_ns", "waker", "holder", "meanwhile"};
    std::vector<std::string> parts;
    std::string first = base::printable(direction);
    if (has_ends) {
        if (!first.empty()) first += ' ';
        first += direction == "rx" ? remote : local;
        first += direction == "rx" || direction == "tx" ? " > " : " - ";
        first += direction == "rx" ? local : remote;
    }
    if (!first.empty()) parts.push_back(std::move(first));
    for (const auto& field : of) {
        const auto& key = field.key;
        const auto text = group_text(field);
        if (text.empty() || (has_ends && (key == "local" || key == "remote"))) continue;
        // A container is both.
        if (has_container && (key == "cgroup" || key == "netns")) continue;
        if (has_thread && (key == "comm" || (key == "pid" && text == tid))) continue;
        if (tells_who && std::ranges::find(waits, key) != waits.end()) continue;
        if (key == "bytes") {
            parts.push_back(text + " bytes");
        } else if (key == "dev") {
            parts.push_back(text);
        } else if (has_thread && key == "tid") {
            parts.push_back(comm + '/' + text);
        } else {
            parts.push_back(base::printable(key) + ' ' + text);
        }
    }
    if (auto waited = table::waited_text(of); !waited.empty()) parts.push_back(std::move(waited));
    return fmt::format("{}", fmt::join(parts, ", "));
}

}  // namespace stapgen::show
