#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/loaded_modules.h"

namespace stapgen::recording {

/// The newest version of a recording file that this code reads: docs/recording-format.md, "The file".
inline constexpr int file_version = 1;

using Counters = std::map<std::string, std::int64_t>;

/// The first line of a recording: what was measured, where and how. What is not known is empty.
struct Head {
    int version = file_version;
    std::string run_id;             ///< random; the same in all parts of one run
    std::int64_t part = 0;          ///< counted from 0
    std::int64_t lines_before = 0;  ///< raw lines in the parts before this one, repeated ones not counted
    std::int64_t repeated = 0;      ///< so many raw lines behind this one repeat those of earlier parts
    std::int64_t start_epoch_ns = 0;

    std::string recipe;
    std::vector<std::string> command;                              ///< argv of stapgen
    std::optional<std::map<std::string, std::string>> parameters;  ///< nothing for a module made elsewhere
    std::map<std::string, std::string> filters;                    ///< option without dashes -> as typed
    std::string hash_of;                                           ///< "script", "module" or "recipe"
    std::string sha256;                                            ///< of that, hexadecimal
    std::string stapgen_version;
    std::string stap_version;  ///< that made the module

    std::string host, release, build_id, architecture;
    std::map<std::string, std::string> clocks;  ///< "time": of fields of this type, "epoch": of ready, tick and end
    std::optional<std::uint64_t> text, stext, etext;  ///< at run time; nothing where the kernel hides them
    std::vector<base::LoadedModule> modules;
    std::map<std::int64_t, std::string> drop_reasons;  ///< of recipes whose records have a reason
    Counters counters;                                 ///< host::NetCounters
};

/// What an address of the records was on the machine that recorded.
struct AddressName {
    std::uint64_t address = 0;
    std::string symbol;
    std::uint64_t offset = 0;
    std::string module;  ///< empty: the kernel itself
};

/// A counter of the kernel's over the measurement, as the recipe declares it.
struct CounterRise {
    std::string name, help;
    std::optional<std::int64_t> count;  ///< nothing where it is not known
};

/// The last line of a recording that was ended in order.
struct Tail {
    std::int64_t end_epoch_ns = 0;
    bool continued = false;  ///< there is a further part
    std::int64_t lines = 0;  ///< raw lines in this part, repeated ones not counted
    /// What SystemTap says was lost; 0 where there is a further part.
    std::int64_t skipped_probes = 0, probe_errors = 0, transport_failures = 0;
    Counters skipped_by;                              ///< of the skipped probes those of which the function is known
    std::int64_t enough_buffer_mb = 0;                ///< per CPU, for transport failures; 0: not known, or too much
    std::string broke_off;                            ///< why it ended though nobody asked it to; empty if it did not
    std::int64_t clock_set_ns = 0, suspended_ns = 0;  ///< between the script's ready and the end
    double cycles_per_s = 0;                          ///< of `stap -t`; 0, as the next: not known
    std::int64_t measured_ns = 0, cpus = 0;
    std::optional<std::int64_t> expected_hits;
    std::vector<CounterRise> counter_rises;  ///< empty where there is a further part
    Counters counters;                       ///< host::NetCounters
    std::vector<AddressName> addresses;      ///< those that occurred and have a name, 4096 at most
};

/// With its '\n'. Text that is not UTF-8 is replaced by U+FFFD.
std::string head_line(const Head& head);
std::string tail_line(const Tail& tail);

/// A line that begins as one of the two do.
struct OwnLine {
    bool is_head = false;
    int version = 0;  ///< of a head
    std::string_view json;
};

/// `line` is without its '\n'. Nothing if it is a line of the script.
std::optional<OwnLine> parse_own_line(std::string_view line);

/// Keys that are not known are passed over, and values of another type than theirs. Nothing if `json` is no object.
std::optional<Head> parse_head(std::string_view json);
std::optional<Tail> parse_tail(std::string_view json);

}  // namespace stapgen::recording
