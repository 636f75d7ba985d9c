// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/text.h"

namespace stapgen::decode {

/// One counter of a line.
struct CounterValue {
    std::string name, of;  ///< as the recipe softnet has them
    std::uint64_t value = 0;
};

/// A line without blanks around it, the words of it, and its number in the input.
struct CounterText {
    std::string_view line;
    std::vector<std::string_view> words;
    std::int64_t number = 0;
};

/// What belongs to no CPU and no device; and a device that no line names.
inline constexpr std::string_view of_namespace = "-", of_unnamed_device = "?";

/// What one line was.
struct CounterLine {
    /// False: `value` is no number, and nothing has changed.
    bool add(std::string_view name, std::string_view of, std::string_view value) {
        const auto number = base::to_unsigned(value);
        if (number) values.push_back({std::string(name), std::string(of.empty() ? of_unnamed_device : of), *number});
        return number.has_value();
    }

    std::vector<CounterValue> values;
    bool begins_sample = false;  ///< its values are of the next sample of this format
    bool is_rise = false;        ///< they say by how much counters rose and not their values
};

/// One kind of text in which some tool prints counters.
class CounterReader {
  public:
    virtual ~CounterReader() = default;

    const std::string_view format;  ///< for a person: "netstat -s"
    const bool leaves_out_zeros;    ///< it may leave out counters that are 0
    /// One name may come up several times in a sample, as each queue of a device has it; else that begins the next
    /// sample.
    const bool has_parts;

    /// False: the line is not of this kind, and nothing has changed. `out` is empty before.
    virtual bool line(const CounterText& text, CounterLine& out) = 0;
    /// A line of another format came up.
    virtual void end_block() {}

  protected:
    explicit CounterReader(std::string_view name, bool leaves_out = false, bool parts = false)
        : format(name), leaves_out_zeros(leaves_out), has_parts(parts) {}
};

using MakeCounterReader = std::unique_ptr<CounterReader> (*)();
template <class T>
std::unique_ptr<CounterReader> make_counter_reader() {
    return std::make_unique<T>();
}

// Each says how its text looks.
extern const MakeCounterReader make_nstat_text, make_netstat_text, make_snmp_file, make_softnet_file, make_proc_net_dev,
    make_ip_link_text, make_ifconfig_text, make_ethtool_text;

/// "ethtool", "-S" and "eth0" of "sudo ethtool -S eth0 | grep drop"; empty if the line is no such command.
std::vector<std::string_view> command_words(std::string_view line, std::string_view command);

/// Whether it can be the name of a device: letters, digits and what people put into names, so that what a terminal left
/// before it is seen. The kernel allows more.
bool is_device_name(std::string_view text);

}  // namespace stapgen::decode
