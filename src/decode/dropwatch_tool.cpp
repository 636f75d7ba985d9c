#include "decode/dropwatch_tool.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

// What may be kept of a line: a symbol of the kernel has 511 characters at most.
constexpr std::size_t max_text_length = 600;

constexpr std::array block_lines{std::string_view("origin: "),          std::string_view("input port ifindex: "),
                                 std::string_view("input port name: "), std::string_view("cookie: "),
                                 std::string_view("protocol: 0x"),      std::string_view("length: "),
                                 std::string_view("original length: ")};

/// The beginnings of what it says of itself.
constexpr std::array messages{std::string_view("Initializing kallsyms db"),
                              std::string_view("Initalizing kallsyms db"),  // so spelt before 1.5.3
                              std::string_view("dropwatch> "),
                              std::string_view("Initializing null lookup method"),
                              std::string_view("Enabling monitoring..."),
                              std::string_view("Issue Ctrl-C to stop monitoring"),
                              std::string_view("Waiting for activation ack"),
                              std::string_view("Waiting for deactivation ack"),
                              std::string_view("Waiting for alert mode setting ack"),
                              std::string_view("Waiting for truncation length setting ack"),
                              std::string_view("Waiting for queue length setting ack"),
                              std::string_view("Waiting for existing configuration query"),
                              std::string_view("Waiting for statistics query response"),
                              std::string_view("Deactivation requested, turning off monitoring"),
                              std::string_view("Got a sigint while not receiving"),
                              std::string_view("Alert limit reached, deactivating!"),
                              std::string_view("Alert mode successfully set"),
                              std::string_view("Truncation length successfully set"),
                              std::string_view("Queue length successfully set"),
                              std::string_view("Setting alert mode"),
                              std::string_view("Setting truncation length to "),
                              std::string_view("Setting queue length to "),
                              std::string_view("setting alert capture limit to "),
                              std::string_view("setting software drops monitoring to "),
                              std::string_view("setting hardware drops monitoring to "),
                              std::string_view("Getting existing configuration"),
                              std::string_view("Getting statistics"),
                              std::string_view("Alert mode: "),
                              std::string_view("Truncation length: "),
                              std::string_view("Queue length: "),
                              std::string_view("Software statistics:"),
                              std::string_view("Hardware statistics:"),
                              std::string_view("Terminating dropwatch..."),
                              std::string_view("Shutting down ...")};

}  // namespace

DropwatchTool::DropwatchTool()
    : LineImporter("dropwatch", 1,
                   make_header("dropwatch-tool", {{"drop",
                                                   0,
                                                   {{"time", FieldType::time},
                                                    {"location", FieldType::place},
                                                    {"reason", FieldType::reason_name},
                                                    {"count", FieldType::count}}}})) {}

bool DropwatchTool::line(std::string_view line, Sink& sink) {
    if (line[0] >= '0' && line[0] <= '9') return alert(line, sink);
    constexpr std::string_view drop_at = "drop at: ";
    if (line.starts_with(drop_at)) {
        close_packet(sink);
        begin(sink);
        in_packet_ = true;
        place_ = base::trim(line.substr(drop_at.size(), max_text_length));
        return true;
    }
    return (in_packet_ && packet_line(line)) || message(line, sink);
}

bool DropwatchTool::alert(std::string_view line, Sink& sink) {
    Value count;
    Scan scan{line};
    if (!scan.count(count.number, count.raw) || !scan.skip(" drops at ")) return false;
    scan.skip("location ");
    auto text = base::trim(scan.rest);
    const auto take_off = [&](std::string_view origin) {
        if (!text.ends_with(origin)) return false;
        text.remove_suffix(origin.size());
        return true;
    };
    const bool hardware = take_off(" [hardware]");
    if (!hardware) take_off(" [software]");
    if (text.empty()) return false;
    if (hardware) ++hardware_;
    close_packet(sink);
    send_drop({not_seen, Value{text}, not_seen, count}, sink);
    return true;
}

bool DropwatchTool::packet_line(std::string_view line) {
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

void DropwatchTool::read_timestamp(std::string_view text) {
    const auto time = read_ctime(text);
    if (!time || !time->has_year) return;
    Scan scan{text.substr(time->length)};
    scan.blanks();
    std::int64_t fraction = 0;
    if (!scan.count(fraction) || fraction >= 1'000'000'000) return;
    time_ns_ = time->epoch_s * 1'000'000'000 + fraction;
    time_ = text.substr(0, max_text_length);
}

void DropwatchTool::close_packet(Sink& sink) {
    if (!in_packet_) return;
    in_packet_ = false;
    if (!time_.empty()) {
        if (last_ns_ == unknown_time) send(sink, Ready{time_ns_, time_ns_});
        last_ns_ = std::max(last_ns_, time_ns_);
    }
    send_drop({time_.empty() ? not_seen : Value{time_, time_ns_}, Value{place_},
               reason_.empty() ? not_seen : Value{reason_}, Value{"1", 1}},
              sink);
    time_.clear();
    reason_.clear();
}

void DropwatchTool::send_drop(const std::array<Value, 4>& values, Sink& sink) {
    reported_ += std::min(values.back().number, std::numeric_limits<std::int64_t>::max() - reported_);
    send(sink, Record{&schema(), values});
}

bool DropwatchTool::message(std::string_view line, Sink& sink) {
    if (line == "Kernel monitoring activated.") {
        begin(sink);
        stopped_ = false;
        return true;
    }
    if (line == "Got a stop message") {
        begin(sink);
        stopped_ = true;
        return true;
    }
    Scan scan{line};
    if (std::int64_t lost = 0; scan.skip("Tail dropped: ") && scan.count(lost)) {
        tail_dropped_ = std::max(tail_dropped_, lost);
        return true;
    }
    return base::starts_with_any(line, messages);
}

void DropwatchTool::finished(Sink& sink) {
    close_packet(sink);
    if (!stopped_) return;
    const auto seen = reported_ + std::min(tail_dropped_, std::numeric_limits<std::int64_t>::max() - reported_);
    const std::array counts{Count{"seen", seen}, Count{"reported", reported_}, Count{"lost.queue", tail_dropped_}};
    send(sink, End{last_ns_, counts});
}

std::vector<Note> DropwatchTool::notes() const {
    std::vector<Note> notes;
    if (last_ns_ != unknown_time)
        notes.emplace_back("times are local ones of that machine, taken for UTC", NoteKind::clock);
    if (hardware_ > 0) {
        notes.emplace_back(
            fmt::format("{} alerts are of traps of the hardware: their places are no functions", hardware_),
            NoteKind::count);
    }
    if (tail_dropped_ > 0 && !stopped_)
        notes.emplace_back(fmt::format("{} alerts were lost", tail_dropped_), NoteKind::count);
    return notes;
}

}  // namespace stapgen::decode
