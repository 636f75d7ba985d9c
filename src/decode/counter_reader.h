// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "decode/sample_clock.h"
#include "decode/shell_commands.h"

namespace stapgen::decode {

/// One counter of a line.
struct CounterValue {
    std::string name, of;  ///< as the recipe softnet has them
    std::uint64_t value = 0;
    bool is_state = false;   ///< it goes up and down: sockets in use
    bool has_parts = false;  ///< it may come up several times in a sample
};

/// A line of the input, and what it is taken apart to once for all formats.
struct CounterText {
    /// A line without blanks around it, and its number in the input.
    CounterText(std::string_view line, std::int64_t number);

    std::string_view line;
    std::vector<std::string_view> words;
    std::string plain;  ///< the words with a blank behind each
    std::int64_t number = 0;
    bool is_below_unread_numbers = false;  ///< the line above is numbers, too, and nobody understood it
};

/// Owners of a value that belongs to no CPU and no device, and to a device that no line names.
inline constexpr std::string_view of_namespace = "-", of_unnamed_device = "?";

/// The counters of one line.
struct CounterLine {
    std::vector<CounterValue> values;
    bool is_rounded = false;  ///< a number of it is ("6.04T"), and left out
    /// Of rates, whose values are hundredths: whether they are of a sample, not an average, and its length, if known.
    bool is_of_sample = false;
    std::optional<std::int64_t> length_s{};
    bool is_unknown = false;  ///< how many they are is not
};

/// The facts known from the lines above, until an unknown command, a line of another format or, of some formats, any
/// that nobody understands.
struct CounterBlock {
    std::string command{};      ///< the one that prints it; empty: no line says it
    ShellPlace place{};         ///< where that ran
    std::string device{};       ///< that the command or a loop's heading names
    std::string of{};           ///< what the next values belong to
    bool is_open = false;       ///< a line that begins a block or names what values belong to was read
    bool is_rise = false;       ///< values are rises: nstat without -a
    bool is_announced = false;  ///< a line says that the tool's output begins
    bool is_headed = false;     ///< it does so in the output
    bool begins_anew = false;   ///< in the output, and there was a block before
    bool varies = false;        ///< its command has a variable whose value is not known
    std::int64_t number = 0;    ///< among all blocks; 0: it has no values so far
    std::size_t source = 0;     ///< once it has values: the number of its source
    std::string columns{};      ///< captures of the rows that follow
    const struct CounterShape* heading = nullptr;  ///< that has them
    std::int64_t row = 0;                          ///< number of rows read
    bool lacks_rows = false;                       ///< some are missing, so that no row's number says its CPU
    std::string group{};                           ///< of netstat -s: the last heading
    bool is_of_bsd = false;                        ///< it
    std::set<std::string> seen{};                  ///< headings of this netstat -s, addresses of this ip neigh
    std::string_view direction{};                  ///< "In" or "Out": in one of netstat's histograms of ICMP
    SampleClock clock{};                           ///< of rates: the times of their rows
};

/// A kind of line. A last " *" may be missing. Each '*' of `pattern` is what a word of `captures` says; a blank is any
/// number of them.
///     NAME      a decimal value of that counter; # another decimal number, ~ one with a point, - anything
///     & =       a counter's name, one of `columns` where these are given, and its value
///     group     a word of CounterFormat::groups, before the name
///     pairs     names and values, CounterFormat::pair between; more: if there are any, of a socket
///     columns   "NAME: VALUE" several times
///     json      an object or array that nstat or ip prints
///     s         an s or nothing
///     @         the device that values belong to; addr an address, word any word
///     port cpu  a hexadecimal port as "port N", a number as "cpuN"; vf as ".vfN", behind the device
///     handle    of a qdisc, "8001"; 0 is that of all that have none
///     / index   the last part of a path; an index of a device, if no path names it
///     !         the device that the command names, and takes no '*'
///     row       anything, in the place of the row's number as "cpuN"; what follows is hexadecimal
///     clock     a time of day, or a word with a colon behind: "Average:"; lan: as @, a name that devices usually have
///     ip        an address, no owner; neighbour: what ip neigh prints behind the device
///     tcp       a state of TCP; udp: a protocol without these; hex8, hex32: 8 or 32 digits
///     &: @:     as & and @, up to the last colon of the line; `pattern` is what follows it
///     softnet   a line of /proc/net/softnet_stat; section, sentence: a heading and a counter of netstat -s
///     NAME:     these letters
/// Several owners of a value are separated by blanks.
struct CounterShape {
    std::string_view pattern, captures;
    /// Where it can be, or what it begins: the tool's output, or a table of the next line or of any number of rows.
    enum class Kind { anywhere, in_block, begin, next, table };
    Kind kind = Kind::anywhere;
    /// The words that a heading's last '*' may have, in any order; "dropped=rx_dropped" is called
    /// rx_dropped. Rows have `captures`, and then these; "group:" is the heading's first '*', whose counters they are.
    /// For `& =`, the names that it may have.
    std::string_view columns{};
    std::string_view prefix{};  ///< of a table, in the place of the format's
};

/// How a format is asked for: by a command, which has to have an option and one of `objects`, and may have other words,
/// or by one that prints a file of this path.
struct CounterCommand {
    std::string_view command{}, option{}, objects{}, arguments{}, path{};
};

/// How one tool or file shows counters. A line that has none of these shapes is not of it.
struct CounterFormat {
    std::string_view title;  ///< for a person: "netstat -s"
    CounterCommand asked;
    std::string_view prefix{};                ///< of names: "link"; empty: names begin with a group of the kernel's
    std::string_view of = of_unnamed_device;  ///< where no line says what values belong to
    bool names_device = false;                ///< the command or path may do so
    bool leaves_out_zeros = false;            ///< it may leave out counters that are 0
    bool ends_at_noise = false;               ///< its lines may be another tool's: none is behind one not understood
    bool has_parts = false;  ///< a name may come up several times in a sample, as each queue of a device has it
    bool from_zero = false;  ///< the tool counts from its own start: its values are rises, and add up
    bool are_rates = false;  ///< values are rates with two decimals, in rows that begin with a `clock`
    std::span<const CounterShape> shapes{};
    std::string_view details{};   ///< first words of lines in a block that have no counters
    char pair = '=';              ///< between name and value
    std::string_view groups{};    ///< parts of names, "TCP"
    std::string_view counters{};  ///< those of pairs, as in a table; others are none
    std::string_view states{};    ///< those of pairs that go up and down; without both lists all are counters
    std::string_view bare_row{};  ///< captures of a row whose heading grep has left out
};

/// Every format, in the order in which a line is offered to them.
std::span<const CounterFormat> counter_formats();

/// The block that a command begins which prints this format. Nothing: it prints another one.
std::optional<CounterBlock> block_of(const CounterFormat& format, const ShellCommand& command);

/// Whether a line above its values may name the device that they belong to.
inline bool takes_device(const CounterFormat& format) {
    return format.names_device && !format.asked.command.empty() && format.of == of_unnamed_device;
}

/// Whether it can be the name of a device: letters, digits and what people put into names, so that what a terminal left
/// before it is seen. The kernel allows more.
bool is_device_name(std::string_view text);

/// The name that loops print before they ask for a device: "eth0", "enp3s0f1".
bool is_usual_device_name(std::string_view text);

/// False: the line is not of this format, and nothing has changed. `out` is empty before.
bool read_counters(const CounterFormat& format, const CounterText& text, CounterBlock& block, CounterLine& out);

/// The new name of `name` by the words of `list`: rx_dropped of `dropped` by "dropped=rx_dropped". Nothing if it is
/// none of them.
std::optional<std::string_view> renamed(std::string_view list, std::string_view name);

inline constexpr std::size_t max_counter_name_length = 64, max_owner_length = 80;

/// Names and values as the format has them, each name behind `group`. What is no counter is left out. False: it is not
/// such a text.
bool read_pairs(const CounterFormat& format, std::string_view text, std::string_view group,
                std::vector<CounterValue>& out);

/// "rx_packets: 1000 tx_packets: 800", two at least: a name may be of several words. False: it is not such a text.
bool read_columns(std::string_view text, std::vector<CounterValue>& out);

/// "12.34", or "12,34" as some languages have it, as 1234.
std::optional<std::uint64_t> read_hundredths(std::string_view text);

/// "lladdr 52:54:00:12:34:56 ref 1 used 12/9/5 probes 4 REACHABLE": whether the neighbour failed or is incomplete, each
/// as a state of 0 or 1. False: it is not such a text.
bool read_neighbour(std::string_view text, std::string_view group, std::vector<CounterValue>& out);

/// The details that ss prints behind a socket's addresses.
struct SocketDetails {
    std::string_view process;  ///< the first that has it, "\"demod\",pid=900,fd=7"; empty: that is not said
    std::string rest;
};
SocketDetails read_socket_details(std::string_view text);

/// Counters in the JSON of `nstat -j`, or of `ip -j -s link` and `ip -j -s addr`. False: there are none.
///     {"kernel":{"IpInReceives":2101517,"IpInDelivers":2101431}}
///     [{"ifindex":2,"ifname":"eth0","stats64":{"rx":{"bytes":1234,"dropped":5},"tx":{"bytes":5678,"dropped":0}}}]
bool read_json_counters(std::string_view line, std::vector<CounterValue>& out);

/// A heading of what `netstat -s` prints (net-tools 1.60 to 2.10), without its colon; or of BSD's, whose sentences are
/// none. False, and nothing has changed: it is no heading.
///     Udp:
///         225645 packets received
///         InCsumErrors: 319
///     TcpExt:
///         Quick ack mode was activated 641 times
bool read_netstat_heading(std::string_view heading, CounterBlock& block);

/// The counter of one of its lines with '%' in the place of the number: "TcpExt.DelayedACKLost" of the last one. Whole,
/// or what grep left of it, then without the headings. Nothing if netstat prints no such line.
std::optional<std::string> netstat_counter(std::string_view sentence, const CounterBlock& block);

}  // namespace stapgen::decode
