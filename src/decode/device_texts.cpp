#include "decode/device_texts.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <optional>
#include <span>

#include "base/text.h"

namespace stapgen::decode {

namespace {

constexpr std::size_t max_driver_name_length = 64;

struct ColumnName {
    std::string_view column, name;
};

// As the members of struct rtnl_link_stats64 are called, by print_stats64() of iproute2's ip/ipaddress.c.
constexpr ColumnName rx_columns[]{
    {"bytes", "rx_bytes"},     {"packets", "rx_packets"},     {"errors", "rx_errors"},
    {"dropped", "rx_dropped"}, {"overrun", "rx_over_errors"}, {"missed", "rx_missed_errors"},
    {"mcast", "multicast"},    {"bcast", "rx_broadcast"},     {"compressed", "rx_compressed"}};
constexpr ColumnName rx_error_columns[]{{"length", "rx_length_errors"}, {"crc", "rx_crc_errors"},
                                        {"frame", "rx_frame_errors"},   {"fifo", "rx_fifo_errors"},
                                        {"missed", "rx_missed_errors"}, {"overrun", "rx_over_errors"},
                                        {"nohandler", "rx_nohandler"},  {"otherhost", "rx_otherhost_dropped"}};
constexpr ColumnName tx_columns[]{
    {"bytes", "tx_bytes"},          {"packets", "tx_packets"},        {"errors", "tx_errors"},
    {"dropped", "tx_dropped"},      {"carrier", "tx_carrier_errors"}, {"collsns", "collisions"},
    {"compressed", "tx_compressed"}};
constexpr ColumnName tx_error_columns[]{{"aborted", "tx_aborted_errors"},   {"fifo", "tx_fifo_errors"},
                                        {"window", "tx_window_errors"},     {"heartbeat", "tx_heartbeat_errors"},
                                        {"heartbt", "tx_heartbeat_errors"}, {"transns", "carrier_changes"}};

struct LinkHeading {
    std::string_view begin, first_column;
    std::span<const ColumnName> columns;
};
constexpr std::array link_headings{
    LinkHeading{"RX:", "bytes", rx_columns}, LinkHeading{"RX errors:", "length", rx_error_columns},
    LinkHeading{"TX:", "bytes", tx_columns}, LinkHeading{"TX errors:", "aborted", tx_error_columns}};

/// What `ip` prints of a link besides.
constexpr std::array link_details{std::string_view("link/"),     std::string_view("inet "),
                                  std::string_view("inet6 "),    std::string_view("valid_lft "),
                                  std::string_view("altname "),  std::string_view("alias "),
                                  std::string_view("permaddr "), std::string_view("vf ")};

constexpr ColumnName ifconfig_names[]{{"packets", "packets"}, {"bytes", "bytes"},     {"errors", "errs"},
                                      {"dropped", "drop"},    {"overruns", "fifo"},   {"frame", "frame"},
                                      {"carrier", "carrier"}, {"collisions", "colls"}};

/// What ifconfig prints of a device besides, in both generations.
constexpr std::array ifconfig_details{
    std::string_view("inet addr:"), std::string_view("inet6 addr:"),  std::string_view("inet "),
    std::string_view("inet6 "),     std::string_view("ether "),       std::string_view("loop "),
    std::string_view("unspec "),    std::string_view("infiniband "),  std::string_view("UP "),
    std::string_view("BROADCAST "), std::string_view("POINTOPOINT "), std::string_view("LOOPBACK "),
    std::string_view("Interrupt:"), std::string_view("Memory:"),      std::string_view("Base address:"),
    std::string_view("device ")};

constexpr std::array ifconfig_rows{std::string_view("RX"), std::string_view("TX"), std::string_view("collisions")};

std::optional<std::string_view> name_of_column(std::span<const ColumnName> columns, std::string_view column) {
    const auto found = std::ranges::find(columns, column, &ColumnName::column);
    return found == columns.end() ? std::nullopt : std::optional(found->name);
}

std::string device_or_unnamed(std::string_view device) {
    return std::string(device.empty() ? of_unnamed_device : device);
}

}  // namespace

bool IpLinkText::device_line(std::string_view line) {
    const auto first = line.find(": "), second = line.find(": <", first + 1);
    if (first == std::string_view::npos || second == std::string_view::npos ||
        !base::to_unsigned(line.substr(0, first))) {
        return false;
    }
    auto device = line.substr(first + 2, second - first - 2);
    device = device.substr(0, device.find('@'));
    if (!is_device_name(device)) return false;
    device_ = device;
    function_.clear();
    names_.clear();
    return true;
}

bool IpLinkText::headings(std::string_view line) {
    for (const auto& [begin, first_column, columns] : link_headings) {
        if (!line.starts_with(begin)) continue;
        const auto words = base::words(line.substr(begin.size()));
        if (words.empty() || words[0] != first_column) return false;
        std::vector<std::string> names;
        for (const auto word : words) {
            const auto name = name_of_column(columns, word);
            if (!name) return false;
            names.push_back(fmt::format("link.{}", *name));
        }
        names_ = std::move(names);
        return true;
    }
    return false;
}

bool IpLinkText::values(const std::vector<std::string_view>& words, CounterLine& out) {
    if (names_.empty() || words.size() != names_.size()) return false;
    const auto of = device_or_unnamed(device_) + function_;
    for (std::size_t i = 0; i < words.size(); ++i) {
        const auto value = base::to_unsigned(words[i]);
        if (!value) return false;
        out.values.push_back({names_[i], of, *value});
    }
    names_.clear();
    return true;
}

bool IpLinkText::line(const CounterText& text, CounterLine& out) {
    const auto line = text.line;
    if (device_line(line) || headings(line) || values(text.words, out)) return true;
    if (device_.empty() || !base::starts_with_any(line, link_details)) return false;
    if (line.starts_with("vf ")) function_ = fmt::format(".vf{}", text.words.size() > 1 ? text.words[1] : "");
    return true;
}

void IpLinkText::end_block() {
    device_.clear();
    function_.clear();
    names_.clear();
}

bool IfconfigText::line(const CounterText& text, CounterLine& out) {
    const auto line = text.line;
    const auto device = line.substr(0, line.find_first_of(" \t"));
    const auto behind = base::trim(line.substr(device.size()));
    if (behind.starts_with("Link encap:") && is_device_name(device)) {
        device_ = device;
        return true;
    }
    // The newer one's name ends in a colon: "eth0:", "eth0:1:".
    if (behind.starts_with("flags=") && device.ends_with(':') && is_device_name(device)) {
        device_ = device.substr(0, device.size() - 1);
        return true;
    }
    if (!device_.empty() && base::starts_with_any(line, ifconfig_details)) return true;
    if (!base::starts_with_any(line, ifconfig_rows)) return false;
    std::string plain(line);
    std::ranges::replace(plain, ':', ' ');
    const auto words = base::words(plain);
    std::string_view direction;
    for (std::size_t i = 0; i < words.size(); ++i) {
        if (words[i] == "RX" || words[i] == "TX") {
            direction = words[i] == "RX" ? "rx" : "tx";
            continue;
        }
        if (words[i].starts_with('(') && words[i].size() > 1) {  // "(1.2 KB)"
            while (i < words.size() && !words[i].ends_with(')'))
                ++i;
            continue;
        }
        const auto value = i + 1 < words.size() ? base::to_unsigned(words[i + 1]) : std::nullopt;
        if (!value) return false;
        if (const auto name = name_of_column(ifconfig_names, words[i])) {
            if (direction.empty() && *name != "colls") return false;
            out.values.push_back({fmt::format("dev.{}_{}", *name == "colls" ? "tx" : direction, *name),
                                  device_or_unnamed(device_), *value});
        } else if (words[i] != "txqueuelen") {
            return false;
        }
        ++i;
    }
    return !out.values.empty();
}

bool EthtoolText::line(const CounterText& text, CounterLine& out) {
    const auto line = text.line;
    if (const auto command = command_words(line, "ethtool");
        command.size() == 3 && (command[1] == "-S" || command[1] == "--statistics") && is_device_name(command[2])) {
        device_ = command[2];
        in_block_ = true;
        has_values_ = false;
        out.begins_sample = true;
        return true;
    }
    if (line == "NIC statistics:") {
        // The name is that of the command right above.
        if (!in_block_ || has_values_) device_.clear();
        in_block_ = true;
        has_values_ = false;
        out.begins_sample = true;
        return true;
    }
    const auto colon = line.rfind(": ");
    if (!in_block_ || colon == std::string_view::npos || colon == 0 || colon > max_driver_name_length) return false;
    const auto value = base::to_unsigned(base::trim(line.substr(colon + 2)));
    if (!value) return false;
    has_values_ = true;
    out.values.push_back({fmt::format("ethtool.{}", line.substr(0, colon)), device_or_unnamed(device_), *value});
    return true;
}

void EthtoolText::end_block() {
    in_block_ = has_values_ = false;
    device_.clear();
}

}  // namespace stapgen::decode
