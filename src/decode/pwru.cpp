#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/text.h"
#include "decode/drop_stack.h"
#include "decode/importers.h"
#include "decode/kernel_event.h"
#include "decode/pwru_row.h"
#include "decode/scan.h"
#include "decode/trace_importer.h"

namespace stapgen::decode {

namespace {

constexpr std::string_view column_headings =
    "TIME SKB CPU PROCESS FUNC NETNS MARK MARK/x IFACE PROTO MTU LEN TUPLE NAME CALLER TIMESTAMP TUNNEL "
    "__sk_buff->cb[]";

constexpr std::string_view pwru_messages[]{"Per cpu buffer size: ",
                                           "Attaching ",
                                           "Attached (ignored ",
                                           "Attached ignored=",
                                           "Detaching kprobes",
                                           "Listening for events..",
                                           "Received signal, exiting program..",
                                           "Printed "};

/// What the kernel's BTF printer makes of --output-skb, and of shared info.
constexpr std::string_view dump_beginnings[]{"(struct ", ".", "}"};

/// Functions that drop call one another in this order.
int depth_of(std::string_view function) {
    function = function.substr(0, function.find('.'));
    if (function == "kfree_skb_reason" || function == "sk_skb_reason_drop" || function == "__sk_skb_reason_drop")
        return 2;
    return function == "kfree_skb" ? 1 : 0;
}

bool is_column_header(std::string_view line) {
    if (line.find("FUNC") == std::string_view::npos) return false;
    const auto words = base::words(line);
    return words.size() > 1 && std::ranges::find(words, "FUNC") != words.end() &&
           std::ranges::all_of(words, [](auto word) { return base::contains_word(column_headings, word); });
}

/// "2023/06/21 18:11:53 Listening for events..", from 1.0.10 on with the level before the text; and the progress of
/// attaching, "1498 / 1498 [-----] 100.00% ? p/s".
bool is_pwru_message(std::string_view line) {
    std::int64_t number = 0;
    Scan scan{line};
    if (!scan.count(number)) return false;
    if (scan.skip(" / ")) return scan.count(number) && scan.skip(" [");
    for (const auto border : {"/", "/", " ", ":", ":", " "}) {
        if (!scan.skip(border)) return false;
        if (!scan.rest.empty() && base::is_digit(scan.rest[0]) && !scan.count(number)) return false;
    }
    scan.skip("INFO ");
    return base::starts_with_any(scan.rest, pwru_messages);
}

/// The drops in what pwru prints: see PwruRow. A row of a function that drops (drops_packets()) is a drop of its
/// packet; those of functions that it calls in turn (kfree_skb_list, kfree_skb) are the same drop. The place is the
/// caller where --output-caller or --output-stack print it. Else pwru does not know it: the last function that the
/// packet entered may have returned before the drop, which is said to be "after" it. All other rows are understood and
/// not used.
class Pwru final : public DropImporter {
  public:
    Pwru() : DropImporter("pwru", "pwru") {}

    std::vector<Note> notes() const override {
        auto notes = TraceImporter::notes();
        if (passed_ > 0)
            notes.emplace_back(fmt::format("{} rows are of functions that drop nothing", passed_), NoteKind::count);
        if (after_ > 0) {
            notes.push_back(
                fmt::format("the places of {} drops are the last functions that their packets had entered, which may "
                            "have returned before: pwru --output-caller tells who drops",
                            after_));
        }
        return notes;
    }

  private:
    /// So many packets are told apart, then all are dropped from memory: places may be unknown, the drops are counted.
    static constexpr std::size_t max_packets = 32768;

    struct Packet {
        std::string function;  ///< the last one that does not drop; empty: none yet
        int depth = -1;        ///< of the last one that drops, see depth_of(); -1: none since then
    };

    bool line(std::string_view line, Sink& sink) override {
        if (const auto row = read_pwru_row(line)) {
            begin(sink);
            add(*row, sink);
            return true;
        }
        if (stack_line(line)) return true;
        if (is_column_header(line)) {
            begin(sink);
            return true;
        }
        return (begun() && base::starts_with_any(base::trim(line), dump_beginnings)) || is_pwru_message(line);
    }

    void add(const PwruRow& row, Sink& sink) {
        function_ = row.function;
        in_stack_ = false;
        if (drops_packets(row.function)) {
            drop(row, drops_packets(row.caller) ? std::string_view() : row.caller, sink);
            return;
        }
        close(sink);
        ++passed_;
        if (row.function == "kfree_skbmem") {
            packets_.erase(std::string(row.packet));
            return;
        }
        auto& packet = packet_of(row.packet);
        packet.function = row.function;
        packet.depth = -1;
    }

    void drop(const PwruRow& row, std::string_view caller, Sink& sink) {
        auto& packet = packet_of(row.packet);
        const bool is_called = packet.depth >= 0 && depth_of(row.function) > packet.depth;
        packet.depth = depth_of(row.function);
        if (!is_called || !open_ || packet_ != row.packet) {
            close(sink);
            if (is_called) return;
            open_ = true;
            packet_ = row.packet;
            reason_.clear();
            stack_.clear();
            is_after_ = !packet.function.empty();
            place_ = is_after_ ? "after " + packet.function : std::string();
        }
        if (!row.reason.empty()) reason_ = row.reason;
        if (caller.empty()) return;
        is_after_ = false;
        DropStack call;
        place_ = call.add(caller) ? call.place() : std::string(caller);
    }

    /// The first call is the function of the row above.
    bool stack_line(std::string_view line) {
        if (!in_stack_ && (function_.empty() || base::trim(line) != function_)) return false;
        in_stack_ = true;
        if (open_) return stack_.add(line);
        return DropStack().add(line);
    }

    Packet& packet_of(std::string_view packet) {
        const std::string key(packet);
        if (packets_.size() >= max_packets && !packets_.contains(key)) packets_.clear();
        return packets_[key];
    }

    void close(Sink& sink) override {
        if (!open_) return;
        open_ = false;
        if (!stack_.place().empty()) {
            place_ = stack_.place();
            is_after_ = false;
        }
        after_ += is_after_ ? 1 : 0;
        report_drop(place_, reason_, sink);
    }

    std::unordered_map<std::string, Packet> packets_;
    bool open_ = false;  ///< a drop that is not sent yet: its reason and stack may follow
    std::string packet_, reason_, place_;
    bool is_after_ = false;  ///< the place is where the packet had been before
    std::string function_;   ///< of the last row, whose stack may follow
    bool in_stack_ = false;
    DropStack stack_;
    std::int64_t passed_ = 0, after_ = 0;
};

}  // namespace

std::unique_ptr<Importer> make_pwru() {
    return std::make_unique<Pwru>();
}

}  // namespace stapgen::decode
