#include <linux/ethtool.h>
#include <linux/sockios.h>
#include <net/if.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstring>
#include <memory>
#include <string_view>

#include "host/device_counters.h"

namespace stapgen::host {

namespace {

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
    Device(const Device&) = delete;
    Device& operator=(const Device&) = delete;
    ~Device() {
        if (fd_ >= 0) ::close(fd_);
    }

    template <class Head>
    [[nodiscard]] bool ask(Request<Head>& request, std::uint32_t command) {
        request.head().cmd = command;
        name_.ifr_data = reinterpret_cast<char*>(&request.head());
        return ::ioctl(fd_, SIOCETHTOOL, &name_) == 0;
    }

  private:
    int fd_;
    ifreq name_{};
};

}  // namespace

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
