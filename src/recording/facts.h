// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/kernel.h"

namespace stapgen::recording {

/// The newest version of a recording file that this code reads: docs/reference/recording-format.md, "The file".
inline constexpr int file_version = 1;

using Counters = std::map<std::string, std::int64_t>;

/// How often something happened.
struct Cause {
    std::string name;
    std::int64_t count = 0;
};

/// Losses as SystemTap reports them.
struct Transport {
    std::int64_t skipped_probes = 0;
    std::int64_t probe_errors = 0;
    std::int64_t transport_failures = 0;
    std::int64_t enough_buffer_mb = 0;  ///< per CPU, that would have held what they cost; 0: not known, or too much
    std::vector<Cause> skipped_by{};    ///< the skipped probes with a known function
};

/// A counter of the kernel's over the measurement, as the recipe declares it: losses that no record shows.
struct Counter {
    std::string name, help;
    std::optional<std::int64_t> count;  ///< by how much it rose; nothing if that is not known

    bool operator==(const Counter&) const = default;
};

/// Names of network namespaces, cgroups and containers by what records have of them: "netns:4026532201" -> "red".
using GroupNames = std::map<std::string, std::string>;

/// Whose packets were measured, as typed: option without dashes -> value. A process's or thread's number is that of
/// this machine, whatever container it was typed for.
using TypedFilters = std::map<std::string, std::string>;

/// The user's names for the place of a run: dc -> fra1.
using Labels = std::map<std::string, std::string>;

/// Where a run was made, and what it measured. What is not known is empty.
struct Origin {
    std::string host;
    std::string kernel;                ///< release
    std::vector<std::string> command;  ///< argv of stapgen
    TypedFilters filters{};
    std::string machine{};  ///< host::machine_of()
    Labels labels{};
    std::string build_id{};   ///< of the kernel
    std::int64_t sample = 1;  ///< one in this many sockets
    std::string definition{}, recipe_hash{};
    std::vector<std::string> functions{};

    bool operator==(const Origin&) const = default;
};

/// The name of an address on the machine that recorded.
struct AddressName {
    std::optional<std::uint64_t> address;  ///< always there
    std::string symbol;
    std::uint64_t offset = 0;
    std::string module;  ///< empty: the kernel itself
};

/// What an address of a process is, on the machine that recorded.
struct CodeName {
    std::int64_t pid = 0;
    std::optional<std::uint64_t> address;  ///< always there
    std::string symbol;                    ///< empty: not known
    std::uint64_t offset = 0;              ///< from where it begins
    std::string file;                      ///< the last part of its path
    std::string build_id;
    std::optional<std::uint64_t> place;  ///< the address as the file has it
    bool after_call = false;             ///< a call precedes it: it may be a return address
};

/// How long probes were there, and by which clock their hits are counted. 0: not known.
struct ProbeClock {
    double cycles_per_s = 0;  ///< of `stap -t`
    std::int64_t measured_ns = 0;
    std::int64_t cpus = 0;
    std::optional<std::int64_t> expected_hits;  ///< by the recipe's [cost], of the traffic there was in between
};

/// Why and when the records of some seconds were kept (--keep).
struct Kept {
    std::string condition;  ///< that held, or "SIGUSR1"; empty: the recording is no such
    std::string value;      ///< of what it is about, for a person
    std::int64_t at_epoch_ns = 0;
    std::int64_t before_ns = 0, after_ns = 0;
    std::int64_t unkept = 0;  ///< how often one held since the recording before it, which were not kept
    /// Which moment of a fleet's run it is, from 1 on: hosts keep the same ones. 0: of no fleet.
    std::int64_t moment = 0;

    bool operator==(const Kept&) const = default;
};

/// Facts of a run as it begins.
struct Setup {
    std::string recipe;
    std::vector<std::string> command;                              ///< argv of stapgen
    std::optional<std::map<std::string, std::string>> parameters;  ///< nothing for a module made elsewhere
    TypedFilters filters;
    std::string recipe_hash;             ///< of recipe and parameters; empty: not known
    std::vector<std::string> functions;  ///< probe points as the kernel has them, sorted; none: nothing is probed
    std::string definition;              ///< definition_of()
    std::string hash_of;                 ///< "script", "module" or "recipe"
    std::string sha256;                  ///< of that, hexadecimal
    std::string stapgen_version;
    std::string stap_version;  ///< that made the module

    std::string host, machine;
    Labels labels;
    base::KernelIdentity kernel;
    std::map<std::string, std::string> clocks;  ///< "time": of fields of this type, "epoch": of ready, tick and end
    std::map<std::int64_t, std::string> drop_reasons;  ///< of recipes whose records have a reason
    Counters counters;                                 ///< host::NetCounters
    GroupNames group_names;
    Kept kept;

    [[nodiscard]] Origin origin() const;
};

/// Facts of a run's end that its lines do not say.
struct RunEnd {
    Transport transport;
    std::string broke_off;          ///< why it ended though nobody asked it to; empty if it did not
    std::int64_t clock_set_ns = 0;  ///< the wall clock was set forward by so much behind `ready`; negative: back
    std::int64_t suspended_ns = 0;  ///< the machine was suspended for so long, which no time of a record has in it
    std::vector<Counter> counters;  ///< as the recipe declares them
};

/// Facts of a run once it has ended. Of a part that is continued only net_counters, addresses and group_names
/// are known.
struct Outcome : RunEnd {
    ProbeClock clock;
    Counters net_counters;               ///< host::NetCounters
    std::vector<AddressName> addresses;  ///< those that occurred and have a name, 4096 at most
    GroupNames group_names;
    std::vector<CodeName> code;            ///< of samples, see CodeName
    std::int64_t kept_since_epoch_ns = 0;  ///< of Setup::kept: all records are there from then on; 0: not known
};

/// All that is known of a run beside its lines.
struct RunFacts {
    Setup setup;
    Outcome outcome;
};

/// The first line of a recording.
struct Header {
    int version = file_version;
    std::string run_id;             ///< random; the same in all parts of one run
    std::int64_t part = 0;          ///< counted from 0
    std::int64_t lines_before = 0;  ///< raw lines in the parts before this one, repeated ones not counted
    std::int64_t repeated = 0;      ///< number of raw lines after this one that repeat earlier parts
    std::int64_t start_epoch_ns = 0;
    Setup setup;
};

/// The last line of a recording that was ended in order.
struct Trailer {
    std::int64_t end_epoch_ns = 0;
    bool continued = false;  ///< there is a further part
    std::int64_t lines = 0;  ///< raw lines in this part, repeated ones not counted
    Outcome outcome;
};

/// With its '\n'. Text that is not UTF-8 is replaced by U+FFFD.
std::string header_line(const Header& header);
std::string trailer_line(const Trailer& trailer);

/// A line that begins as one of the two do.
struct OwnLine {
    bool is_header = false;
    int version = 0;  ///< of a header
    std::string_view json;
};

/// `line` is without its '\n'. Nothing if it is a line of the script.
std::optional<OwnLine> parse_own_line(std::string_view line);

/// Keys that are not known are passed over, and values of another type than theirs. Nothing if `json` is no object,
/// or over a limit of base/limits.h.
std::optional<Header> parse_header(std::string_view json);
std::optional<Trailer> parse_trailer(std::string_view json);

}  // namespace stapgen::recording
