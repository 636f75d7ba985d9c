#include "decode/counter_samples.h"

#include <utility>

#include "base/text.h"
#include "decode/counter_files.h"
#include "decode/device_texts.h"
#include "decode/netstat_text.h"
#include "decode/sample_time.h"

namespace stapgen::decode {

CounterSamples::CounterSamples()
    : LineImporter("samples of counters", 1,
                   make_header("softnet", {{"counter",
                                            0,
                                            {{"name", FieldType::text, Attribute::key},
                                             {"of", FieldType::text, Attribute::key},
                                             {"rise", FieldType::count}}}})) {
    const auto add = [this](std::unique_ptr<CounterReader> reader) {
        formats_.push_back({.reader = std::move(reader)});
    };
    add(std::make_unique<NstatText>());
    add(std::make_unique<NetstatText>());
    add(std::make_unique<SnmpFile>());
    add(std::make_unique<SoftnetFile>());
    add(std::make_unique<ProcNetDev>());
    add(std::make_unique<IpLinkText>());
    add(std::make_unique<IfconfigText>());
    add(std::make_unique<EthtoolText>());
}

bool CounterSamples::line(std::string_view text, Sink& sink) {
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

bool CounterSamples::read(Format& format, Sink& sink) {
    told_.values.clear();
    told_.begins_sample = false;
    if (format.seen.size() >= max_counters || !format.reader->line(text_, told_)) return false;
    tell(format, sink);
    return true;
}

void CounterSamples::tell(Format& format, Sink& sink) {
    const auto begin_sample = [&format] {
        if (format.seen.empty()) return;
        ++format.sample;
        format.seen.clear();
    };
    if (told_.begins_sample) begin_sample();
    const auto& reader = *format.reader;
    for (const auto& [name, of, value] : told_.values) {
        key_ = name;
        key_ += '\t';
        key_ += of;
        bool is_new = format.seen.insert(key_).second;
        if (!is_new && !reader.has_parts()) {
            begin_sample();
            is_new = format.seen.insert(key_).second;
        }
        has_rises_ |= reader.tells_rises();
        has_unnamed_device_ |= of.starts_with(of_unnamed_device);
        send(sink, CounterReading{.format = reader.format(),
                                  .sample = format.sample,
                                  .name = name,
                                  .of = of,
                                  .value = value,
                                  .part = !is_new,
                                  .is_rise = reader.tells_rises(),
                                  .zeros_left_out = reader.leaves_out_zeros(),
                                  .epoch_ns = epoch_ns_});
    }
}

std::vector<Note> CounterSamples::notes() const {
    std::vector<Note> notes;
    if (has_local_times_) notes.emplace_back("times are local ones of that machine, taken for UTC", NoteKind::clock);
    if (has_rises_) {
        notes.emplace_back(
            "nstat without -a tells how far counters rose since its last call, and that is shown; over what time is "
            "not known");
    }
    if (has_unnamed_device_) {
        notes.emplace_back(
            "?: no line names this device; all such counters are taken for one device's: give the command before them, "
            "too");
    }
    return notes;
}

}  // namespace stapgen::decode
