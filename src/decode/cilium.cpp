// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <initializer_list>
#include <optional>

#include "base/text.h"
#include "decode/importers.h"

namespace stapgen::decode {

namespace {

/// The text up to the first of these; nothing if none is in it.
std::optional<std::string_view> before_any(std::string_view text, std::initializer_list<std::string_view> ends) {
    auto first = text.npos;
    for (const auto end : ends)
        first = std::min(first, text.find(end));
    return first == text.npos ? std::nullopt : std::optional(text.substr(0, first));
}

/// What `cilium monitor` prints of a packet that its programs of BPF drop (DropNotify of pkg/monitor/datapath_drop.go),
/// of versions without the flow, the device and the file and with them, and with -v:
///     xx drop (Policy denied) to endpoint 25729, identity 261->264: 10.11.13.37 -> 10.11.101.61 EchoRequest
///     xx drop (Policy denied (L3)) flow 0x8f2a to endpoint 0, ifindex 24, file bpf_lxc.c:2004, , identity 1->2: ...
///     CPU 01: MARK 0x8f2a FROM 1204 DROP: 74 bytes, reason Policy denied, identity 1->2, to endpoint 5
/// Reasons are Cilium's own; the place is a line of its source. Its other lines are not of drops.
class Cilium final : public DropImporter {
  public:
    Cilium() : DropImporter("cilium monitor", "cilium") {}

  private:
    bool line(std::string_view line, Sink& sink) override {
        const auto text = base::trim(line);
        return row(text, sink) || verbose_row(text, sink) || heading(text, sink);
    }

    bool row(std::string_view text, Sink& sink) {
        constexpr std::string_view beginning = "xx drop (";
        if (!text.starts_with(beginning)) return false;
        text.remove_prefix(beginning.size());
        const auto reason = before_any(text, {") flow 0x", ") to endpoint ", ") identity "});
        if (!reason || reason->empty()) return false;
        std::string_view place;
        constexpr std::string_view before_file = ", file ";
        if (const auto file = text.find(before_file); file != text.npos) {
            place = text.substr(file + before_file.size());
            place = place.substr(0, place.find(','));
        }
        // "unknown(0):0" of a version that does not know its file.
        report_reason(place.starts_with("unknown(") ? "" : place, *reason, sink);
        return true;
    }

    bool verbose_row(std::string_view text, Sink& sink) {
        const auto parts = base::match("CPU *: MARK 0x* FROM * DROP: * bytes, reason *", text);
        if (!parts) return false;
        const auto reason = parts->back();
        report_reason({}, before_any(reason, {", identity ", ", to endpoint "}).value_or(reason), sink);
        return true;
    }

    /// A number is none of the kernel's.
    void report_reason(std::string_view place, std::string_view reason, Sink& sink) {
        report_drop(place, base::is_decimal(reason) ? fmt::format("Cilium's {}", reason) : std::string(reason), sink);
    }

    bool heading(std::string_view text, Sink& sink) {
        if (!base::match("Listening for events on * CPUs with * of shared memory", text)) {
            return begun() && text == "Press Ctrl-C to quit";
        }
        begin(sink);
        return true;
    }
};

}  // namespace

const MakeImporter make_cilium = make_importer<Cilium>;

}  // namespace stapgen::decode
