#include "decode/dropwatch_script.h"

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/scan.h"

namespace stapgen::decode {

DropwatchScript::DropwatchScript()
    : LineImporter(
          "dropwatch.stp", 1,
          make_header(
              "dropwatch.stp",
              {{"drop",
                0,
                {{"location", FieldType::place}, {"reason", FieldType::reason}, {"count", FieldType::count}}}})) {}

bool DropwatchScript::line(std::string_view line, Sink& sink) {
    if (line[0] >= '0' && line[0] <= '9') return row(line, sink);
    if (line == "Monitoring for dropped packets") {
        begin(sink);
        stopped_ = false;
        return true;
    }
    if (line == "Stopping dropped packet monitor") {
        begin(sink);
        stopped_ = true;
        return true;
    }
    const auto time = read_ctime(line);
    if (!time || !time->has_year || time->length != line.size()) return false;
    close_interval(sink);
    interval_end_ns_ = time->epoch_s * 1'000'000'000;
    return true;
}

bool DropwatchScript::row(std::string_view line, Sink& sink) {
    auto& [place, reason, count] = values_;
    Scan scan{line};
    if (!scan.count(count.number, count.raw) || !scan.skip(" packets dropped at ")) return false;
    scan.skip("location ");
    place.raw = scan.rest;
    reason = {"-1", -1};
    constexpr std::string_view for_reason = " for reason: ";
    auto digits = line.size();
    while (digits > 0 && (line[digits - 1] == '-' || (line[digits - 1] >= '0' && line[digits - 1] <= '9')))
        --digits;
    if (digits < line.size() && line.substr(0, digits).ends_with(for_reason)) {
        const auto number = base::to_int(line.substr(digits));
        if (!number) return false;
        place.raw.remove_suffix(for_reason.size() + line.size() - digits);
        // The script puts 0 where the kernel gives no reason; the kernel has no drop of reason 0.
        if (*number > 0) reason = {line.substr(digits), *number};
    }
    place.raw = base::trim(place.raw);
    if (place.raw.empty()) return false;
    send(sink, Record{&schema(), values_});
    return true;
}

void DropwatchScript::close_interval(Sink& sink) {
    if (!interval_end_ns_ || !begun()) return;  // two times without a row may be anything
    send(sink, Tick{*interval_end_ns_, {}});
    last_ns_ = *interval_end_ns_;
    interval_end_ns_.reset();
}

void DropwatchScript::finished(Sink& sink) {
    close_interval(sink);
    if (stopped_) send(sink, End{last_ns_, {}});
}

std::vector<Note> DropwatchScript::notes() const {
    std::vector<Note> notes{{"drops after the last interval are missing: dropwatch.stp does not print them"}};
    if (last_ns_ == unknown_time && !interval_end_ns_) {
        notes.emplace_back("the lines have no times: all intervals are told as one");
    }
    return notes;
}

}  // namespace stapgen::decode
