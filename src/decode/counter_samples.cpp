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
    if (line.starts_with("@@ -")) return true;
    const auto kind = line.find_first_of("acd");
    const auto are_lines = [](std::string_view text) {
        return !text.empty() && text.find_first_not_of("0123456789,") == text.npos && base::is_digit(text.back());
    };
    return kind != line.npos && are_lines(line.substr(0, kind)) && are_lines(line.substr(kind + 1));
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

    enum class Diff { none, normal, unified };

    bool line(std::string_view text, Sink& sink) override {
        if (base::trim(text).empty()) return false;
        if (line_number() != offered_) {
            end_block();
            offered_ = line_number();
            first_ = text;
            has_prompt_ = false;
            if (read_diff(text, sink)) return true;
        }
        // Without what may be a prompt it is offered once more.
        has_prompt_ |= text.size() < base::trim(first_).size();
        if (read_line(base::trim(text), sink)) return true;
        unread_ = offered_;
        are_numbers_ = std::ranges::all_of(text_.words, [](auto word) {
            return word.size() > 7 && word.find_first_not_of("0123456789abcdef") == word.npos;
        });
        // Without the blanks it may be another importer's, which is asked first.
        const auto time = base::trim(text) == text ? read_sample_time(text) : std::nullopt;
        if (!time) return false;
        unread_ = -1;
        if (time->epoch_ns != epoch_ns_) begin_sample();
        epoch_ns_ = time->epoch_ns;
        has_local_times_ |= !time->knows_zone;
        return true;
    }

    void finished(Sink& /*sink*/) override {}

    /// Of a line that nobody understood.
    void end_block() {
        text_.is_below_unread_numbers = unread_ == offered_ && are_numbers_;
        const bool is_indented = first_.starts_with(' ') || first_.starts_with('\t');
        if (unread_ == offered_ && !is_indented && (has_prompt_ || format_->ends_at_noise)) block_ = {};
    }

    bool read_line(std::string_view line, Sink& sink) {
        text_.line = line;
        text_.words = base::words(line);
        text_.plain.clear();
        for (const auto word : text_.words)
            text_.plain.append(text_.plain.empty() ? "" : " ").append(word);
        text_.number = line_number();
        if (text_.words.size() < 4 && command_words(line, "sleep").size() == 2) {
            begin_sample();
            return true;
        }
        if (seen_.size() >= max_counters) return false;
        if (read(*format_, block_, sink)) return true;
        for (const auto& format : counter_formats()) {
            CounterBlock block;
            if (&format == format_ || !read(format, block, sink)) continue;
            block_ = std::move(block);
            format_ = &format;
            return true;
        }
        return false;
    }

    /// A line of a diff, with the sign before it.
    bool read_diff(std::string_view text, Sink& sink) {
        if (is_hunk(text)) {
            if (diff_ == Diff::none) begin_sample();
            diff_ = text.starts_with('@') ? Diff::unified : Diff::normal;
            return true;
        }
        if (diff_ == Diff::none || text == "---") return diff_ != Diff::none;
        const bool is_unified = diff_ == Diff::unified;
        const auto sign = text.substr(0, is_unified ? 1 : 2);
        const bool is_before = sign == (is_unified ? "-" : "< "), is_after = sign == (is_unified ? "+" : "> ");
        if (!is_before && !is_after && !(is_unified && sign == " ")) {
            diff_ = Diff::none;
            begin_sample();
            ++sample_;
            return false;
        }
        const auto line = text.substr(sign.size());
        // What it leaves of ethtool has no heading. No other format has that many blanks, 7 in VMware's names.
        const auto blanks = line.find_first_not_of(' ');
        if (!block_.is_open && (blanks == 5 || blanks == 7)) {
            format_ = &counter_formats().back();
            block_ = {.is_open = true};
        }
        sides_ = is_before ? Sides{0, 0} : is_after ? Sides{1, 1} : Sides{0, 1};
        const bool is_read = read_line(base::trim(line), sink);
        sides_ = {0, 0};
        return is_read;
    }

    bool read(const CounterFormat& format, CounterBlock& block, Sink& sink) {
        read_ = {};
        if (!read_counters(format, text_, block, read_)) return false;
        unread_ = -1;
        if (read_.begins_block) {
            block.is_announced = true;
            block.has_values = false;
        }
        is_rounded_ |= read_.is_rounded;
        if (read_.values.empty()) return true;
        const auto source = fmt::format("{}\n{}\n{}", format.title, block.command, block.device);
        if (!block.has_values) {
            block.number = ++block_number_;
            // What begins anew without a line that says so may be the rest of what was printed before.
            if (block.is_announced && sources_.contains(source)) begin_sample();
            block.is_announced = false;
            block.has_values = true;
        }
        for (const auto& value : read_.values) {
            for (auto side = sides_.first; side <= sides_.second; ++side)
                send_reading(format, value, source, block, side, sink);
        }
        return true;
    }

    void begin_sample() {
        if (seen_.empty()) return;
        seen_.clear();
        earlier_.merge(sources_);
        sources_.clear();
        ++sample_;
    }

    void send_reading(const CounterFormat& format, const CounterValue& read, const std::string& source,
                      const CounterBlock& block, std::int64_t side, Sink& sink) {
        const Seen now{source, block.number, read.value};
        const auto key = fmt::format("{}\t{}\t{}\t{}", read.name, read.of, block.is_rise, side);
        const auto [found, is_new] = seen_.try_emplace(key, now);
        const bool is_part = !is_new && format.has_parts && found->second.block == block.number;
        if (!is_new && found->second.source != source) {
            if (found->second.value != read.value && differing_.empty()) {
                differing_ = fmt::format("{} of {} is {} and then {} in one sample: the first counts", read.name,
                                         read.of, found->second.value, read.value);
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
        send(sink, CounterReading{.format = format.title,
                                  .sample = sample_ + side,
                                  .name = read.name,
                                  .of = read.of,
                                  .value = read.value,
                                  .part = is_part,
                                  .is_rise = block.is_rise,
                                  .is_state = read.is_state,
                                  .zeros_left_out = leaves_out,
                                  .epoch_ns = epoch_ns_});
    }

    using Sides = std::pair<std::int64_t, std::int64_t>;

    const CounterFormat* format_ = &counter_formats().front();
    CounterBlock block_;  ///< of it
    CounterText text_;
    CounterLine read_;
    Diff diff_ = Diff::none;
    Sides sides_;                                 ///< of a diff: the first and the last sample that a line is of
    std::unordered_map<std::string, Seen> seen_;  ///< counters of this sample
    std::set<std::string> sources_, earlier_;     ///< by tool, command and device: of it, of those before it
    std::string differing_;
    std::int64_t sample_ = 0, block_number_ = 0, epoch_ns_ = unknown_time;
    std::int64_t offered_ = 0, unread_ = -1;  ///< number of the last line, and of the last one that nobody understood
    std::string first_;                       ///< the last line as it came first
    bool has_prompt_ = false, are_numbers_ = false;  ///< it
    bool has_local_times_ = false, has_rises_ = false, has_unnamed_device_ = false, is_rounded_ = false;
};

}  // namespace

const MakeImporter make_counter_samples = make_importer<CounterSamples>;

}  // namespace stapgen::decode
