// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <unordered_map>

#include "base/text.h"
#include "decode/calendar.h"
#include "decode/counter_reader.h"
#include "decode/importers.h"

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
/// (date) are of what follows. What several tools or commands print is one sample, until one of them comes again; a
/// counter that is twice in it is the first one. analyze/counter_tracks.h computes how far they rose.
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
        return notes;
    }

  private:
    /// Limit of different counters in one sample; lines of further ones are not understood.
    static constexpr std::size_t max_counters = 65536;

    /// Where a counter was read in this sample.
    struct Seen {
        std::string source;
        std::int64_t block = 0;
        std::uint64_t value = 0;
    };

    /// Its texts are short ones, however many counters a line has.
    [[nodiscard]] std::size_t max_line() const override { return base::limits::line_bytes; }
    bool line(std::string_view text, Sink& sink) override {
        const auto trimmed = base::trim(text);
        if (trimmed.empty()) return false;
        if (line_number() != offered_) {
            end_block();
            offered_ = line_number();
            first_ = text;
            unread_.clear();
            has_prompt_ = false;
            if (read_diff(text, sink)) return true;
        }
        // Without what may be a prompt it is offered once more.
        has_prompt_ |= text.size() < base::trim(first_).size();
        if (read_line(trimmed, sink)) return true;
        unread_ = trimmed;
        // Without the blanks it may be another importer's, which is asked first.
        const auto time = trimmed == text ? read_sample_time(text) : std::nullopt;
        if (!time) return false;
        unread_.clear();
        if (time->epoch_ns != epoch_ns_) begin_sample();
        epoch_ns_ = time->epoch_ns;
        has_local_times_ |= !time->knows_zone;
        return true;
    }

    void finished(Sink& /*sink*/) override {}

    /// Of a line that nobody understood.
    void end_block() {
        const auto is_number = [](auto word) { return word.size() > 7 && base::to_unsigned(word, 16); };
        is_below_numbers_ = !unread_.empty() && std::ranges::all_of(base::words(unread_), is_number);
        const bool is_indented = first_.starts_with(' ') || first_.starts_with('\t');
        if (!unread_.empty() && !is_indented && (has_prompt_ || format_->ends_at_noise)) block_ = {};
    }

    bool read_line(std::string_view line, Sink& sink) {
        CounterText text(line, line_number());
        text.is_below_unread_numbers = is_below_numbers_;
        if (text.words.size() < 4 && text.command.size() == 2 && text.command[0] == "sleep") {
            begin_sample();
            return true;
        }
        if (seen_.size() >= max_counters) return false;
        if (read(*format_, text, block_, sink)) return true;
        for (const auto& format : counter_formats()) {
            CounterBlock block;
            if (&format == format_ || !read(format, text, block, sink)) continue;
            block_ = std::move(block);
            format_ = &format;
            return true;
        }
        return false;
    }

    /// A line of a diff, with the sign before it.
    bool read_diff(std::string_view text, Sink& sink) {
        if (is_hunk(text)) {
            if (signs_.empty()) begin_sample();
            signs_ = text.starts_with('@') ? "-+ " : "<>";
            return true;
        }
        if (signs_.empty() || text == "---") return !signs_.empty();
        const auto side = signs_.find(text.front());
        const bool is_unified = signs_.size() > 2;
        if (side == signs_.npos || (!is_unified && text.substr(1, 1) != " ")) {
            signs_ = {};
            begin_sample();
            ++sample_;
            return false;
        }
        const auto line = text.substr(is_unified ? 1 : 2);
        // What it leaves of ethtool has no heading. No other format has that many blanks, 7 in VMware's names.
        const auto blanks = line.find_first_not_of(' ');
        if (!block_.is_open && (blanks == 5 || blanks == 7)) {
            format_ = &counter_formats().back();
            block_ = {.is_open = true};
        }
        first_side_ = side == 1 ? 1 : 0;
        last_side_ = side == 0 ? 0 : 1;
        const bool is_read = read_line(base::trim(line), sink);
        first_side_ = last_side_ = 0;
        return is_read;
    }

    bool read(const CounterFormat& format, const CounterText& text, CounterBlock& block, Sink& sink) {
        CounterLine read;
        if (!read_counters(format, text, block, read)) return false;
        unread_.clear();
        is_rounded_ |= read.is_rounded;
        if (read.values.empty()) return true;
        const auto source = fmt::format("{}\n{}\n{}", format.title, block.command, block.device);
        if (block.number == 0) {
            block.number = ++block_number_;
            // What begins anew without a line that says so may be the rest of what was printed before.
            if (block.is_announced && sources_.contains(source)) begin_sample();
            block.is_announced = false;
        }
        for (const auto& value : read.values) {
            for (auto side = first_side_; side <= last_side_; ++side)
                send_reading(format, value, source, block, side, sink);
        }
        return true;
    }

    void begin_sample() {
        if (!seen_.empty()) ++sample_;
        seen_.clear();
        earlier_.merge(sources_);
        sources_.clear();
    }

    void send_reading(const CounterFormat& format, const CounterValue& read, const std::string& source,
                      const CounterBlock& block, std::int64_t side, Sink& sink) {
        CounterReading reading{.format = format.title,
                               .name = read.name,
                               .of = read.of,
                               .value = read.value,
                               .is_rise = block.is_rise || format.from_zero,
                               .is_state = read.is_state,
                               .epoch_ns = epoch_ns_};
        if (format.from_zero) {
            reading.part = true;
            return send(sink, reading);
        }
        const Seen now{source, block.number, read.value};
        const auto key = fmt::format("{}\t{}\t{}\t{}", read.name, read.of, block.is_rise, side);
        const auto [found, is_new] = seen_.try_emplace(key, now);
        const bool is_part = !is_new && read.has_parts && found->second.block == block.number;
        if (!is_new && found->second.source != source) {
            if (found->second.value != read.value && differing_.empty()) {
                differing_ = fmt::format("{} of {} appears twice in one sample, as {} and {}: the first is used",
                                         read.name, read.of, found->second.value, read.value);
            }
            return;
        }
        if (!is_new && !is_part) {
            begin_sample();
            seen_.emplace(key, now);
        }
        sources_.insert(source);
        // What another command has left out is not known.
        const bool leaves_out = format.leaves_out_zeros && (sample_ == 0 || earlier_.contains(source));
        has_rises_ |= block.is_rise;
        has_unnamed_device_ |= read.of.starts_with(of_unnamed_device);
        reading.sample = sample_ + side;
        reading.part = is_part;
        reading.zeros_left_out = leaves_out;
        send(sink, reading);
    }

    const CounterFormat* format_ = &counter_formats().front();
    CounterBlock block_;                           ///< of it
    std::string_view signs_;                       ///< of a diff: before, after, both; empty: there is none
    std::int64_t first_side_ = 0, last_side_ = 0;  ///< of a diff's line: samples that it is of
    std::unordered_map<std::string, Seen> seen_;   ///< counters of this sample
    std::set<std::string> sources_, earlier_;      ///< by tool, command and device: of it, of those before it
    std::string differing_;
    std::int64_t sample_ = 0, block_number_ = 0;
    std::optional<std::int64_t> epoch_ns_;
    std::int64_t offered_ = 0;       ///< number of the last line
    std::string first_, unread_;     ///< it as it came first, and last if nobody understood it
    bool has_prompt_ = false;        ///< it
    bool is_below_numbers_ = false;  ///< as CounterText has it
    bool has_local_times_ = false, has_rises_ = false, has_unnamed_device_ = false, is_rounded_ = false;
};

}  // namespace

const MakeImporter make_counter_samples = make_importer<CounterSamples>;

}  // namespace stapgen::decode
