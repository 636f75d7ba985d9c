#include <linux/if_link.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>

#include "host/device_counters.h"

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
        const timeval patience{2, 0};
        ::setsockopt(fd_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    }
    Socket(const Socket&) = delete;
    Socket& operator=(const Socket&) = delete;
    ~Socket() {
        if (fd_ >= 0) ::close(fd_);
    }

    [[nodiscard]] bool ask() const {
        struct {
            nlmsghdr head;
            ifinfomsg link;
        } question{};
        question.head.nlmsg_len = sizeof question;
        question.head.nlmsg_type = RTM_GETLINK;
        question.head.nlmsg_flags = NLM_F_REQUEST | NLM_F_DUMP;
        return ::send(fd_, &question, sizeof question, 0) == ssize_t{sizeof question};
    }
    /// Nothing at an error, and of what does not fit.
    [[nodiscard]] std::string_view answer() {
        const auto count = ::recv(fd_, buffer_.data(), buffer_.size(), MSG_TRUNC);
        if (count <= 0 || static_cast<std::size_t>(count) > buffer_.size()) return {};
        return {buffer_.data(), static_cast<std::size_t>(count)};
    }

  private:
    int fd_;
    std::string buffer_ = std::string(256 * 1024, '\0');  // the kernel fills 32 kB at the most
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

}  // namespace stapgen::host
