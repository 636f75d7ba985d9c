// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/options/plans.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <unistd.h>

#include <algorithm>
#include <iterator>

#include "base/files.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "fleet/results.h"
#include "live/terminal.h"
#include "recording/identity.h"
#include "session/measured_facts.h"
#include "when/condition.h"

namespace stapgen::cli {

namespace {

/// Into the plan's notes, why a measurement is not shown live that would be.
base::Result<bool> wants_live(const MeasureOptions& options, session::MeasurePlan& plan) {
    if (options.live == "never") return false;
    const bool is_alone =
        options.present.format == PresentOptions().format && !plan.events && !plan.quiet && !plan.verbose;
    const bool must = options.live == "always";
    if (!is_alone) {
        if (!must) return false;
        return base::bad_input("--live with --events, --format, -q or -v: both need the terminal",
                               "omit one of them; -o FILE keeps the measurement for any format");
    }
    const auto usable = live::Terminal::usable();
    if (usable) return true;
    if (must) return tl::make_unexpected(usable.error());
    // A pipe is as good a place for a report as a terminal; a terminal that nobody knows is a surprise.
    if (usable.error().kind == base::ErrorKind::cannot_here) plan.notes.push_back(base::error_text(usable.error()));
    return false;
}

}  // namespace

base::Result<std::chrono::milliseconds> parse_interval(std::string_view typed) {
    using namespace std::chrono;
    STAPGEN_LET(const auto interval, base::parse_duration(typed));
    const auto rounded = duration_cast<milliseconds>(interval);
    if (rounded == interval && rounded >= milliseconds(10) && rounded <= hours(24)) return rounded;
    return base::bad_input(fmt::format("--interval {}: not between 10ms and 24h in whole milliseconds", typed),
                           "for example --interval 5 or --interval 250ms");
}

base::Result<std::chrono::nanoseconds> parse_measured_time(std::string_view typed) {
    auto time = base::parse_duration(typed);
    if (time && time->count() == 0)
        return base::bad_input("--duration 0: nothing is measured in no time", "for example --duration 10");
    return time;
}

base::Result<std::vector<std::string>> parse_by(const recipe::Recipe& recipe, std::string_view typed) {
    std::vector<std::string> by;
    for (const auto word : base::split(typed, ',')) {
        for (auto& field : session::fields_of(base::trim(word))) {
            if (std::ranges::find(recipe.by, field) == recipe.by.end()) {
                return base::bad_input(
                    fmt::format("--by {}: {} cannot add this to its records", base::printable(field), recipe.name),
                    base::meant_hint(field, recipe.by, fmt::format("there are {}", fmt::join(recipe.by, ", "))));
            }
            by.push_back(std::move(field));
        }
    }
    return by;
}

base::Result<std::int64_t> parse_kaslr_offset(std::string_view typed) {
    const bool negative = typed.starts_with('-');
    const auto offset = base::from_hex(typed.substr(negative ? 1 : 0));
    if (offset) return static_cast<std::int64_t>(negative ? 0 - *offset : *offset);
    return base::bad_input(fmt::format("--kaslr-offset '{}' is not a hex number", base::printable(typed)),
                           "give _stext of /proc/kallsyms minus _stext of the map, for example 0x1c000000");
}

namespace {

constexpr std::uint64_t mib = 1U << 20U;

/// Bytes, from 1 MiB to `most_mib`, which `most` says.
base::Result<std::uint64_t> parse_memory(const char* option, std::string_view typed, std::uint64_t most_mib,
                                         const char* most) {
    auto bytes = base::parse_size(typed);
    if (!bytes) {
        bytes.error().what.insert(0, fmt::format("{}: ", option));
        return tl::make_unexpected(bytes.error());
    }
    if (*bytes >= mib && *bytes <= most_mib * mib) return *bytes;
    return base::bad_input(fmt::format("{} {}: not between 1MiB and {}", option, base::printable(typed), most),
                           fmt::format("for example {} 64MiB", option));
}

}  // namespace

base::Result<std::int64_t> parse_buffer(std::string_view typed) {
    STAPGEN_LET(const auto bytes, parse_memory("--buffer", typed, 4095, "4095MiB"));
    return static_cast<std::int64_t>((bytes + mib - 1) / mib);
}

base::Result<std::uint64_t> parse_keep_memory(std::string_view typed) {
    return parse_memory("--keep-memory", typed, 1024, "1GiB");
}

base::Result<std::optional<session::KeepPlan>> keep_plan_of(const KeepOptions& options) {
    if (options.plan.before.count() == 0) return std::nullopt;
    auto plan = options.plan;
    for (const auto& typed : options.conditions) {
        STAPGEN_LET(auto condition, when::parse_condition(typed));
        plan.conditions.push_back(std::move(condition));
    }
    return plan;
}

base::Colours colours_of(std::string_view color) {
    if (color == "auto") return base::Colours::automatic;
    return color == "always" ? base::Colours::always : base::Colours::never;
}

base::Result<session::Presentation> presentation_of(const PresentOptions& options) {
    auto presentation = options.shown;
    presentation.format = &show::format_named(options.format);
    presentation.colours = colours_of(options.color);
    presentation.has_groups = !presentation.quiet || !options.by.empty();
    if (presentation.format->is_trace && ::isatty(STDOUT_FILENO) == 1) {
        return base::bad_input(fmt::format("--format {}: a trace is binary, and stdout is a terminal", options.format),
                               "write it to a file: stapgen ... > trace.pftrace");
    }
    if (options.by.empty()) return presentation;
    auto& by = presentation.by.emplace();
    for (const auto typed : base::split(options.by, ',')) {
        const auto word = base::trim(typed);
        if (session::is_origin_word(word)) {
            presentation.by_origin.emplace_back(word);
            continue;
        }
        if (word.starts_with(session::origin_words.back())) {
            return base::bad_input(fmt::format("--by {}: not a valid label name", base::printable(word)),
                                   "for example --by label:dc, for recordings made with --label dc=fra1");
        }
        for (auto& field : session::fields_of(word)) {
            if (std::ranges::find(by, field) == by.end()) by.push_back(std::move(field));
        }
    }
    return presentation;
}

base::Result<std::vector<std::filesystem::path>> files_at(const std::vector<std::string>& words) {
    std::vector<std::filesystem::path> files;
    for (const auto& word : words) {
        auto more = base::files_at(word);
        if (more.empty()) {
            return base::bad_input(fmt::format("there are no files in {}", base::printable(word)),
                                   "folders below a folder are not read");
        }
        std::ranges::move(more, std::back_inserter(files));
    }
    if (files.size() > 1) std::erase_if(files, [](const auto& file) { return file.filename() == fleet::index_file; });
    return files;
}

base::Result<void> check_events(bool events, const session::Presentation& presentation) {
    if (!events || presentation.format->intervals) return {};
    return base::bad_input("--events and this --format: one document cannot be printed record by record",
                           "--format ndjson prints a line for each record, and the report as the last one");
}

base::Result<session::MeasurePlan> plan_of(const host::System& machine, const MeasureOptions& options, bool dry_run) {
    auto plan = options.plan;
    STAPGEN_LET(auto filters, session::filters_of(machine, options.filters, dry_run));
    plan.filters = std::move(filters);
    STAPGEN_LET(auto labels, recording::parse_labels(options.labels));
    plan.labels = std::move(labels);
    STAPGEN_LET(auto presentation, presentation_of(options.present));
    plan.presentation = std::move(presentation);
    plan.presentation.intervals_shown = true;
    if (const auto& origin = plan.presentation.by_origin; !origin.empty()) {
        return base::bad_input(fmt::format("--by {}: a measurement is one recording of one host", origin.front()),
                               "record several with -o FILE; 'stapgen report --by' groups them");
    }
    STAPGEN_TRY(check_events(plan.events, plan.presentation));
    STAPGEN_LET(plan.keep, keep_plan_of(options.keep));
    if (plan.keep && plan.keep->in_recording() && !plan.remote) {
        return base::bad_input("--keep-in -: only with --remote, within the recording on stdout", "name a folder");
    }
    if (plan.remote) {
        plan.output = "-";
        return plan;
    }
    if (plan.output == "-") {
        return base::bad_input("--output -: stdout is for the report",
                               "name a file; 'stapgen report FILE' reads it, 'zstd -dc FILE' shows its text");
    }
    STAPGEN_LET(const auto is_live, wants_live(options, plan));
    plan.live = is_live;
    if (!plan.quiet) plan.notes.insert(plan.notes.end(), plan.filters.hints.begin(), plan.filters.hints.end());
    return plan;
}

}  // namespace stapgen::cli
