// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <utility>

#include "base/text.h"
#include "decode/importers.h"

namespace stapgen::decode {

namespace {

/// The text that follows `name` up to a comma, an asterisk or a blank; empty if it is not there.
std::string_view behind(std::string_view text, std::string_view name) {
    const auto at = text.find(name);
    if (at == text.npos) return {};
    const auto value = base::trim(text.substr(at + name.size()));
    return value.substr(0, value.find_first_of(",* "));
}

/// The last "tcp_v4_rcv+0x81", between asterisks or not.
std::string_view place_in(std::string_view text) {
    std::string_view place;
    for (const auto part : base::split(text, '*')) {
        for (const auto word : base::words(part)) {
            const auto plus = word.find("+0x");
            if (plus != word.npos && plus > 0 && base::from_hex(word.substr(plus + 1))) place = word;
        }
    }
    return place;
}

/// The output of OpenCloudOS' nettrace --drop, of several versions, and droptrace before it:
///     [142.097193] TCP: 10.0.0.1:570 -> 10.0.0.6:22 seq:299, flags:AR, reason: NOT_SPECIFIED, tcp_v4_rcv+0x81
///     [142.097193] TCP: 10.0.0.1:570 -> 10.0.0.6:22 seq:299, flags:AR *reason: NOT_SPECIFIED, tcp_v4_rcv+0x81*
///     [142.097193] 10.0.0.1:570 -> 10.0.0.6:22 TCP seq:299, flags:A reason:NOT_SPECIFIED tcp_v4_rcv+0x81
/// and of each packet the functions that it passes; kfree_skb is a drop:
///     [4049.295711] [kfree_skb           ] ICMP: 10.0.0.8 -> 10.0.0.98 ping request *packet is dropped by kernel*
/// whose place and reason --diag says below, in a line of its own each:
///         location:
///             nf_hook_slow+0x96
///         drop reason:
///             NETFILTER_DROP
/// Its other lines are understood and not used.
class NetTrace final : public DropImporter {
  public:
    NetTrace() : DropImporter("nettrace", "nettrace") {}

  private:
    bool line(std::string_view line, Sink& sink) override {
        const auto text = base::trim(line);
        if (row(text, sink)) return true;
        if (const auto detail = std::exchange(detail_, nullptr); drop_ && detail != nullptr) {
            *drop_.*detail = text;
            return true;
        }
        if (drop_ && (text == "location:" || text == "drop reason:")) {
            detail_ = text == "location:" ? &Drop::place : &Drop::reason;
            return true;
        }
        constexpr std::string_view others[]{"end trace...",
                                            "******",
                                            "---------------- ANALYSIS RESULT",
                                            "analysis finished!",
                                            "this is a good packet!",
                                            "Call Stack:",
                                            "-> ",
                                            "fix advice:",
                                            "packet is dropped by"};
        return text == "begin trace..." ||
               (begun() && (base::starts_with_any(text, others) || text.find("] ERROR happens in ") != text.npos));
    }

    bool row(std::string_view text, Sink& sink) {
        const auto stamp = text.substr(0, text.find(']'));
        if (!stamp.starts_with('[') || stamp.find('.') == stamp.npos ||
            stamp.find_first_not_of("[0123456789.:- ") != stamp.npos)
            return false;
        text.remove_prefix(std::min(stamp.size() + 2, text.size()));
        bool has_function = false, drops = false;
        while (text.starts_with('[') && text.find(']') != text.npos) {
            const auto inner = text.substr(1, text.find(']') - 1);
            constexpr std::size_t least_width = 20;
            has_function |= inner.size() >= least_width;
            drops |= drops_packets(base::trim(inner));
            text = text.substr(inner.size() + 2);
        }
        const auto place = place_in(text), reason = behind(text, "reason:");
        const bool is_packet = text.find(" -> ") != text.npos;
        if (!(has_function && is_packet) && (place.empty() || !(is_packet || !reason.empty()))) return false;
        close(sink);
        begin(sink);
        detail_ = nullptr;
        if (drops || !has_function) drop_ = {std::string(place), std::string(reason), {}};
        return true;
    }

    std::string Drop::*detail_ = nullptr;  ///< what the next line is
};

}  // namespace

const MakeImporter make_nettrace = make_importer<NetTrace>;

}  // namespace stapgen::decode
