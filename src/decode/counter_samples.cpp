// SPDX-License-Identifier: GPL-2.0-or-later
#include <memory>
#include <unordered_set>

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/counter_reader.h"
#include "decode/importers.h"

namespace stapgen::decode {

namespace {

/// Counters as tools print them, once or several times: nstat, netstat -s, ip -s link, ifconfig, ethtool -S, and the
/// files of /proc/net that they read. Times between them (date) are of what follows.
/// analyze/counter_tracks.h, which has all readings, computes how far they rose.
class CounterSamples final : public Importer {
  public:
    CounterSamples() : Importer("samples of counters", 1, "softnet", {"counter name:text,key of:text,key rise:count"}) {
        for (const auto make : {make_nstat_text, make_netstat_text, make_snmp_file, make_softnet_file,
                                make_proc_net_dev, make_ip_link_text, make_ifconfig_text, make_ethtool_text}) {
            formats_.push_back({.reader = make()});
        }
    }

    std::vector<Note> notes() const override {
        std::vector<Note> notes;
        if (has_local_times_) notes.emplace_back("times are that machine's local time, read as UTC", NoteKind::clock);
        if (has_rises_) {
            notes.emplace_back("nstat without -a prints rises since its last call; the time between is unknown");
        }
        if (has_unnamed_device_) {
            notes.emplace_back(
                "?: no line names the device; all such counters count as one device: include the command line before "
                "them");
        }
        return notes;
    }

  private:
    /// Limit of different counters in one sample; lines of further ones are not understood.
    static constexpr std::size_t max_counters = 65536;

    struct Format {
        std::unique_ptr<CounterReader> reader;
        std::int64_t sample = 0;
        std::unordered_set<std::string> seen{};  ///< counters of this sample
    };

    bool line(std::string_view text, Sink& sink) override {
        const auto line = base::trim(text);
        if (line.empty()) return false;
        text_ = {line, base::words(line), line_number()};
        if (read(formats_[last_], sink)) return true;
        for (std::size_t i = 0; i < formats_.size(); ++i) {
            if (i == last_ || !read(formats_[i], sink)) continue;
            formats_[last_].reader->end_block();
            last_ = i;
            return true;
        }
        // Without the blanks it may be another importer's, which is asked first.
        const auto time = line == text ? read_sample_time(line) : std::nullopt;
        if (!time) return false;
        epoch_ns_ = time->epoch_ns;
        has_local_times_ |= !time->knows_zone;
        return true;
    }

    void finished(Sink& /*sink*/) override {}

    bool read(Format& format, Sink& sink) {
        read_.values.clear();
        read_.begins_sample = read_.is_rise = false;
        if (format.seen.size() >= max_counters || !format.reader->line(text_, read_)) return false;
        send_readings(format, sink);
        return true;
    }

    void send_readings(Format& format, Sink& sink) {
        const auto begin_sample = [&format] {
            if (format.seen.empty()) return;
            ++format.sample;
            format.seen.clear();
        };
        if (read_.begins_sample) begin_sample();
        const auto& reader = *format.reader;
        for (const auto& [name, of, value] : read_.values) {
            key_ = name;
            key_ += '\t';
            key_ += of;
            bool is_new = format.seen.insert(key_).second;
            if (!is_new && !reader.has_parts) {
                begin_sample();
                is_new = format.seen.insert(key_).second;
            }
            has_rises_ |= read_.is_rise;
            has_unnamed_device_ |= of.starts_with(of_unnamed_device);
            send(sink, CounterReading{.format = reader.format,
                                      .sample = format.sample,
                                      .name = name,
                                      .of = of,
                                      .value = value,
                                      .part = !is_new,
                                      .is_rise = read_.is_rise,
                                      .zeros_left_out = reader.leaves_out_zeros,
                                      .epoch_ns = epoch_ns_});
        }
    }

    std::vector<Format> formats_;
    std::size_t last_ = 0;
    CounterText text_;
    CounterLine read_;
    std::string key_;
    std::int64_t epoch_ns_ = unknown_time;
    bool has_local_times_ = false, has_rises_ = false, has_unnamed_device_ = false;
};

}  // namespace

const MakeImporter make_counter_samples = make_importer<CounterSamples>;

}  // namespace stapgen::decode
