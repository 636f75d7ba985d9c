// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

struct pcap;

namespace stapgen::filter {

struct Instruction {
    std::uint16_t code = 0;
    std::uint8_t jump_true = 0, jump_false = 0;
    std::uint32_t k = 0;
};

/// libpcap's compiler, for Ethernet. The error is what it says. Optimized, 250 hosts take it a second, and 1,000
/// minutes.
tl::expected<std::vector<Instruction>, std::string> libpcap_compile(const std::string& expression, bool optimize);

/// A frame of a capture. Its bytes are there until the next one is read.
struct Frame {
    std::span<const unsigned char> bytes;  ///< as far as they were kept
    std::size_t length = 0;                ///< on the wire
    std::int64_t time_ns = 0;              ///< since 1970
};

/// A capture of packets in a file, pcap or pcapng. Errors are what libpcap says.
class CaptureFile {
  public:
    static tl::expected<CaptureFile, std::string> open(const std::filesystem::path& file);

    /// LINKTYPE_... of pcap-linktype(7), as DLT_... of libpcap.
    [[nodiscard]] int link() const;
    /// Nothing at its end.
    tl::expected<std::optional<Frame>, std::string> next();

  private:
    struct Close {
        void operator()(pcap* handle) const;
    };
    explicit CaptureFile(pcap* handle) : handle_(handle) {}
    std::unique_ptr<pcap, Close> handle_;
};

}  // namespace stapgen::filter
