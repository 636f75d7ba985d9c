// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "base/text.h"
#include "decode/counter_reader.h"

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
constexpr std::string_view link_details[]{"link/",    "inet ",  "inet6 ",    "valid_lft ",
                                          "altname ", "alias ", "permaddr ", "vf "};

constexpr ColumnName ifconfig_names[]{{"packets", "packets"}, {"bytes", "bytes"},     {"errors", "errs"},
                                      {"dropped", "drop"},    {"overruns", "fifo"},   {"frame", "frame"},
                                      {"carrier", "carrier"}, {"collisions", "colls"}};

/// What ifconfig prints of a device besides, in both generations.
constexpr std::string_view ifconfig_details[]{
    "inet addr:", "inet6 addr:", "inet ",        "inet6 ",    "ether ",     "loop ",   "unspec ",       "infiniband ",
    "UP ",        "BROADCAST ",  "POINTOPOINT ", "LOOPBACK ", "Interrupt:", "Memory:", "Base address:", "device "};

constexpr std::string_view ifconfig_rows[]{"RX", "TX", "collisions"};

std::optional<std::string_view> name_of_column(std::span<const ColumnName> columns, std::string_view column) {
    const auto found = std::ranges::find(columns, column, &ColumnName::column);
    return found == columns.end() ? std::nullopt : std::optional(found->name);
}

/// What `ip -s link`, `ip -s -s link` and `ip -s addr` print; names of columns have changed with iproute2's versions:
///     2: eth0: <BROADCAST,MULTICAST,UP,LOWER_UP> mtu 1500 qdisc mq state UP mode DEFAULT group default qlen 1000
///         link/ether 00:00:5e:00:53:01 brd ff:ff:ff:ff:ff:ff
///         RX: bytes  packets  errors  dropped overrun mcast        from 5.13 on "missed" in the place of "overrun"
///         1234       12       0       0       0       0
///         RX errors: length   crc     frame   fifo    missed       and here the other way round
///                    0        0       0       0       0
///         TX: bytes  packets  errors  dropped carrier collsns
/// Those of a virtual function ("vf 0 ...") are of "eth0.vf0".
class IpLinkText final : public CounterReader {
  public:
    IpLinkText() : CounterReader("ip -s link") {}

    bool line(const CounterText& text, CounterLine& out) override {
        const auto line = text.line;
        if (device_line(line) || headings(line) || values(text.words, out)) return true;
        if (device_.empty() || !base::starts_with_any(line, link_details)) return false;
        if (line.starts_with("vf ")) function_ = fmt::format(".vf{}", text.words.size() > 1 ? text.words[1] : "");
        return true;
    }

    void end_block() override {
        device_.clear();
        function_.clear();
        names_.clear();
    }

  private:
    bool device_line(std::string_view line) {
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

    bool headings(std::string_view line) {
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

    bool values(const std::vector<std::string_view>& words, CounterLine& out) {
        if (names_.empty() || words.size() != names_.size()) return false;
        const auto of = (device_.empty() ? std::string(of_unnamed_device) : device_) + function_;
        for (std::size_t i = 0; i < words.size(); ++i) {
            if (!out.add(names_[i], of, words[i])) return false;
        }
        names_.clear();
        return true;
    }

    std::string device_, function_;
    std::vector<std::string> names_;  ///< of the numbers in the next line
};

/// What ifconfig prints, of net-tools 1.60 ("RX packets:12 errors:0") and busybox, and of 2.x ("RX packets 12  bytes
/// 1234"). It reads /proc/net/dev, and so its names are those of ProcNetDev.
class IfconfigText final : public CounterReader {
  public:
    IfconfigText() : CounterReader("ifconfig") {}

    bool line(const CounterText& text, CounterLine& out) override {
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
            const auto value = i + 1 < words.size() ? words[i + 1] : std::string_view();
            if (const auto name = name_of_column(ifconfig_names, words[i])) {
                const auto of = *name == "colls" ? "tx" : direction;
                if (of.empty() || !out.add(fmt::format("dev.{}_{}", of, *name), device_, value)) return false;
            } else if (words[i] != "txqueuelen" || !base::to_unsigned(value)) {
                return false;
            }
            ++i;
        }
        return !out.values.empty();
    }

    void end_block() override { device_.clear(); }

  private:
    std::string device_;
};

/// What `ethtool -S DEV` prints: names of the driver's own, blanks and brackets in them. Only the command before it
/// names the device. What grep left of it is read where the command stands there.
///     NIC statistics:
///          rx_queue_0_drops: 17
///          [0]: rx_discards: 0
class EthtoolText final : public CounterReader {
  public:
    EthtoolText() : CounterReader("ethtool -S", false, true) {}

    bool line(const CounterText& text, CounterLine& out) override {
        const auto line = text.line;
        const auto command = command_words(line, "ethtool");
        const bool is_command =
            command.size() == 3 && (command[1] == "-S" || command[1] == "--statistics") && is_device_name(command[2]);
        if (is_command || line == "NIC statistics:") {
            // A heading is of the device that the command right above it names.
            if (is_command) {
                device_ = command[2];
            } else if (!in_block_ || has_values_) {
                device_.clear();
            }
            in_block_ = true;
            has_values_ = false;
            out.begins_sample = true;
            return true;
        }
        const auto colon = line.rfind(": ");
        if (!in_block_ || colon == std::string_view::npos || colon == 0 || colon > max_driver_name_length) return false;
        const auto name = fmt::format("ethtool.{}", line.substr(0, colon));
        if (!out.add(name, device_, base::trim(line.substr(colon + 2)))) return false;
        has_values_ = true;
        return true;
    }

    void end_block() override {
        in_block_ = has_values_ = false;
        device_.clear();
    }

  private:
    std::string device_;
    bool in_block_ = false, has_values_ = false;
};

}  // namespace

const MakeCounterReader make_ip_link_text = make_counter_reader<IpLinkText>;
const MakeCounterReader make_ifconfig_text = make_counter_reader<IfconfigText>;
const MakeCounterReader make_ethtool_text = make_counter_reader<EthtoolText>;

}  // namespace stapgen::decode
