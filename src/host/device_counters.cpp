// SPDX-License-Identifier: GPL-2.0-or-later
#include <linux/ethtool.h>
#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/time.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <optional>

#include "base/files.h"
#include "host/net_counters.h"

namespace stapgen::host {

namespace {

/// The members of struct rtnl_link_stats64, 64 bits each, in order. Older kernels end sooner, newer ones may go on.
constexpr std::array kernel_names{
    "rx_packets",       "tx_packets",        "rx_bytes",          "tx_bytes",        "rx_errors",
    "tx_errors",        "rx_dropped",        "tx_dropped",        "multicast",       "collisions",
    "rx_length_errors", "rx_over_errors",    "rx_crc_errors",     "rx_frame_errors", "rx_fifo_errors",
    "rx_missed_errors", "tx_aborted_errors", "tx_carrier_errors", "tx_fifo_errors",  "tx_heartbeat_errors",
    "tx_window_errors", "rx_compressed",     "tx_compressed",     "rx_nohandler",    "rx_otherhost_dropped"};
static_assert(offsetof(rtnl_link_stats64, rx_nohandler) == 23 * sizeof(std::uint64_t));

/// The start of `bytes` as a T, if there is so much; they need not be aligned.
template <class T>
std::optional<T> begin_of(std::string_view bytes) {
    if (bytes.size() < sizeof(T)) return std::nullopt;
    T value;
    std::memcpy(&value, bytes.data(), sizeof value);
    return value;
}

/// Without its first `length` bytes and those that align what follows (to 4, as everywhere in netlink).
std::string_view behind(std::string_view bytes, std::size_t length) {
    return bytes.substr(std::min<std::size_t>(NLMSG_ALIGN(length), bytes.size()));
}

void parse_link(std::string_view attributes, std::vector<DeviceCounter>& counters) {
    std::string_view device, statistics;
    while (const auto head = begin_of<rtattr>(attributes)) {
        if (head->rta_len < sizeof *head || head->rta_len > attributes.size()) break;
        const auto payload = attributes.substr(sizeof *head, head->rta_len - sizeof *head);
        if (head->rta_type == IFLA_IFNAME) device = payload.substr(0, payload.find('\0'));
        if (head->rta_type == IFLA_STATS64) statistics = payload;
        attributes = behind(attributes, head->rta_len);
    }
    for (const auto* name : kernel_names) {
        const auto value = begin_of<std::uint64_t>(statistics);
        if (!value || device.empty()) return;
        counters.push_back({std::string("link.") + name, std::string(device), *value});
        statistics.remove_prefix(sizeof *value);
    }
}

class Socket {
  public:
    Socket() : fd_(::socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE)) {
        const timeval timeout{2, 0};
        ::setsockopt(fd_.get(), SOL_SOCKET, SO_RCVTIMEO, &timeout, sizeof timeout);
    }
    [[nodiscard]] bool ask() const {
        struct {
            nlmsghdr head;
            ifinfomsg link;
        } question{};
        question.head.nlmsg_len = sizeof question;
        question.head.nlmsg_type = RTM_GETLINK;
        question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
        return ::send(fd_.get(), &question, sizeof question, 0) == ssize_t{sizeof question};
    }
    /// Nothing at an error, and of what does not fit.
    [[nodiscard]] std::string_view answer() {
        const auto count = ::recv(fd_.get(), buffer_.data(), buffer_.size(), MSG_TRUNC);
        if (count <= 0 || static_cast<std::size_t>(count) > buffer_.size()) return {};
        return {buffer_.data(), static_cast<std::size_t>(count)};
    }

  private:
    base::Descriptor fd_;
    std::string buffer_ = std::string(256 * 1024, '\0');  // the kernel fills 32 kB at the most
};

// Kernels write as many counters as the driver has by then, and most do not look at the room that was given: with
// this much, a driver whose queues are being changed does not make them write past the end.
constexpr std::size_t max_counters = 65536;

/// One of ethtool's requests: a head and what the kernel puts behind it.
template <class Head>
class Request {
  public:
    explicit Request(std::size_t bytes_behind) : memory_(new char[sizeof(Head) + bytes_behind]) {
        std::memset(memory_.get(), 0, sizeof(Head));
    }
    /// At the start of memory from new, aligned for all.
    [[nodiscard]] Head& head() { return *reinterpret_cast<Head*>(memory_.get()); }
    [[nodiscard]] const char* behind() const { return memory_.get() + sizeof(Head); }

  private:
    std::unique_ptr<char[]> memory_;
};

class Device {
  public:
    explicit Device(const std::string& name) : fd_(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0)) {
        name.copy(name_.ifr_name, sizeof name_.ifr_name - 1);
    }
    template <class Head>
    [[nodiscard]] bool ask(Request<Head>& request, std::uint32_t command) {
        request.head().cmd = command;
        name_.ifr_data = reinterpret_cast<char*>(&request.head());
        return ::ioctl(fd_.get(), SIOCETHTOOL, &name_) == 0;
    }

  private:
    base::Descriptor fd_;
    ifreq name_{};
};

}  // namespace

bool parse_link_answer(std::string_view bytes, std::vector<DeviceCounter>& counters) {
    while (const auto head = begin_of<nlmsghdr>(bytes)) {
        if (head->nlmsg_len < sizeof *head || head->nlmsg_len > bytes.size()) return true;
        if (head->nlmsg_type == NLMSG_DONE || head->nlmsg_type == NLMSG_ERROR) return true;
        if (head->nlmsg_type == RTM_NEWLINK) {
            parse_link(behind(bytes.substr(0, head->nlmsg_len), sizeof *head + sizeof(ifinfomsg)), counters);
        }
        bytes = behind(bytes, head->nlmsg_len);
    }
    return false;
}

std::vector<DeviceCounter> read_link_counters() {
    std::vector<DeviceCounter> counters;
    Socket socket;
    if (!socket.ask()) return counters;
    for (;;) {
        const auto bytes = socket.answer();
        if (bytes.empty() || parse_link_answer(bytes, counters)) return counters;
    }
}

void add_ethtool_counters(const std::string& device, std::vector<DeviceCounter>& counters) {
    Device driver(device);
    Request<ethtool_sset_info> size(sizeof(std::uint32_t));
    size.head().sset_mask = std::uint64_t{1} << ETH_SS_STATS;
    if (!driver.ask(size, ETHTOOL_GSSET_INFO) || size.head().sset_mask == 0) return;
    std::uint32_t count = 0;
    std::memcpy(&count, size.behind(), sizeof count);
    if (count == 0 || count > max_counters) return;

    Request<ethtool_gstrings> names(max_counters * ETH_GSTRING_LEN);
    names.head().string_set = ETH_SS_STATS;
    names.head().len = count;
    Request<ethtool_stats> values(max_counters * sizeof(std::uint64_t));
    values.head().n_stats = count;
    if (!driver.ask(names, ETHTOOL_GSTRINGS) || !driver.ask(values, ETHTOOL_GSTATS)) return;
    // Its queues were changed in between: which name is whose is not known.
    if (names.head().len != count || values.head().n_stats != count) return;
    for (std::size_t i = 0; i < count; ++i) {
        const std::string_view name(names.behind() + i * ETH_GSTRING_LEN, ETH_GSTRING_LEN);
        std::uint64_t value = 0;
        std::memcpy(&value, values.behind() + i * sizeof value, sizeof value);
        counters.push_back({"ethtool." + std::string(name.substr(0, name.find('\0'))), device, value});
    }
}

}  // namespace stapgen::host
