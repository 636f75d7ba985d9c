// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/kernel.h"
#include "base/text.h"
#include "decode/importers.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

/// A row of pwru (cilium/pwru): a packet at the entry of a function of the kernel.
///                    SKB         PROCESS                     FUNC        TIMESTAMP                            2021
///     0xffff8cf003facee0          [curl]             nf_hook_slow    2556412200355
///                    SKB    CPU          PROCESS                     FUNC                              2022, 2023
///     0xffff9f7827643600     24 [/usr/bin/docker-proxy:53608]  kfree_skb_reason(SKB_DROP_REASON_NO_SOCKET)
///     SKB                CPU PROCESS      NETNS      MARK/x IFACE  PROTO  MTU  LEN TUPLE FUNC CALLER   since 2024
///     0xffff9f0c9c08ff00 11  <empty>:2158 4026532686 0      eth0:2 0x0800 1500 98  10.0.0.1:0->10.0.0.2:0(icmp) ip_rcv
/// Before them may stand a time of day, behind the first two kinds "netns=... len=74 10.0.0.1:4->10.0.0.2:80(tcp)". Of
/// the third people cut columns on the left; what is left begins with the tuple or before it.
struct PwruRow {
    std::string_view packet;    ///< identifies a packet: the address of the skb; where that was cut, the tuple
    std::string_view function;  ///< "ip_rcv", "vxlan_xmit[vxlan]"
    std::string_view reason;    ///< of a function that drops; empty if it is unknown
    std::string_view caller;    ///< of --output-caller, else empty
    bool is_exact = false;      ///< words behind these are numbers, names with numbers and tuples
};

using RowWords = std::vector<std::string_view>;

/// "10.0.0.1:4->[fd00::2]:80(tcp)", ":0->:0()".
bool is_tuple(std::string_view word) {
    constexpr std::size_t max_tuple_length = 128;
    const auto arrow = word.find("->");
    return word.size() <= max_tuple_length && arrow != std::string_view::npos && word.ends_with(')') &&
           word.find(':') < arrow && word.find(':', arrow) != std::string_view::npos;
}

/// "ip_rcv", "vxlan_xmit[vxlan]", "0xffffffff8149a8ed".
bool is_function(std::string_view word) {
    const auto bracket = std::min(word.find('['), word.size());
    const auto end = is_address(word.substr(0, bracket)) ? bracket : base::symbol_length(word);
    return end > 0 && word.size() <= base::max_symbol_length + base::max_module_length &&
           (end == word.size() || (word[end] == '[' && word.ends_with(']')));
}

/// Reads the function at `at`, and moves it behind.
bool read_function(const RowWords& words, std::size_t& at, PwruRow& row) {
    if (at >= words.size()) return false;
    const auto word = words[at++];
    const auto open = word.find('(');
    row.function = word.substr(0, open);
    if (!is_function(row.function)) return false;
    // Behind the name: "(SKB_DROP_REASON_NO_SOCKET)", and "(tc)" or "(xdp)" of a program of BPF. A reason without a
    // name is a word of its own: "(7)".
    auto behind = open == std::string_view::npos ? std::string_view() : word.substr(open);
    if (behind.starts_with("(SKB_") && behind.find(')') != std::string_view::npos) {
        row.reason = behind.substr(1, behind.find(')') - 1);
    } else if (behind.empty() && at < words.size() && words[at].starts_with('(') && words[at].ends_with(')')) {
        const auto number = words[at].substr(1, words[at].size() - 2);
        if (base::is_decimal(number)) {
            row.reason = number;
            ++at;
        }
    }
    return behind.empty() || behind.ends_with(')');
}

/// Where the function is of a row whose process, at `at`, is not in brackets and that has no tuple.
std::size_t find_function(const RowWords& words, std::size_t at) {
    ++at;
    const auto has_meta_at = [&](std::size_t first) {
        constexpr std::size_t proto = 3, meta = 6;
        return first + meta < words.size() && words[first + proto].starts_with("0x");
    };
    if (at + 1 < words.size() && base::is_decimal(words[at]) && !has_meta_at(at)) ++at;  // the time stamp
    if (has_meta_at(at)) at += 6;
    if (at < words.size() && words[at].starts_with("[0x")) ++at;  // __sk_buff->cb[]
    return at;
}

std::optional<PwruRow> read_pwru_row(std::string_view line) {
    if (line.find("0x") == std::string_view::npos && line.find("->") == std::string_view::npos) return std::nullopt;
    const auto words = base::words(line);
    PwruRow row;
    std::size_t at = !words.empty() && !is_address(words[0]) && words[0].find(':') != std::string_view::npos ? 1 : 0;
    const bool has_skb = at < words.size() && is_address(words[at]);
    const auto tuple = static_cast<std::size_t>(std::ranges::find_if(words, is_tuple) - words.begin());
    bool is_last_column = true, has_cpu = true;
    if (has_skb) {
        row.packet = words[at++];
        has_cpu = at < words.size() && base::is_decimal(words[at]);
        at += has_cpu ? 1 : 0;
        if (at >= words.size()) return std::nullopt;
        if (words[at].starts_with('[')) {
            is_last_column = false;
            while (at < words.size() && !words[at].ends_with(']'))
                ++at;
            ++at;
        } else if (!has_cpu || words[at].find(':') == std::string_view::npos) {
            return std::nullopt;
        } else if (tuple == words.size()) {
            at = find_function(words, at);
        } else {
            at = tuple + 1;
        }
    } else {
        // The rest of a row: but a whole one behind a prompt is no rest.
        const auto before = std::span(words).first(tuple);
        const bool is_decorated =
            line.find('\x1b') != std::string_view::npos || std::ranges::any_of(before, is_address);
        if (tuple == words.size() || is_decorated) return std::nullopt;
        row.packet = words[tuple];
        at = tuple + 1;
    }
    if (!read_function(words, at, row)) return std::nullopt;
    // Rows had a time stamp as long as they had no CPU.
    if (!has_cpu && (at >= words.size() || !base::is_decimal(words[at]))) return std::nullopt;
    if (is_last_column && at < words.size() && is_function(words[at])) row.caller = words[at++];
    row.is_exact = std::all_of(words.begin() + static_cast<std::ptrdiff_t>(at), words.end(),
                               [](std::string_view word) { return word.find_first_of("0123456789") != word.npos; });
    return row;
}

/// A string of an object without what JSON escapes; empty if it is not there.
std::string_view json_string(std::string_view line, std::string_view name) {
    const auto at = line.find(fmt::format("\"{}\":\"", name));
    if (at == line.npos) return {};
    const auto text = line.substr(at + name.size() + 4);
    return text.substr(0, text.find('"'));
}

/// --output-json: {"skb":"0xffff9f0c9c08ff00","cpu":11,"process":"<empty>:2158","func":"ip_rcv","caller_func":"ip_..."}
std::optional<PwruRow> read_pwru_object(std::string_view line) {
    PwruRow row;
    row.packet = json_string(line, "skb");
    row.caller = json_string(line, "caller_func");
    std::size_t at = 0;
    const auto words = base::words(json_string(line, "func"));
    if (!is_address(row.packet) || !read_function(words, at, row) || !line.ends_with('}')) return std::nullopt;
    return row;
}

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

/// The text that the kernel's BTF printer makes of --output-skb, and of shared info.
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

    Shape shape(std::string_view line) const override {
        if (!base::trim(line).starts_with("0x")) return Shape::other;
        const auto words = base::words(line);
        if (words.size() < 2 || !is_address(words[0]) || !base::is_decimal(words[1])) return Shape::other;
        const auto row = read_pwru_row(line);
        return row && row->is_exact ? Shape::whole : Shape::begun;
    }

    std::vector<Note> notes() const override {
        auto notes = DropImporter::notes();
        add_count(notes, passed_, "rows are of functions that do not drop");
        if (after_ > 0) {
            notes.push_back(
                fmt::format("the places of {} drops are the last functions that the packets entered, which may have "
                            "returned: pwru --output-caller shows the caller",
                            after_));
        }
        return notes;
    }

  private:
    /// Limit of packets in memory; then all are dropped from it: places may be unknown, the drops are counted.
    static constexpr std::size_t max_packets = 32768;

    struct Packet {
        std::string function;  ///< the last one that does not drop; empty: none yet
        int depth = -1;        ///< of the last one that drops, see depth_of(); -1: none since then
    };

    bool line(std::string_view line, Sink& sink) override {
        const bool is_object = line.starts_with("{\"");
        if (const auto row = is_object ? read_pwru_object(line) : read_pwru_row(line)) {
            begin(sink);
            add(*row, sink);
            if (!is_object) return true;
            for (auto calls = json_string(line, "stack"); calls.starts_with("\\n");) {
                calls.remove_prefix(2);
                const auto call = calls.substr(0, calls.find('\\'));
                stack_line(call);
                calls.remove_prefix(call.size());
            }
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
        if (!is_called || !drop_ || packet_ != row.packet) {
            close(sink);
            if (is_called) return;
            packet_ = row.packet;
            is_after_ = !packet.function.empty();
            open_drop(sink).place = is_after_ ? "after " + packet.function : std::string();
        }
        if (!row.reason.empty()) drop_->reason = row.reason;
        if (caller.empty()) return;
        is_after_ = false;
        DropStack call;
        drop_->place = call.add(caller) ? call.place() : std::string(caller);
    }

    /// The first call is the function of the row above.
    bool stack_line(std::string_view line) {
        if (!in_stack_ && (function_.empty() || base::trim(line) != function_)) return false;
        in_stack_ = true;
        return drop_ ? drop_->stack.add(line) : DropStack().add(line);
    }

    Packet& packet_of(std::string_view packet) {
        const std::string key(packet);
        if (packets_.size() >= max_packets && !packets_.contains(key)) packets_.clear();
        return packets_[key];
    }

    void close(Sink& sink) override {
        after_ += drop_ && is_after_ && drop_->stack.place().empty() ? 1 : 0;
        DropImporter::close(sink);
    }

    std::unordered_map<std::string, Packet> packets_;
    std::string packet_;     ///< that drop_ is of
    bool is_after_ = false;  ///< the place is where the packet had been before
    std::string function_;   ///< of the last row, whose stack may follow
    bool in_stack_ = false;
    std::int64_t passed_ = 0, after_ = 0;
};

}  // namespace

const MakeImporter make_pwru = make_importer<Pwru>;

}  // namespace stapgen::decode
