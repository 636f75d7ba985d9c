// SPDX-License-Identifier: GPL-2.0-or-later
#include "analyze/account_text.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <functional>
#include <span>
#include <utility>

#include "base/saturate.h"
#include "base/text.h"
#include "base/units.h"
#include "table/texts.h"

namespace stapgen::analyze {

namespace {

using kinds::Cause;
using table::local_time;

std::string causes_text(const std::vector<Cause>& causes) {
    std::string text;
    for (const auto& [name, count] : causes) {
        if (count == 0) continue;
        text += fmt::format("{}{} {}", text.empty() ? " (" : ", ", base::printable(name), count);
    }
    return text.empty() ? text : text + ")";
}

std::string length_text(std::int64_t ns) {
    return base::format_duration(std::chrono::nanoseconds(ns < 0 ? base::saturating_subtract(0, ns) : ns));
}

void add_once(std::vector<std::string>& texts, std::string text) {
    if (!text.empty() && std::ranges::find(texts, text) == texts.end()) texts.push_back(std::move(text));
}

/// "machine 89ab4def", "machines 89ab4def, 01234567 and 3 more"; nothing where none is known.
void add_ids(std::string_view what, const Run& run, std::string recording::Origin::*id,
             std::vector<std::string>& parts) {
    constexpr std::size_t digits = 8, most = 4;
    std::vector<std::string> ids;
    for (const auto& origin : run.origins)
        add_once(ids, base::printable((origin.*id).substr(0, digits)));
    if (ids.empty()) return;
    const auto shown = std::min(ids.size(), most);
    parts.push_back(
        fmt::format("{}{} {}", what, ids.size() == 1 ? "" : "s", fmt::join(std::span(ids).first(shown), ", ")));
    if (ids.size() > most) parts.back() += fmt::format(" and {} more", ids.size() - most);
}

std::string host_of(const recording::Origin& origin) {
    if (origin.host.empty() && origin.kernel.empty()) return {};
    auto host = origin.host.empty() ? "a host" : base::printable(origin.host);
    std::vector<std::string> labels;
    for (const auto& [name, value] : origin.labels)
        labels.push_back(base::printable(fmt::format("{}={}", name, value)));
    if (!labels.empty()) host += fmt::format(" ({})", fmt::join(labels, ", "));
    return origin.kernel.empty() ? host : fmt::format("{}, Linux {}", host, base::printable(origin.kernel));
}

/// Whether its account is a sum of bytes, packets and times, and has nothing to report.
bool is_sum_of_units(const Measured& run) {
    return run.one<rows::Counting>().mixed_units && run.accounting.lost_total() == 0 &&
           run.accounting.unaccounted() == 0;
}

}  // namespace

std::vector<std::string> hosts_of(const Run& run) {
    std::vector<std::string> hosts;
    for (const auto& origin : run.origins)
        add_once(hosts, host_of(origin));
    return hosts;
}

std::vector<std::string> origin_lines(const Run& run) {
    constexpr std::size_t most = 4;
    std::vector<std::string> lines;
    for (const auto& origin : run.origins) {
        const auto host = host_of(origin);
        const auto command = origin.command.empty() ? "" : ": " + base::printable(base::shell_quoted(origin.command));
        if (!host.empty()) add_once(lines, fmt::format("on {}{}", host, command));
    }
    if (lines.size() > most) {
        const auto more = lines.size() - most;
        lines.resize(most);
        lines.push_back(fmt::format("and {} more", more));
    }
    add_once(lines, definition_text(run));
    return lines;
}

std::string definition_text(const Run& run) {
    const auto definition = base::printable(run.definition());
    std::vector<std::string> parts;
    if (!definition.empty()) {
        parts.push_back("definition " + definition);
        add_ids("kernel build", run, &recording::Origin::build_id, parts);
        add_ids("machine", run, &recording::Origin::machine, parts);
    } else if (!run.merge_conflict.empty()) {
        parts.emplace_back("without a definition");
    }
    auto text = fmt::format("{}", fmt::join(parts, ", "));
    if (!run.merge_conflict.empty())
        text += fmt::format("; not added to the report above: {}", base::printable(run.merge_conflict));
    return text;
}

std::string filters_text(const Run& run) {
    std::vector<std::string> all;
    for (const auto& origin : run.origins) {
        std::vector<std::string> words;
        for (const auto& [option, value] : origin.filters)
            words.insert(words.end(), {"--" + option, value});
        add_once(all, base::printable(base::shell_quoted(words)));
    }
    return fmt::format("{}", fmt::join(all, " or "));
}

std::vector<std::string> kept_lines(const Measured& measured) {
    std::vector<std::string> lines;
    for (const auto& kept : measured.of<rows::Kept>()) {
        const auto value = kept.value.empty() ? "" : fmt::format(" ({})", base::printable(kept.value));
        auto& text = lines.emplace_back(fmt::format("kept at {}: {}{}; the {} before and {} after",
                                                    table::local_time_of_day(kept.at), base::printable(kept.condition),
                                                    value, length_text(kept.before_ns), length_text(kept.after_ns)));
        if (kept.missing_ns > 0)
            text += fmt::format("; the first {} are not whole: the memory was too small for more",
                                length_text(kept.missing_ns));
        if (kept.unkept > 0)
            text += fmt::format("; conditions held {} before, which was not kept",
                                kept.unkept == 1 ? "once" : fmt::format("{} times", kept.unkept));
        if (!kept.sentence.empty()) lines.push_back(kept.sentence);
    }
    return lines;
}

std::string span_text(const Run& run) {
    const auto& start = run.start_epoch_ns;
    const auto& end = run.end_epoch_ns;
    if (!start) return "";
    if (!end || *end <= *start || *start < 0) return local_time(*start);
    const auto span = length_text(*end - *start);
    if (run.recordings < 2 || run.recorded_ns <= 0) return fmt::format("{}, for {}", local_time(*start), span);
    return fmt::format("{}, {} recordings of {} together, within {}", local_time(*start), run.recordings,
                       length_text(run.recorded_ns), span);
}

std::string sample_text(const kinds::Sample& sample) {
    const auto estimate = base::with_commas(sample.estimated);
    if (sample.one_in == 1) return "";
    if (sample.one_in == 0)
        return fmt::format("of samples of several sizes; of all sockets about {} records", estimate);
    return fmt::format(
        "1 in {} sockets, by hash: N and SUM are the sample's, and so are the percentiles; of all sockets about {} "
        "records",
        sample.one_in, estimate);
}

std::vector<std::string> account_lines(const Measured& run) {
    const auto& accounting = run.accounting;
    if (!accounting.kept) return {};
    const auto filters = accounting.filtered > 0 ? filters_text(run) : "";
    auto account = fmt::format(
        "{} seen = {} reported + {} filtered{} + {} incomplete{} + {} lost{}", accounting.seen, accounting.reported,
        accounting.filtered, filters.empty() ? "" : fmt::format(" ({})", filters), accounting.incomplete_total(),
        causes_text(accounting.incomplete), accounting.lost_total(), causes_text(accounting.lost));
    const auto rest = accounting.unaccounted();
    if (rest > 0) account += fmt::format(" + {} unaccounted", rest);
    if (rest < 0) account += fmt::format(" - {} unaccounted", 0 - static_cast<std::uint64_t>(rest));
    if (is_sum_of_units(run)) account = "all counters read are reported";
    std::vector<std::string> lines{std::move(account)};
    if (run.aggregated > 0 && run.aggregated == accounting.reported) {
        lines.emplace_back("aggregated in the kernel; percentiles within 0.2 %");
    } else if (run.aggregated > 0) {
        lines.push_back(fmt::format("{} of the reported records were aggregated in the kernel and belong to no group",
                                    run.aggregated));
    }
    if (const auto others = causes_text(accounting.other); !others.empty()) lines.push_back("beside them" + others);
    if (auto sample = sample_text(run.sample); !sample.empty()) lines.push_back(std::move(sample));
    return lines;
}

std::string skipped_text(const recording::Transport& transport) {
    if (transport.skipped_probes == 0) return "";
    constexpr std::size_t most = 3;
    auto known = transport.skipped_by;
    std::ranges::stable_sort(known, std::greater{}, &Cause::count);
    std::int64_t rest = transport.skipped_probes;
    std::vector<Cause> shown;
    for (const auto& cause : std::span(known).first(std::min(most, known.size()))) {
        shown.push_back(cause);
        rest = base::saturating_subtract(rest, cause.count);
    }
    if (!shown.empty() && rest > 0) shown.push_back({known.size() > most ? "others" : "not known", rest});
    return fmt::format("SystemTap skipped {} probes{}: records are missing or lack a step; measure less (--port, -x){}",
                       transport.skipped_probes, causes_text(shown),
                       shown.empty() ? ", or run with --cost to see which ones" : "");
}

std::vector<std::string> warnings_of(const Run& run) {
    const auto& accounting = run.accounting;
    const auto& transport = run.transport;
    std::vector<std::string> texts;
    const auto warn = [&texts](bool condition, std::string text) {
        if (condition) texts.push_back(std::move(text));
    };
    warn(accounting.lost_total() != 0,
         fmt::format("{} of {} seen were lost", accounting.lost_total(), accounting.seen));
    warn(accounting.below_zero() != 0,
         fmt::format(
             "{} of the script's counts were below zero and are shown as 0: a fault of stapgen; please report it "
             "with the recording (-o)",
             accounting.below_zero()));
    warn(accounting.unaccounted() != 0, "the script's counts do not add up");
    warn(accounting.kept && !accounting.closed,
         "the input ends without its last line; the counts are those since its last tick");
    warn(transport.skipped_probes != 0, skipped_text(transport));
    warn(transport.probe_errors != 0, fmt::format("{} probes ended in an error", transport.probe_errors));
    const auto& enough = transport.enough_buffer_mb;
    warn(transport.transport_failures != 0,
         fmt::format("the buffer to user space was full {} times{}", transport.transport_failures,
                     enough > 0 ? fmt::format("; {0} MiB per CPU (-s {0}MiB) would have been enough", enough) : ""));
    warn(!run.broke_off.empty(), fmt::format("the run broke off: {}", base::printable(run.broke_off)));
    warn(run.clock_set_ns != 0,
         fmt::format("the wall clock was set {} by {} during the run; times continue from the clock at the start",
                     run.clock_set_ns > 0 ? "forward" : "back", length_text(run.clock_set_ns)));
    warn(run.suspended_ns != 0,
         fmt::format("the machine was suspended for {} during the run; no duration includes that",
                     length_text(run.suspended_ns)));
    return texts;
}

std::vector<std::string> not_understood(const decode::InputCounts& input) {
    if (input.unrecognised == 0) return {};
    const bool is_all = input.unrecognised == static_cast<std::int64_t>(input.first_flaws.size());
    std::vector<std::string> lines{fmt::format("{} of {} lines not understood{}", input.unrecognised, input.lines,
                                               input.first_flaws.empty() ? ""
                                               : is_all                  ? ":"
                                                                         : "; the first:")};
    for (const auto& [number, flaw, excerpt] : input.first_flaws) {
        auto line = fmt::format("  line {} ({})", number, decode::describe(flaw));
        if (!excerpt.empty()) line += ": " + base::printable(excerpt);
        lines.push_back(std::move(line));
    }
    return lines;
}

}  // namespace stapgen::analyze
