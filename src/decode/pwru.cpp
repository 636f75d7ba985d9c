#include "decode/pwru.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "base/text.h"
#include "decode/kernel_event.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::array column_headings{
    std::string_view("TIME"),      std::string_view("SKB"),    std::string_view("CPU"),
    std::string_view("PROCESS"),   std::string_view("FUNC"),   std::string_view("NETNS"),
    std::string_view("MARK"),      std::string_view("MARK/x"), std::string_view("IFACE"),
    std::string_view("PROTO"),     std::string_view("MTU"),    std::string_view("LEN"),
    std::string_view("TUPLE"),     std::string_view("NAME"),   std::string_view("CALLER"),
    std::string_view("TIMESTAMP"), std::string_view("TUNNEL"), std::string_view("__sk_buff->cb[]")};

constexpr std::array pwru_messages{std::string_view("Per cpu buffer size: "),
                                   std::string_view("Attaching "),
                                   std::string_view("Attached (ignored "),
                                   std::string_view("Attached ignored="),
                                   std::string_view("Detaching kprobes"),
                                   std::string_view("Listening for events.."),
                                   std::string_view("Received signal, exiting program.."),
                                   std::string_view("Printed ")};

/// What the kernel's BTF printer makes of --output-skb, and of shared info.
constexpr std::array dump_beginnings{std::string_view("(struct "), std::string_view("."), std::string_view("}")};

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
           std::ranges::all_of(
               words, [](auto word) { return std::ranges::find(column_headings, word) != column_headings.end(); });
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

}  // namespace

Pwru::Pwru() : TraceImporter("pwru", 1, make_drops_header("pwru")) {}

bool Pwru::line(std::string_view line, Sink& sink) {
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

void Pwru::add(const PwruRow& row, Sink& sink) {
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

void Pwru::drop(const PwruRow& row, std::string_view caller, Sink& sink) {
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
        place_ = is_after_ ? "after " + packet.function : std::string(unknown_place);
    }
    if (!row.reason.empty()) reason_ = row.reason;
    if (caller.empty()) return;
    is_after_ = false;
    DropStack call;
    place_ = call.add(caller) ? call.place() : std::string(caller);
}

/// The first call is the function of the row above.
bool Pwru::stack_line(std::string_view line) {
    if (!in_stack_ && (function_.empty() || base::trim(line) != function_)) return false;
    in_stack_ = true;
    if (open_) return stack_.add(line);
    return DropStack().add(line);
}

Pwru::Packet& Pwru::packet_of(std::string_view packet) {
    const std::string key(packet);
    if (packets_.size() >= max_packets && !packets_.contains(key)) packets_.clear();
    return packets_[key];
}

void Pwru::close(Sink& sink) {
    if (!open_) return;
    open_ = false;
    if (!stack_.place().empty()) {
        place_ = stack_.place();
        is_after_ = false;
    }
    after_ += is_after_ ? 1 : 0;
    const std::array values{Value{place_}, reason_value(reason_), Value{"1", 1}};
    ++reported_;
    send(sink, Record{&schema(), values});
}

void Pwru::finished(Sink& sink) {
    close(sink);
    send_end(reported_, sink);
}

std::vector<Note> Pwru::notes() const {
    auto notes = TraceImporter::notes();
    if (passed_ > 0)
        notes.emplace_back(fmt::format("{} rows are of functions that drop nothing", passed_), NoteKind::count);
    if (after_ > 0) {
        notes.emplace_back(
            fmt::format("the places of {} drops are the last functions that their packets had entered, which may have "
                        "returned before: pwru --output-caller tells who drops",
                        after_));
    }
    return notes;
}

}  // namespace stapgen::decode
