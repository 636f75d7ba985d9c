// SPDX-License-Identifier: GPL-2.0-or-later

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/importers.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

/// The output of SystemTap's example dropwatch.stp since 2009:
///     Monitoring for dropped packets
///     Tue Nov 17 00:26:51 2020                                  from 2020 on; the interval's end, before its rows
///     1762 packets dropped at location 0xffffffff8149a8ed       2009
///     1762 packets dropped at unix_stream_recvmsg               2010
///     1762 packets dropped at nf_hook_slow+0x3b/0xc0 [nf_tables]          2023
///     1762 packets dropped at tcp_v4_rcv+0x1f/0x90 for reason: 3          2025
///     Stopping dropped packet monitor
/// Without times it is all one interval.
class DropwatchScript final : public Importer {
  public:
    DropwatchScript()
        : Importer("dropwatch.stp", 1, "dropwatch.stp", {"drop location:place reason:reason count:count"}) {}

    std::vector<Note> notes() const override {
        std::vector<Note> notes{{"drops after the last interval are missing: dropwatch.stp does not print them"}};
        if (last_ns_ == unknown_time && !interval_end_ns_) {
            notes.emplace_back("the lines have no times: all intervals are added up");
        }
        return notes;
    }

  private:
    bool line(std::string_view line, Sink& sink) override {
        if (base::is_digit(line[0])) return row(line, sink);
        const bool stops = line == "Stopping dropped packet monitor";
        if (stops || line == "Monitoring for dropped packets") {
            begin(sink);
            stopped_ = stops;
            return true;
        }
        const auto time = read_ctime(line);
        if (!time || !time->has_year || time->length != line.size()) return false;
        close_interval(sink);
        interval_end_ns_ = time->epoch_s * second_ns;
        return true;
    }

    void finished(Sink& sink) override {
        close_interval(sink);
        if (stopped_) send(sink, End{last_ns_, {}});
    }

    bool row(std::string_view line, Sink& sink) {
        auto& [place, reason, count] = values_;
        Scan scan{line};
        if (!scan.count(count.number, count.raw) || !scan.skip(" packets dropped at ")) return false;
        scan.skip("location ");
        place.raw = scan.rest;
        reason = {"-1", -1};
        constexpr std::string_view for_reason = " for reason: ";
        const auto digits = begin_of_last_digits(line, '-');
        if (digits < line.size() && line.substr(0, digits).ends_with(for_reason)) {
            const auto number = base::to_int(line.substr(digits));
            const auto length = for_reason.size() + line.size() - digits;
            if (!number || length > place.raw.size()) return false;
            place.raw.remove_suffix(length);
            // The script puts 0 where the kernel gives no reason; the kernel has no drop of reason 0.
            if (*number > 0) reason = {line.substr(digits), *number};
        }
        place.raw = base::trim(place.raw);
        if (place.raw.empty()) return false;
        send(sink, Record{&schema(), values_});
        return true;
    }

    void close_interval(Sink& sink) {
        if (!interval_end_ns_ || !begun()) return;  // two times without a row may be anything
        send(sink, Tick{*interval_end_ns_, {}});
        last_ns_ = *interval_end_ns_;
        interval_end_ns_.reset();
    }

    std::array<Value, 3> values_;
    std::optional<std::int64_t> interval_end_ns_;  ///< of the rows that are being read
    std::int64_t last_ns_ = unknown_time;
    bool stopped_ = false;  ///< what the last line about that says
};

}  // namespace

const MakeImporter make_dropwatch_script = make_importer<DropwatchScript>;

}  // namespace stapgen::decode
