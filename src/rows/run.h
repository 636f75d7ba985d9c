// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "rows/of_interval.h"
#include "table/keys.h"

namespace stapgen::rows {

/// What a document is about.
struct Report {
    std::string recipe{};
    std::optional<std::string> definition{};
    std::optional<std::string> merge_conflict{};  ///< why it is not added to another of its recipe

    static constexpr About about{.name = "report", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Key(), "recipe", &Report::recipe);
        column(Key(), "definition", &Report::definition);
        column(First(), "apart", &Report::merge_conflict, Shown{.is_rare = true});
    }
};

/// Where a recording is from.
struct Origin {
    std::int64_t number = 0;  ///< counted from 1
    std::optional<std::string> host{}, kernel{};
    table::Texts command{};
    table::Labels filters{};
    std::optional<std::string> machine{};
    table::Labels labels{};
    std::optional<std::string> build_id{};
    std::int64_t sample = 1;
    std::optional<std::string> definition{};
    table::Texts functions{};

    static constexpr About about{.name = "origins", .row_name = "origin"};
    static constexpr void columns(auto&& column) {
        column(Key(), "number", &Origin::number, Shown{.in = In::rows});
        column(Separate(), "host", &Origin::host);
        column(Separate(), "kernel", &Origin::kernel);
        column(Separate(), "command", &Origin::command);
        column(Separate(), "filters", &Origin::filters);
        column(Separate(), "machine", &Origin::machine);
        column(Separate(), "labels", &Origin::labels);
        column(Separate(), "build_id", &Origin::build_id);
        column(Separate(), "sample", &Origin::sample);
        column(Separate(), "definition", &Origin::definition);
        column(Separate(), "functions", &Origin::functions, Shown{.in = In::documents});
    }
};

/// When a measurement was made, and how it ended.
struct Run {
    std::optional<std::int64_t> interval{};  ///< the only one that it is of, counted from 0
    std::optional<std::int64_t> start{}, end{};
    std::int64_t recordings = 1;
    std::optional<std::int64_t> recorded_ns{};
    std::optional<std::string> broke_off{};
    std::optional<std::int64_t> clock_set_ns{}, suspended_ns{};
    bool aggregated = false;  ///< in the kernel
    bool whole = true;        ///< nothing says that data is missing

    static constexpr About about{.name = "run", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Same(), "interval", &Run::interval, Shown{.is_rare = true});
        column(Smallest(), Moment("start"), &Run::start);
        column(Largest(), Moment("end"), &Run::end);
        column(Sum(), "recordings", &Run::recordings);
        column(Sum(), Ns("recorded_ns"), &Run::recorded_ns, Shown{.is_rare = true});
        column(First(), "broke_off", &Run::broke_off, Shown{.is_rare = true});
        column(Largest(), Ns("clock_set_ns"), &Run::clock_set_ns, Shown{.is_rare = true});
        column(Sum(), Ns("suspended_ns"), &Run::suspended_ns, Shown{.is_rare = true});
        column(Largest(), "aggregated", &Run::aggregated);
        column(Smallest(), "whole", &Run::whole, Shown{.in = In::hidden});
    }
};

/// When an interval began and ended; its end is not known where the input stops before its tick.
struct Interval {
    std::int64_t interval = 0;
    std::optional<std::int64_t> start{}, end{};

    static constexpr About about{.name = "intervals", .shape = Shape::none};
    static constexpr void columns(auto&& column) {
        column(Continues(), "interval", &Interval::interval);
        column(Smallest(), Moment("start"), &Interval::start);
        column(Largest(), Moment("end"), &Interval::end);
    }
};

/// How far a counter of the kernel rose; nothing: it cannot be read.
struct Counter {
    std::string name{}, help{};
    std::optional<std::int64_t> count{};

    static constexpr About about{.name = "counters", .row_name = "counter"};
    static constexpr void columns(auto&& column) {
        column(Key(), "name", &Counter::name, Shown{.place = 2, .heading = "COUNTER", .is_head = true});
        column(Smallest(), "help", &Counter::help, Shown{.place = 3, .heading = "WHAT", .in = In::documents});
        column(Sum(), "count", &Counter::count, Shown{.place = 1, .heading = "COUNT"});
    }
};

struct Cause {
    std::string name{};
    std::int64_t count = 0;

    static constexpr About about{.name = "causes", .shape = Shape::map};
    static constexpr void columns(auto&& column) {
        column(Key(), "name", &Cause::name);
        column(Sum(), "count", &Cause::count);
    }
};

/// What SystemTap lost by its own account.
struct Transport {
    std::int64_t skipped_probes = 0, probe_errors = 0, transport_failures = 0;
    std::optional<std::int64_t> enough_buffer_mb{};  ///< a buffer that would have been large enough
    std::vector<Cause> skipped_by{};

    static constexpr About about{.name = "transport", .row_name = "transport", .shape = Shape::fields};
    static constexpr void columns(auto&& column) {
        column(Sum(), "skipped_probes", &Transport::skipped_probes);
        column(Sum(), "probe_errors", &Transport::probe_errors);
        column(Sum(), "transport_failures", &Transport::transport_failures);
        column(Largest(), "enough_buffer_mb", &Transport::enough_buffer_mb,
               Shown{.in = In::documents, .is_rare = true});
        column(Sum(), "skipped_by", &Transport::skipped_by, Shown{.is_rare = true, .row_name = "skipped"});
    }
};

/// The account of everything seen.
struct Accounting {
    std::int64_t seen = 0, reported = 0, filtered = 0, incomplete = 0, lost = 0, unaccounted = 0;
    bool closed = false;
    std::vector<Cause> incomplete_by{}, lost_by{}, other{};
    Transport transport{};

    static constexpr About about{.name = "accounting", .row_name = "account", .shape = Shape::record};
    static constexpr void columns(auto&& column) {
        column(Sum(), "seen", &Accounting::seen);
        column(Sum(), "reported", &Accounting::reported);
        column(Sum(), "filtered", &Accounting::filtered);
        column(Sum(), "incomplete", &Accounting::incomplete);
        column(Sum(), "lost", &Accounting::lost);
        column(Sum(), "unaccounted", &Accounting::unaccounted);
        column(Smallest(), "closed", &Accounting::closed);
        column(Sum(), "incomplete_by", &Accounting::incomplete_by, Shown{.row_name = "incomplete"});
        column(Sum(), "lost_by", &Accounting::lost_by, Shown{.row_name = "lost"});
        column(Sum(), "other", &Accounting::other, Shown{.row_name = "other"});
        column(Sum(), "transport", &Accounting::transport);
    }
};

/// One in this many sockets was measured.
struct Sample {
    std::int64_t one_in = 1, estimated_records = 0;

    static constexpr About about{.name = "sample", .shape = Shape::record, .is_rare = true};
    static constexpr void columns(auto&& column) {
        column(Same(), "one_in", &Sample::one_in);
        column(Sum(), "estimated_records", &Sample::estimated_records);
    }
};

struct ProbeCost {
    std::string point{};
    std::int64_t hits = 0, cycles = 0, max_cycles = 0;
    std::optional<double> one_cpu_percent{};

    static constexpr About about{.name = "probes"};
    static constexpr void columns(auto&& column) {
        column(Key(), "point", &ProbeCost::point);
        column(Sum(), "hits", &ProbeCost::hits);
        column(Sum(), "cycles", &ProbeCost::cycles);
        column(Largest(), "max_cycles", &ProbeCost::max_cycles);
        column(Same(), "one_cpu_percent", &ProbeCost::one_cpu_percent);
    }
};
struct Cost {
    std::int64_t hits = 0;
    std::optional<std::int64_t> expected_hits{};
    std::int64_t measured_ns = 0, cycles = 0;
    std::optional<double> cycles_per_s{}, one_cpu_percent{};
    std::int64_t cpus = 0;
    std::optional<double> all_cpus_percent{};
    std::vector<ProbeCost> probes{};

    static constexpr About about{.name = "cost", .shape = Shape::record, .is_rare = true};
    static constexpr void columns(auto&& column) {
        column(Sum(), "hits", &Cost::hits);
        column(Sum(), "expected_hits", &Cost::expected_hits);
        column(Sum(), Ns("measured_ns"), &Cost::measured_ns);
        column(Sum(), "cycles", &Cost::cycles);
        column(Same(), "cycles_per_s", &Cost::cycles_per_s);
        column(Same(), "one_cpu_percent", &Cost::one_cpu_percent);
        column(Largest(), "cpus", &Cost::cpus);
        column(Same(), "all_cpus_percent", &Cost::all_cpus_percent);
        column(Sum(), "probes", &Cost::probes);
    }
};

struct FlawedLine {
    std::int64_t line = 0;
    std::string why{};
    std::optional<std::string> text{};

    static constexpr About about{.name = "first_unrecognised"};
    static constexpr void columns(auto&& column) {
        column(Key(), "line", &FlawedLine::line);
        column(Key(), "why", &FlawedLine::why);
        column(Key(), "text", &FlawedLine::text, Shown{.is_rare = true});
    }
};
struct Input {
    std::int64_t lines = 0, recognised = 0, unrecognised = 0;
    std::vector<FlawedLine> first_unrecognised{};

    static constexpr About about{.name = "input", .row_name = "input", .shape = Shape::record};
    static constexpr void columns(auto&& column) {
        column(Sum(), "lines", &Input::lines);
        column(Sum(), "recognised", &Input::recognised);
        column(Sum(), "unrecognised", &Input::unrecognised);
        column(Sum(), "first_unrecognised", &Input::first_unrecognised);
    }
};

struct Note {
    std::string note{};

    static constexpr About about{.name = "notes", .shape = Shape::list};
    static constexpr void columns(auto&& column) { column(Key(), "note", &Note::note); }
};

}  // namespace stapgen::rows
