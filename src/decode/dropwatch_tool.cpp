// SPDX-License-Identifier: GPL-2.0-or-later

#include <algorithm>

#include "base/kernel.h"
#include "base/saturate.h"
#include "base/text.h"
#include "decode/calendar.h"
#include "decode/importers.h"
#include "decode/kernel_event.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

// Limit of bytes that are kept of a line: a symbol of the kernel has 511 characters at most.
constexpr std::size_t max_text_length = 600;

constexpr std::string_view block_lines[]{
    "origin: ", "input port ifindex: ", "input port name: ", "cookie: ", "protocol: 0x",
    "length: ", "original length: "};

/// The beginnings of what it says of itself.
constexpr std::string_view messages[]{"Initializing kallsyms db",
                                      "Initalizing kallsyms db",  // so spelt before 1.5.3
                                      "dropwatch> ",
                                      "Initializing null lookup method",
                                      "Enabling monitoring...",
                                      "Issue Ctrl-C to stop monitoring",
                                      "Waiting for activation ack",
                                      "Waiting for deactivation ack",
                                      "Waiting for alert mode setting ack",
                                      "Waiting for truncation length setting ack",
                                      "Waiting for queue length setting ack",
                                      "Waiting for existing configuration query",
                                      "Waiting for statistics query response",
                                      "Deactivation requested, turning off monitoring",
                                      "Got a sigint while not receiving",
                                      "Alert limit reached, deactivating!",
                                      "Alert mode successfully set",
                                      "Truncation length successfully set",
                                      "Queue length successfully set",
                                      "Setting alert mode",
                                      "Setting truncation length to ",
                                      "Setting queue length to ",
                                      "setting alert capture limit to ",
                                      "setting software drops monitoring to ",
                                      "setting hardware drops monitoring to ",
                                      "Getting existing configuration",
                                      "Getting statistics",
                                      "Alert mode: ",
                                      "Truncation length: ",
                                      "Queue length: ",
                                      "Software statistics:",
                                      "Hardware statistics:",
                                      "Terminating dropwatch...",
                                      "Shutting down ..."};

/// Takes what is in brackets at the end of `text` off; nothing where it has no blank before it, or there is none.
std::optional<std::string_view> take_last_bracketed(std::string_view& text) {
    const auto begin = text.rfind(text.ends_with(')') ? " (" : " [");
    if (!(text.ends_with(')') || text.ends_with(']')) || begin == text.npos) return std::nullopt;
    const auto inside = text.substr(begin + 2, text.size() - begin - 3);
    text = base::trim(text.substr(0, begin));
    return inside;
}

/// "SKB_DROP_REASON_NO_SOCKET", "NO_SOCKET", and no address in upper case.
bool is_reason(std::string_view text) {
    return !text.empty() && text.find_first_not_of("ABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789") == text.npos &&
           !base::from_hex(text);
}

/// "net/ipv4/tcp_ipv4.c:2093".
bool is_source_line(std::string_view text) {
    const auto colon = text.rfind(':');
    return colon != text.npos && text.substr(0, colon).find('.') != text.npos &&
           base::is_decimal(text.substr(colon + 1));
}

/// The output of dropwatch(1), in both of its modes (src/main.c of nhorman/dropwatch), and what scripts make of it:
///     3 drops at icmp_rcv+12d (0xffffffff8176ac9d) [software]         without "[software]" before version 1.5.2
///     2 drops at location 0xffffffffc0ff1234
///     7 drops at ttl_value_is_too_small [hardware]
///     3 drops at tcp_v4_rcv+0x2a (SKB_DROP_REASON_NO_SOCKET), ... (0xffffffff81c2d3e2) [NO_SOCKET]
/// and, one block for each packet:
///     drop at: nf_hook_slow+0x3b/0xc0 [nf_tables] (0xffffffff8149a8ed)
///     origin: software
///     timestamp: Tue Nov 17 00:26:51 2020 123456789 nsec
///     drop reason: NETFILTER_DROP
class DropwatchTool final : public Importer {
  public:
    DropwatchTool()
        : Importer("dropwatch", 1, "dropwatch-tool", {"drop time:time location:place reason:reason_name count:count"}) {
    }

    std::vector<Note> notes() const override {
        std::vector<Note> notes;
        if (last_ns_ != unknown_time)
            notes.emplace_back("times are that machine's local time, read as UTC", NoteKind::clock);
        add_count(notes, hardware_, "drops are of hardware traps: their places are not functions");
        if (!stopped_) add_count(notes, tail_dropped_, "alerts were lost");
        return notes;
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        if (base::is_digit(line[0])) return alert(line, sink);
        constexpr std::string_view drop_at = "drop at: ";
        if (line.starts_with(drop_at)) {
            close(sink);
            begin(sink);
            in_packet_ = true;
            place_ = base::trim(line.substr(drop_at.size(), max_text_length));
            return true;
        }
        return (in_packet_ && packet_line(line)) || message(line, sink);
    }

    void finished(Sink& sink) override {
        close(sink);
        if (!stopped_) return;
        const auto seen = base::saturating_add(reported(), tail_dropped_);
        const std::array counts{Count{"seen", seen}, Count{"reported", reported()}, Count{"lost.queue", tail_dropped_}};
        send(sink, End{last_ns_, counts});
    }

    bool alert(std::string_view line, Sink& sink) {
        Value count;
        Scan scan{line};
        if (!scan.count(count.number, count.raw) || !scan.skip(" drops at ")) return false;
        scan.skip("location ");
        auto text = base::trim(scan.rest);
        bool hardware = false, is_of_tool = text.find('+') != text.npos || text.starts_with("0x");
        std::string_view reason;
        for (auto left = text;; text = left) {
            const auto inside = take_last_bracketed(left);
            if (!inside) break;
            if (*inside == "hardware" || *inside == "software") {
                hardware = *inside == "hardware";
                is_of_tool = true;
            } else if (is_reason(*inside)) {
                reason = *inside;
                is_of_tool = is_of_tool || inside->starts_with(base::drop_reason_prefix);
            } else if (!is_source_line(*inside)) {
                break;
            }
        }
        // "3 drops at night" is a person's sentence.
        if (text.empty() || !is_of_tool) return false;
        const auto drops = base::saturating_multiply(count.number, times());
        if (hardware) base::add_saturating(hardware_, drops);
        close(sink);
        report_drop({not_seen, Value{text}, reason_value(reason), count}, sink);
        return true;
    }

    bool packet_line(std::string_view line) {
        constexpr std::string_view timestamp = "timestamp: ", drop_reason = "drop reason: ";
        if (line.starts_with(timestamp)) {
            read_timestamp(line.substr(timestamp.size()));
            return true;
        }
        if (line.starts_with(drop_reason)) {
            reason_ = base::trim(line.substr(drop_reason.size(), max_text_length));
            return true;
        }
        if (line == "origin: hardware") ++hardware_;
        return base::starts_with_any(line, block_lines);
    }

    void read_timestamp(std::string_view text) {
        const auto time = read_ctime(text);
        if (!time || !time->has_year) return;
        Scan scan{text.substr(time->length)};
        scan.blanks();
        std::int64_t fraction = 0;
        if (!scan.count(fraction) || fraction >= second_ns) return;
        time_ns_ = time->epoch_s * second_ns + fraction;
        time_ = text.substr(0, max_text_length);
    }

    void close(Sink& sink) override {
        if (!in_packet_) return;
        in_packet_ = false;
        if (!time_.empty()) {
            if (last_ns_ == unknown_time) send(sink, Ready{time_ns_, time_ns_});
            last_ns_ = std::max(last_ns_, time_ns_);
        }
        report_drop({time_.empty() ? not_seen : Value{time_, time_ns_}, Value{place_},
                     reason_.empty() ? not_seen : Value{reason_}, Value{"1", 1}},
                    sink);
        time_.clear();
        reason_.clear();
    }

    void report_drop(const std::array<Value, 4>& values, Sink& sink) {
        report(Record{&schema(), values}, sink, values.back().number);
    }

    bool message(std::string_view line, Sink& sink) {
        const bool stops = line == "Got a stop message";
        if (stops || line == "Kernel monitoring activated.") {
            begin(sink);
            stopped_ = stops;
            return true;
        }
        Scan scan{line};
        if (std::int64_t lost = 0; scan.skip("Tail dropped: ") && scan.count(lost)) {
            tail_dropped_ = std::max(tail_dropped_, lost);
            return true;
        }
        return base::starts_with_any(line, messages);
    }

    std::string place_, reason_, time_;  ///< of the packet whose block is being read
    std::int64_t time_ns_ = 0, last_ns_ = unknown_time;
    std::int64_t tail_dropped_ = 0, hardware_ = 0;
    bool in_packet_ = false, stopped_ = false;
};

}  // namespace

const MakeImporter make_dropwatch_tool = make_importer<DropwatchTool>;

}  // namespace stapgen::decode
