// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace stapgen::decode {

/// One counter of a line.
struct CounterValue {
    std::string name, of;  ///< as the recipe softnet has them
    std::uint64_t value = 0;
    bool is_state = false;  ///< it goes up and down: sockets in use
};

/// A line without blanks around it, the words of it, these with one blank between, and its number in the input.
struct CounterText {
    std::string_view line;
    std::vector<std::string_view> words;
    std::string plain;
    std::int64_t number = 0;
    bool is_below_unread_numbers = false;  ///< the line above is numbers, too, and nobody understood it
};

/// What belongs to no CPU and no device; and a device that no line names.
inline constexpr std::string_view of_namespace = "-", of_unnamed_device = "?";

/// What one line was.
struct CounterLine {
    std::vector<CounterValue> values;
    bool begins_block = false;  ///< what a tool prints begins anew
    bool is_rounded = false;    ///< a number of it is ("6.04T"), and left out
};

/// What is known from the lines above, until an unknown command, a line of another format or, of some formats, any that
/// nobody understands.
struct CounterBlock {
    std::string command{};      ///< the one that prints it; empty: no line says it
    std::string device{};       ///< that the command names
    std::string of{};           ///< what the next values belong to
    bool is_open = false;       ///< a line that begins a block was read
    bool is_rise = false;       ///< values are rises: nstat without -a
    bool is_announced = false;  ///< that line says that the tool's output begins
    bool has_values = false;    ///< since then
    std::int64_t number = 0;    ///< among all blocks
    /// Columns of the rows that follow: a counter's name, `-` for none, `@` for what the row belongs to.
    std::vector<std::string> columns{};
    const struct CounterTable* table = nullptr;  ///< that has them
    std::int64_t row = 0;                        ///< number of rows read
    std::string group{};                         ///< of netstat -s and /proc/net/snmp: the last heading
    std::set<std::string> seen{};                ///< headings of this netstat -s
    std::string_view direction{};                ///< "In" or "Out": in one of netstat's histograms of ICMP
};

/// A kind of line: each '*' of `pattern` is what a word of `captures` says; a blank is any number of them.
///     NAME      a decimal value of that counter; # another decimal number, ~ one with a point, - anything
///     & =       a counter's name and its value
///     group     a word of CounterFormat::groups, before the name
///     pairs     names and values, CounterFormat::pair between
///     @         the device that values belong to; addr an address, word any word
///     port cpu  a hexadecimal port as "port N", a number as "cpuN"; vf as ".vfN", behind the device
///     / index   the last part of a path; an index of a device, if no path names it
///     !         the device that the command names, and takes no '*'
///     echo      what people print before they ask for a device
///     tcp       a state of TCP; hex8, hex32: 8 or 32 digits
///     &: @:     as & and @, up to the last colon of the line; `pattern` is what follows it
/// Of several that values belong to, each is behind a blank.
struct CounterShape {
    std::string_view pattern, captures;
    bool in_block = false;  ///< only below a line that names a device or begins a block
};

/// A heading whose words are columns: "dropped=rx_dropped" is called rx_dropped, - is no counter.
struct CounterTable {
    std::string_view begin;    ///< what comes before them
    std::string_view columns;  ///< that may be there, in any order
    /// The next line; any number; likewise, hexadecimal, CPU by CPU; of these, where the path says what they are of.
    enum class Rows { next, named, of_cpus, of_cpus_of_file } rows;
    std::string_view prefix{};  ///< in the place of the format's
};

/// How a format is asked for: by a command, which has to have an option and may have words besides options, or by one
/// that prints a file of this path.
struct CounterCommand {
    std::string_view command{}, option{}, arguments{}, path{};
};

/// How one tool or file shows counters. A line that has none of these shapes is not of it.
struct CounterFormat {
    std::string_view title;  ///< for a person: "netstat -s"
    CounterCommand asked;
    std::string_view prefix{};                ///< of names: "link"; empty: names begin with a group of the kernel's
    std::string_view of = of_unnamed_device;  ///< where no line says what values belong to
    bool names_device = false;                ///< the command or path does
    bool leaves_out_zeros = false;            ///< it may leave out counters that are 0
    bool ends_at_noise = false;               ///< its lines may be another tool's: none is behind one not understood
    bool has_parts = false;  ///< a name may come up several times in a sample, as each queue of a device has it
    std::span<const CounterShape> shapes{};
    std::span<const CounterTable> tables{};
    std::string_view begin{};     ///< pattern of a line that begins what the tool prints
    std::string_view details{};   ///< first words of lines in a block that have no counters
    char pair = '=';              ///< between name and value
    std::string_view groups{};    ///< parts of names, "TCP"
    std::string_view counters{};  ///< those of pairs, as in CounterTable; others are none
    std::string_view states{};    ///< those of pairs that go up and down; without both lists all are counters
    /// What no shape can say. False: not of this format, and nothing has changed.
    bool (*other)(const CounterText&, CounterBlock&, CounterLine&) = nullptr;
};

/// Every format, in the order in which a line is offered to them.
std::span<const CounterFormat> counter_formats();

/// False: the line is not of this format, and nothing has changed. `out` is empty before.
bool read_counters(const CounterFormat& format, const CounterText& text, CounterBlock& block, CounterLine& out);

/// What `netstat -s` prints (net-tools 1.60 to 2.10): sentences, of counters that it does not know their names. Whole,
/// or what grep left of it, then without the headings.
///     Udp:
///         225645 packets received
///         InCsumErrors: 319
///     TcpExt:
///         Quick ack mode was activated 641 times
bool read_netstat(const CounterText& text, CounterBlock& block, CounterLine& out);

/// "ethtool", "-S" and "eth0" of "sudo ethtool -S eth0 | grep drop"; empty if the line is no such command.
std::vector<std::string_view> command_words(std::string_view line, std::string_view command);

/// Whether it can be the name of a device: letters, digits and what people put into names, so that what a terminal left
/// before it is seen. The kernel allows more.
bool is_device_name(std::string_view text);

}  // namespace stapgen::decode
