// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/states.h"

#include <algorithm>

#include "base/limits.h"
#include "base/text.h"

namespace stapgen::bundle {

namespace {

/// Of a row of ss, with the protocol before the state where sockets of several are asked for.
std::vector<State> listen_queue(std::string_view line) {
    const auto words = base::words(line);
    const auto listen = std::ranges::find(words, "LISTEN");
    const auto before = listen - words.begin();
    if (words.end() - listen < 4 || before > 1 || (before == 1 && words[0] != "tcp" && words[0] != "mptcp")) return {};
    const auto waiting = base::to_unsigned(listen[1]), limit = base::to_unsigned(listen[2]);
    const auto address = listen[3];
    if (!waiting || !limit || address.find(':') == address.npos || address.size() > base::limits::name_bytes) return {};
    const auto of = " of " + std::string(address);
    return {{"Recv-Q" + of, *waiting}, {"Send-Q" + of, *limit}};
}

}  // namespace

std::vector<State> StateReader::read(std::string_view line) {
    if (line.find("LISTEN") != line.npos) return listen_queue(line);
    constexpr std::string_view parameters = " parameters for ";
    if (const auto at = line.find(parameters); at != line.npos) {
        const auto device = base::trim(line.substr(at + parameters.size()));
        const bool is_ring =
            line.starts_with("Ring") && device.ends_with(':') && device.size() <= base::limits::name_bytes;
        device_ = is_ring ? device.substr(0, device.size() - 1) : "";
        return {};
    }
    if (device_.empty()) return {};
    if (line.starts_with("Pre-set maximums")) is_maximum_ = true;
    if (line.starts_with("Current hardware settings")) is_maximum_ = false;
    const auto words = base::words(line);
    if (words.size() != 2 || words[0] != "RX:") return {};
    const auto entries = base::to_unsigned(words[1]);
    if (!entries) return {};
    return {{(is_maximum_ ? "largest RX ring of " : "RX ring of ") + device_, *entries}};
}

}  // namespace stapgen::bundle
