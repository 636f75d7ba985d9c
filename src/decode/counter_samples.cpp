// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/counter_context.h"
#include "decode/counter_reader.h"
#include "decode/importers.h"
#include "decode/rate_counts.h"
#include "decode/remarks.h"

namespace stapgen::decode {

namespace {

/// "12,14c12,14" of diff, "@@ -12,7 +12,7 @@" of diff -u.
bool is_hunk(std::string_view line) {
    const auto kind = std::min(line.find_first_of("acd"), line.size());
    const bool is_normal = kind > 0 && kind < line.size() && base::is_digit(line[kind - 1]) &&
                           base::is_digit(line.back()) && line.find_first_not_of("0123456789,") == kind &&
                           line.find_first_not_of("0123456789,", kind + 1) == line.npos;
    return is_normal || line.starts_with("@@ -");
}

/// Counters as tools print them, once or several times (counter_reader.h), and the two of a diff. Times between them
/// (date) are of what follows. What several tools or commands print of one source is one sample, until one of them
/// comes again; a counter that is twice in it is the first one. analyze/counter_tracks.h computes how far they rose.
class CounterSamples final : public Importer {
  public:
    CounterSamples()
        : Importer("samples of counters", 1, "softnet", {"counter name:text,key of:text,key rise:count"}) {}

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
        if (is_rounded_) notes.emplace_back("rounded numbers, as 6.04T, are left out: run ip without -h");
        if (!differing_.empty()) notes.emplace_back(differing_, NoteKind::count);
        rates_.put_notes(notes);
        return notes;
    }

    void set_source(std::string_view name) override {
        auto found = texts_.find(name);
        if (found == texts_.end() && texts_.size() < max_sources)
            found = texts_.try_emplace(std::string(name), name).first;
        now_ = found == texts_.end() ? nullptr : &found->second;
    }

  private:
    /// Limit of different counters in one sample; lines of further ones are not understood.
    static constexpr std::size_t max_counters = 65536;
    /// Limit of sources.
    static constexpr std::size_t max_sources = 256;

    /// Where a counter was read in this sample.
    struct Seen {
        std::string command;
        std::int64_t block = 0;
        std::uint64_t value = 0;
    };

    /// The counters read of one source.
    struct Samples {
        std::size_t source = 0;                        ///< its number in this input
        std::size_t* counters = nullptr;               ///< that all sources have in `seen`
        std::unordered_map<std::string, Seen> seen{};  ///< counters of this sample
        std::set<std::string> commands{}, earlier{};   ///< with tool and device: of it, of those before it
        std::int64_t number = 0;

        void begin() {
            if (!seen.empty()) ++number;
            *counters -= seen.size();
            seen.clear();
            earlier.merge(commands);
            commands.clear();
        }
    };

    /// The lines that have the same before them; others may be between.
    struct Text {
        explicit Text(std::string_view prefix) : context(prefix) {}

        CounterContext context;
        std::vector<table::CounterSource> sources;
        std::vector<Samples> samples;                ///< of these
        std::string_view signs;                      ///< of a diff: before, after, both; empty: there is none
        std::int64_t first_side = 0, last_side = 0;  ///< of a diff's line: samples that it is of
        std::int64_t offered = 0;                    ///< number of the last line
        std::string first, unread;                   ///< it as it came first, and last if nobody understood it
        bool has_prompt = false;                     ///< it
        bool is_below_taken = true;                  ///< it is behind one that was understood here
        bool is_below_numbers = false;               ///< as CounterText has it
        std::optional<std::int64_t> epoch_ns{};      ///< the last time

        void begin_sample() {
            for (auto& of_one : samples)
                of_one.begin();
        }
    };

    /// Its texts are short ones, however many counters a line has.
    [[nodiscard]] std::size_t max_line() const override { return base::limits::line_bytes; }
    bool line(std::string_view text, Sink& sink) override {
        const auto trimmed = base::trim(text);
        if (trimmed.empty() || now_ == nullptr) return false;
        auto& now = *now_;
        if (line_number() != now.offered) {
            now.is_below_taken = now.unread.empty();
            end_line();
            now.offered = line_number();
            now.first = text;
            now.unread.clear();
            now.has_prompt = false;
            if (read_diff(text, sink)) return taken();
        }
        // Without what may be a prompt it is offered once more.
        now.has_prompt = now.has_prompt || !base::trim(now.first).starts_with(trimmed);
        if (read_line(trimmed, sink)) return taken();
        // Another importer's rows may be what is cut out elsewhere.
        if (is_gap(trimmed) && now.context.block.number != 0 && now.is_below_taken) {
            now.context.block.lacks_rows = true;
            return taken();
        }
        if (now.context.take_heading(text, line_number())) return taken();
        now.unread = trimmed;
        // Without the blanks it may be another importer's, which is asked first.
        const auto time = trimmed == text ? read_sample_time(text) : std::nullopt;
        if (!time) return false;
        if (time->epoch_ns != now.epoch_ns) now.begin_sample();
        now.epoch_ns = time->epoch_ns;
        has_local_times_ |= !time->knows_zone;
        if (text.starts_with("Every ")) now.context.take_watch(text, line_number());
        return taken();
    }

    bool taken() {
        now_->unread.clear();
        return true;
    }

    void finished(Sink& /*sink*/) override {}

    /// The facts of the line before this one.
    void end_line() {
        auto& now = *now_;
        const auto is_number = [](auto word) { return word.size() > 7 && base::to_unsigned(word, 16); };
        now.is_below_numbers = !now.unread.empty() && std::ranges::all_of(base::words(now.unread), is_number);
        if (!now.unread.empty()) now.context.pass_over(now.first, now.has_prompt, now.offered);
    }

    bool read_line(std::string_view line, Sink& sink) {
        auto& context = now_->context;
        if (context.take_commands(line, now_->first, line_number())) {
            if (context.begins_sample()) now_->begin_sample();
            return true;
        }
        CounterText text(line, line_number());
        text.is_below_unread_numbers = now_->is_below_numbers;
        if (read(*context.format, text, context.block, sink)) return true;
        for (const auto& format : counter_formats()) {
            if (&format == context.format) continue;
            auto block = context.new_block(format, line_number());
            if (!read(format, text, block, sink)) continue;
            context.take_turn(format);
            context.block = std::move(block);
            context.format = &format;
            return true;
        }
        return false;
    }

    /// A line of a diff, with the sign before it.
    bool read_diff(std::string_view text, Sink& sink) {
        auto& now = *now_;
        if (is_hunk(text)) {
            if (now.signs.empty()) now.begin_sample();
            now.signs = text.starts_with('@') ? "-+ " : "<>";
            return true;
        }
        if (now.signs.empty() || text == "---") return !now.signs.empty();
        const auto side = now.signs.find(text.front());
        const bool is_unified = now.signs.size() > 2;
        if (side == now.signs.npos || (!is_unified && text.substr(1, 1) != " ")) {
            now.signs = {};
            now.begin_sample();
            for (auto& of_one : now.samples)
                ++of_one.number;
            return false;
        }
        const auto line = text.substr(is_unified ? 1 : 2);
        // The lines of ethtool that it leaves have no heading. No other format has that many blanks, 7 in VMware's
        // names.
        const auto blanks = line.find_first_not_of(' ');
        if (!now.context.block.is_open && (blanks == 5 || blanks == 7)) {
            now.context.format = &counter_formats().back();
            now.context.block = {.is_open = true};
        }
        now.first_side = side == 1 ? 1 : 0;
        now.last_side = side == 0 ? 0 : 1;
        const bool is_read = read_line(base::trim(line), sink);
        now.first_side = now.last_side = 0;
        return is_read;
    }

    bool read(const CounterFormat& format, const CounterText& text, CounterBlock& block, Sink& sink) {
        auto& context = now_->context;
        CounterLine read;
        if (!read_counters(format, text, block, read)) return false;
        is_rounded_ |= read.is_rounded;
        if (std::exchange(block.begins_anew, false)) context.begin_anew(format, block, text.number);
        if (read.values.empty()) return true;
        if (block.number != 0 && is_of_next_command(format, read, block)) {
            const auto device = block.device;
            context.begin_anew(format, block, text.number);
            block.number = 0;
            for (auto& value : read.values) {
                if (value.of == device && !block.device.empty()) value.of = block.device;
            }
        }
        if (block.number == 0 && !begin_block(format, block, text.number)) return false;
        if (counters_ >= max_counters) return false;
        if (format.are_rates &&
            !rates_.count(now_->samples[block.source].source, context.date(), block.clock.now(), read))
            return false;
        begin(sink);
        auto& samples = now_->samples[block.source];
        for (const auto& value : read.values) {
            for (auto side = now_->first_side; side <= now_->last_side; ++side)
                send_reading(format, value, read, samples, block, side, sink);
        }
        return true;
    }

    static std::string command_of(const CounterFormat& format, std::string_view command, const CounterBlock& block) {
        return fmt::format("{}\n{}\n{}", format.title, command, block.device);
    }
    std::string key_of(const CounterValue& value, const CounterBlock& block, std::int64_t side) const {
        return fmt::format("{}\t{}\t{}\t{}", value.name, value.of, block.is_rise, side);
    }

    /// The lines that grep has left of several commands have no headings: a counter that comes again is of the next
    /// one. Only VMware's driver has several of one name, whose names are several words.
    bool is_of_next_command(const CounterFormat& format, const CounterLine& read, const CounterBlock& block) const {
        if (!now_->context.has_next(format) || (format.has_parts && block.is_headed)) return false;
        const auto& seen = now_->samples[block.source].seen;
        const auto& first = read.values.front();
        const auto found = seen.find(key_of(first, block, now_->first_side));
        return found != seen.end() && found->second.block == block.number &&
               !(format.has_parts && first.name.find(' ') != first.name.npos);
    }

    /// False: there are too many sources.
    bool begin_block(const CounterFormat& format, CounterBlock& block, std::int64_t line) {
        auto& now = *now_;
        const auto source = now.context.begin(format, block, line);
        const auto found = table::find_source(now.sources, source);
        if (!found && sources_ >= max_sources) return false;
        if (!found) {
            now.sources.push_back(source);
            now.samples.push_back({.source = sources_++, .counters = &counters_});
        }
        block.source = found.value_or(now.sources.size() - 1);
        now.sources[block.source].join(source);
        block.number = ++blocks_;
        if (now.context.begins_sample()) now.begin_sample();
        // A block that begins anew without a line that says so may be the rest of what was printed before. One that no
        // line names may be the same.
        auto& samples = now.samples[block.source];
        const auto is_known = [&](const auto& command) {
            return samples.commands.contains(command_of(format, command, block));
        };
        if (block.is_announced && (is_known(block.command) || is_known(""))) samples.begin();
        block.is_announced = false;
        return true;
    }

    void send_reading(const CounterFormat& format, const CounterValue& read, const CounterLine& line, Samples& samples,
                      const CounterBlock& block, std::int64_t side, Sink& sink) {
        CounterReading reading{.format = format.title,
                               .name = read.name,
                               .of = read.of,
                               .value = read.value,
                               .is_rise = block.is_rise || format.from_zero,
                               .is_unknown = line.is_unknown,
                               .is_state = read.is_state,
                               .epoch_ns = now_->epoch_ns,
                               .over_ns = line.length_s.value_or(0) * second_ns,
                               .source = samples.source,
                               .whose = &now_->sources[block.source]};
        if (format.from_zero) {
            reading.part = true;
            return send(sink, reading);
        }
        const auto command = command_of(format, block.command, block);
        const Seen here{command, block.number, read.value};
        const auto key = key_of(read, block, side);
        const auto [found, is_new] = samples.seen.try_emplace(key, here);
        counters_ += is_new ? 1 : 0;
        const bool is_part = !is_new && read.has_parts && found->second.block == block.number;
        if (!is_new && found->second.command != command) {
            if (found->second.value != read.value && !read.has_parts && differing_.empty()) {
                const auto of = sources_ > 1 ? now_->sources[block.source].text(read.of) : read.of;
                differing_ = fmt::format("{} of {} appears twice in one sample, as {} and {}: the first is used",
                                         read.name, of, found->second.value, read.value);
            }
            return;
        }
        if (!is_new && !is_part) {
            samples.begin();
            samples.seen.emplace(key, here);
            ++counters_;
        }
        samples.commands.insert(command);
        // A counter that another command has left out is not known.
        const bool leaves_out = format.leaves_out_zeros && (samples.number == 0 || samples.earlier.contains(command));
        has_rises_ |= block.is_rise;
        has_unnamed_device_ |= base::contains_word(read.of, of_unnamed_device);
        reading.sample = samples.number + side;
        reading.part = is_part;
        reading.zeros_left_out = leaves_out;
        send(sink, reading);
    }

    std::map<std::string, Text, std::less<>> texts_{};       ///< by what is before their lines
    Text* now_ = &texts_.try_emplace("", "").first->second;  ///< null: there are too many
    std::size_t sources_ = 0, counters_ = 0;
    std::int64_t blocks_ = 0;
    std::string differing_;
    RateCounts rates_;
    bool has_local_times_ = false, has_rises_ = false, has_unnamed_device_ = false, is_rounded_ = false;
};

}  // namespace

const MakeImporter make_counter_samples = make_importer<CounterSamples>;

}  // namespace stapgen::decode
