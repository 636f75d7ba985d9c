// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace stapgen::symbols {

/// Names of the numbers in `reason` of the tracepoint skb:kfree_skb, for one kernel: they change from release
/// to release (NOT_SPECIFIED is 1 in 6.1 and 2 in 6.12). Source: the `print fmt:` line of tracefs
/// events/skb/kfree_skb/format, Linux 5.17 and later.
class DropReasons {
  public:
    /// `format` is that file's text. Entries whose value is no number ({ SKB_DROP_REASON_X, "X" }) or
    /// that have no name are left out and counted. Error (bad_input): no list of reasons in it.
    static base::Result<DropReasons> parse(std::string_view format);

    /// From the enum skb_drop_reason in BTF (/sys/kernel/btf/vmlinux, or section .BTF of a vmlinux), with the names of
    /// subsystems. Beside what the tracepoint lists it has NOT_DROPPED_YET and, from Linux 6.2, CONSUMED; MAX, which is
    /// no reason, is left out. Error (bad_input): it is damaged; it has no such enum.
    static base::Result<DropReasons> from_btf(std::span<const std::byte> btf);
    /// Compiled in, by the version at the beginning of `release` ("6.12.117+deb13-amd64": that of 6.12.115, the newest
    /// known before it; 5.17 and later). Names as from_btf() gives them. Stable and distribution kernels renumber, so
    /// this is a guess: see guess(). Error (bad_input): no version, or one without reasons.
    static base::Result<DropReasons> of_release(std::string_view release);

    /// Reasons of the running kernel: from the first of `formats` that can be read, for which root is needed; where
    /// there is none, or it lists none, from its type information. Every error is cannot_here.
    static base::Result<DropReasons> of_this_machine(const std::vector<std::filesystem::path>& formats,
                                                     const std::filesystem::path& btf);

    /// Where they are a guess: a sentence for the user with the kernel of the numbers. Else empty.
    [[nodiscard]] const std::string& guess() const { return guess_; }

    /// "NO_SOCKET". The view lives as long as this.
    [[nodiscard]] std::optional<std::string_view> name(std::uint32_t reason) const;

    /// The name; where there is none "reason 250", or "OPENVSWITCH reason 7" for a reason of a subsystem (high 16 bits,
    /// Linux 6.4 and later), which the tracepoint does not list. Its format does not name subsystems either: after
    /// parse() this is "subsystem 3 reason 7".
    [[nodiscard]] std::string describe(std::uint32_t reason) const;

    /// The same where the kernel is unknown: only for a reason of a subsystem, which may have changed its number:
    /// "OPENVSWITCH/QDISC reason 7".
    static std::optional<std::string> describe_of_any(std::uint32_t reason);

    [[nodiscard]] const std::map<std::uint32_t, std::string>& all() const { return names_; }

  private:
    std::map<std::uint32_t, std::string> names_;
    std::map<std::uint32_t, std::string> subsystems_;  ///< by the high 16 bits
    std::string guess_;
};

}  // namespace stapgen::symbols
