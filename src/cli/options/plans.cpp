#include "cli/options/plans.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>

#include "analyze/histogram.h"
#include "base/terminal.h"
#include "base/text.h"
#include "base/units.h"
#include "live/terminal.h"
#include "recording/writer.h"
#include "session/origin_groups.h"

namespace stapgen::cli {

namespace {

base::Result<std::int64_t> parse_kaslr_offset(std::string_view typed) {
    auto digits = typed;
    const bool negative = digits.starts_with('-');
    if (negative) digits.remove_prefix(1);
    const auto kaslr_offset = base::from_hex(digits);
    if (!kaslr_offset) {
        return base::bad_input(fmt::format("--kaslr-offset '{}' is not a hex number", base::printable(typed)),
                               "it is _stext in /proc/kallsyms less _stext in the map, for example 0x1c000000");
    }
    return static_cast<std::int64_t>(negative ? 0 - *kaslr_offset : *kaslr_offset);
}

/// staprun takes whole MiB, which it calls MB.
base::Result<std::int64_t> buffer_mib_of(const std::string& typed) {
    constexpr std::uint64_t mib = 1U << 20U;
    auto bytes = base::parse_size(typed);
    if (!bytes) {
        bytes.error().what.insert(0, "--buffer: ");
        return tl::make_unexpected(bytes.error());
    }
    const auto whole = (*bytes + mib - 1) / mib;
    if (*bytes < mib || whole > 4095) {
        return base::bad_input(fmt::format("--buffer {}: not between 1MiB and 4095MiB", typed),
                               "for example --buffer 64MiB");
    }
    return static_cast<std::int64_t>(whole);
}

/// Into `notes`, why a measurement is not shown live that would be.
base::Result<bool> wants_live(const MeasureOptions& options, const session::MeasurePlan& plan,
                              std::vector<std::string>& notes) {
    if (options.live == "never") return false;
    const bool is_alone =
        plan.presentation.format == &report::formats().front() && !plan.events && !plan.quiet && !plan.verbose;
    const bool must = options.live == "always";
    if (!is_alone) {
        if (!must) return false;
        return base::bad_input("--live and --events, --format, -q or -v: two things for one terminal",
                               "leave one of them out; -o FILE keeps the measurement, to be read in any format");
    }
    const auto usable = live::Terminal::usable();
    if (usable) return true;
    if (must) return tl::make_unexpected(usable.error());
    // A pipe is as good a place for a report as a terminal; a terminal that nobody knows is a surprise.
    if (usable.error().kind == base::ErrorKind::cannot_here) notes.push_back(base::error_text(usable.error()));
    return false;
}

live::Colours colours_of(const std::string& word) {
    if (word == "always") return live::Colours::always;
    return word == "never" ? live::Colours::never : live::Colours::automatic;
}

}  // namespace

base::Result<report::Presentation> presentation_of(const PresentOptions& options) {
    report::Presentation presentation;
    if (!options.percentiles.empty()) {
        auto percentiles = analyze::parse_percentiles(options.percentiles);
        if (!percentiles) return tl::make_unexpected(percentiles.error());
        presentation.percentiles = *std::move(percentiles);
    }
    presentation.format = &report::format_named(options.format);
    if (presentation.format->is_trace && ::isatty(STDOUT_FILENO) == 1) {
        return base::bad_input(fmt::format("--format {}: a trace is binary, and stdout is a terminal", options.format),
                               "write it to a file: stapgen ... > trace.pftrace");
    }
    if (!options.by.empty()) {
        auto& by = presentation.by.emplace();
        for (const auto typed : base::split(options.by, ',')) {
            const auto word = base::trim(typed);
            if (std::ranges::find(session::origin_words, word) != session::origin_words.end()) {
                presentation.by_origin.emplace_back(word);
                continue;
            }
            for (auto& field : report::fields_of(word)) {
                if (std::ranges::find(by, field) == by.end()) by.push_back(std::move(field));
            }
        }
    }
    presentation.top = options.top;
    presentation.slowest = options.slowest;
    presentation.series = options.series;
    presentation.hide_benign = options.hide_benign;
    return presentation;
}

base::Result<symbols::NameSources> sources_of(const NameOptions& options) {
    symbols::NameSources sources;
    sources.files.assign(options.map.begin(), options.map.end());
    if (!options.modules.empty()) sources.modules = options.modules;
    sources.release = options.release;
    if (!options.kaslr_offset.empty()) {
        const auto kaslr_offset = parse_kaslr_offset(options.kaslr_offset);
        if (!kaslr_offset) return tl::make_unexpected(kaslr_offset.error());
        sources.kaslr_offset = *kaslr_offset;
    }
    return sources;
}

base::Result<session::MeasurePlan> plan_of(const host::System& machine, const MeasureOptions& options, bool dry_run) {
    session::MeasurePlan plan;
    auto filters = session::filters_of(machine, options.filters, dry_run);
    if (!filters) return tl::make_unexpected(filters.error());
    plan.filters = *std::move(filters);
    if (!options.duration.empty()) {
        auto duration = base::parse_duration(options.duration);
        if (!duration) return tl::make_unexpected(duration.error());
        plan.duration = *duration;
    }
    auto presentation = presentation_of(options.present);
    if (!presentation) return tl::make_unexpected(presentation.error());
    if (!presentation->by_origin.empty()) {
        return base::bad_input(
            fmt::format("--by {}: a measurement is one recording of one host", presentation->by_origin.front()),
            "keep several with -o FILE; 'stapgen report --by' groups them so");
    }
    plan.presentation = *std::move(presentation);
    plan.presentation.intervals_shown = true;
    plan.intervals = options.count;
    plan.events = options.events;
    if (plan.events && !plan.presentation.format->intervals) {
        return base::bad_input("--events and this --format: one document cannot be printed record by record",
                               "--format ndjson prints a line for each record, and the report as the last one");
    }
    if (options.output == "-") {
        return base::bad_input("--output -: stdout has the report already",
                               "name a file; 'stapgen report FILE' reads it, 'zstd -dc FILE' shows its text");
    }
    if (options.output) plan.output = *options.output;
    if (options.rotation) {
        auto rotation = recording::parse_rotation(*options.rotation);
        if (!rotation) return tl::make_unexpected(rotation.error());
        plan.rotation = *rotation;
    }
    if (!options.buffer.empty()) {
        const auto buffer = buffer_mib_of(options.buffer);
        if (!buffer) return tl::make_unexpected(buffer.error());
        plan.buffer_mb = *buffer;
    }
    plan.quiet = options.quiet;
    plan.verbose = options.verbose;
    std::vector<std::string> notes;
    const auto is_live = wants_live(options, plan, notes);
    if (!is_live) return tl::make_unexpected(is_live.error());
    plan.live = *is_live;
    plan.colours = colours_of(options.color);
    if (!plan.quiet) notes.insert(notes.end(), plan.filters.hints.begin(), plan.filters.hints.end());
    plan.notes = std::move(notes);
    return plan;
}

}  // namespace stapgen::cli
