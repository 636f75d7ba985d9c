// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/format_detector.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <iterator>

#include "base/limits.h"
#include "base/saturate.h"
#include "base/text.h"
#include "decode/drop_formats.h"
#include "decode/importers.h"
#include "decode/remarks.h"
#include "decode/scan.h"

namespace stapgen::decode {

namespace {

constexpr std::string_view header_begin = "stapgen\t";

/// Whether a line was a header of ours before a terminal made blanks of its tabs.
bool is_blanked_header(std::string_view line) {
    if (!line.starts_with("stapgen ")) return false;
    const auto words = base::words(line);
    return words.size() > 3 && base::to_int(words[1]) && words.back().find(':') != std::string_view::npos;
}

/// A tab for each run of blanks.
std::string with_tabs(std::string_view line) {
    std::string out;
    for (const auto word : base::words(line)) {
        if (!out.empty()) out += '\t';
        out += word;
    }
    return out;
}

}  // namespace

/// Passes on what a source sends, and lists the source at its first line.
class FormatDetector::Forward : public decode::Sink {
  public:
    Forward(FormatDetector& detector, Source& source, FormatDetector::Sink& to)
        : detector_(detector), source_(source), to_(to) {}

    void record(const Record& record) override { to_.record(source_, record); }
    void line(const Line& line) override {
        if (!source_.begun) {
            source_.begun = true;
            detector_.begun_.push_back(&source_);
        }
        to_.line(source_, line);
    }

  private:
    FormatDetector& detector_;
    Source& source_;
    FormatDetector::Sink& to_;
};

std::vector<Note> FormatDetector::Source::notes() const {
    auto notes = foreign ? foreign->notes() : std::vector<Note>();
    if (counted > 0) {
        notes.emplace_back(fmt::format("counts before lines (uniq -c), {} in all, are multiplied into theirs", counted),
                           NoteKind::count);
    }
    return notes;
}

/// Whether its lines are of packets, each or several, and not of counters or means.
bool FormatDetector::Source::has_packets() const {
    return foreign && base::contains_word("drop packet", header->schemas.front().tag);
}

FormatDetector::FormatDetector(Repair repair) : repair_(repair) {
    const auto add = [this](std::unique_ptr<Importer> importer) {
        auto& source = sources_.emplace_back();
        source.foreign = std::move(importer);
        source.header = &source.foreign->header();
        source.importer = source.header->recipe;
        source.title = source.foreign->title();
        source.resolution_ns = source.foreign->resolution_ns();
    };
    for (const auto& format : drop_formats())
        add(make_drop_rows(format));
    for (const auto* make : importers)
        add((*make)());
    last_ = &sources_.back();
}

void FormatDetector::feed(std::string_view lines, Sink& sink) {
    if (held_.empty()) return feed(lines, false, sink);
    auto all = std::exchange(held_, {});
    feed(all.append(lines), false, sink);
}

void FormatDetector::feed(std::string_view lines, bool is_end, Sink& sink) {
    std::string last;
    if (!is_end && repair_ == Repair::yes && !lines.empty()) {
        const auto begin = lines.size() < 2 ? 0 : lines.rfind('\n', lines.size() - 2) + 1;
        if (shape(first_line(lines.substr(begin))) == Importer::Shape::lacking) {
            last = lines.substr(begin);
            lines = lines.substr(0, begin);
        }
    }
    while (!lines.empty()) {
        auto taken = take(*last_, lines, sink);
        if (taken == 0) taken = take_with_any(lines, sink);
        if (taken == 0 && repair_ == Repair::yes) taken = take_broken(lines, is_end, sink);
        if (taken == 0) {
            take_decorated(first_line(take_line(lines)), sink);
        } else {
            lines.remove_prefix(taken);
        }
    }
    held_ += last;
}

void FormatDetector::set_source(std::string_view name, Sink& sink) {
    if (name == source_) return;
    source_ = name;
    feed(std::exchange(held_, {}), true, sink);  // of the source before
    for (auto& source : sources_) {
        if (source.foreign) source.foreign->set_source(name);
    }
}

void FormatDetector::finish(std::string_view last_line, Sink& sink) {
    feed(std::exchange(held_, {}), true, sink);
    if (!last_line.empty()) finish_line(first_line(last_line), sink);
    for (auto* source : begun_) {
        if (!source->foreign) continue;
        Forward forward(*this, *source, sink);
        source->foreign->lose(lost_);
        source->foreign->finish(forward);
    }
}

void FormatDetector::finish_line(std::string_view line, Sink& sink) {
    stripper_.set(line);
    if (stripper_.is_empty() || take_remark(line, sink)) return recognised();
    if (std::isalnum(static_cast<unsigned char>(line.back())) == 0) {
        scratch_.assign(line);
        scratch_ += '\n';
        for (auto& source : sources_) {
            if (source.foreign && take(source, scratch_, sink) != 0) return;
        }
    }
    unrecognised(line, Flaw::no_line_end);
}

std::size_t FormatDetector::take(Source& source, std::string_view lines, Sink& sink, std::int64_t times) {
    Forward forward(*this, source, sink);
    std::int64_t count = 0;
    std::size_t taken = 0;
    if (source.foreign) {
        source.foreign->set_line_number(input_.lines + 1);
        taken = source.foreign->take_counted(lines, times, forward);
        count = source.foreign->line_number() - input_.lines - 1;
    } else {
        // A header is of the next recording: it would end this one.
        if (lines.starts_with(header_begin) && source.begun) return 0;
        const auto before = source.ours->input().recognised;
        taken = source.ours->take(lines, forward);
        count = source.ours->input().recognised - before;
    }
    input_.lines += count;
    input_.recognised += count;
    if (taken != 0) last_ = &source;
    return taken;
}

std::size_t FormatDetector::take_with_any(std::string_view lines, Sink& sink) {
    if (lines.starts_with(header_begin)) return take_header(lines, sink);
    // The newest recording first: a line of ours is likely of that one.
    for (auto source = sources_.rbegin(); source != sources_.rend(); ++source) {
        if (&*source == last_ || (lines.front() == '\n' && source->foreign && !source->foreign->begun())) continue;
        if (const auto taken = take(*source, lines, sink); taken != 0) return taken;
    }
    return 0;
}

std::size_t FormatDetector::take_header(std::string_view lines, Sink& sink) {
    const auto ours = std::ranges::count_if(sources_, [](const Source& source) { return source.ours != nullptr; });
    const auto whole_line = take_line(lines);
    const auto line = first_line(whole_line);
    const auto length = whole_line.size();
    std::size_t measures = 0;
    for (const auto& source : sources_) {
        if (!source.ours) continue;
        source.ours->end_declarations();
        measures += source.ours->measures();
    }
    if (measures >= base::limits::measures_in_input) {
        unrecognised(line, Flaw::over_limit);
        return length;
    }
    if (static_cast<std::size_t>(ours) >= max_recordings) {
        unrecognised(line, Flaw::second_header);
        return length;
    }
    auto& source = sources_.emplace_back();
    source.importer = "stapgen";
    source.ours = std::make_unique<RecordParser>(input_.lines);
    const auto parsed = source.ours->feed(line);
    if (const auto* flawed = std::get_if<Unrecognised>(&parsed)) {
        if (!refusal_) refusal_ = source.ours->refusal();
        unrecognised(line, flawed->flaw);
        sources_.pop_back();
        return length;
    }
    recognised();
    source.header = source.ours->header();
    source.title = "stapgen " + source.header->recipe;
    Forward(*this, source, sink).line(parsed);
    last_ = &source;
    return length;
}

bool FormatDetector::take_remark(std::string_view line, Sink& sink) {
    if (const auto lost = lost_events(line)) {
        base::add_saturating(lost_, *lost);
        return true;
    }
    const auto what = remark(line);
    if (what == Remark::systemtap) sink.message(line);
    return what != Remark::none;
}

bool FormatDetector::take_text(std::string text, Sink& sink) {
    scratch_ = std::move(text) + '\n';
    return take(*last_, scratch_, sink) != 0 || take_with_any(scratch_, sink) != 0;
}

void FormatDetector::take_decorated(std::string_view line, Sink& sink) {
    stripper_.set(line);
    if (stripper_.is_empty()) return recognised();
    // The text behind "#" may be another record as well as a person's comment. People do not write into long lines.
    constexpr std::size_t longest_annotated = 1024;
    const bool may_be_annotated = repair_ == Repair::yes && line.size() <= longest_annotated;
    if (const auto plain = may_be_annotated ? stripper_.without_annotation() : std::nullopt) {
        stripper_.set(*plain);
        if (take_prompted(line, sink)) return;
        stripper_.set(line);
    }
    if (take_prompted(line, sink)) return;
    // The parser of a recording says more of a line with its tag: a script that prints too few fields, for one.
    auto flaw = shape(unquoted(line)) == Importer::Shape::begun ? Flaw::broken_off : Flaw::unknown_kind;
    if (last_->ours) {
        const auto parsed = last_->ours->feed(line);
        const auto* flawed = std::get_if<Unrecognised>(&parsed);
        if (flawed != nullptr && flawed->flaw != Flaw::unknown_tag) flaw = flawed->flaw;
    }
    unrecognised(line, flaw);
}

/// The line as it was read, or behind one of its prompts.
bool FormatDetector::take_prompted(std::string_view line, Sink& sink) {
    do {
        const auto text = stripper_.text();
        if (take_remark(text, sink)) {
            recognised();
            return true;
        }
        blanked_ = blanked_ || is_blanked_header(text);
        if (text.empty()) continue;
        if ((text != line || blanked_) && take_text(blanked_ ? with_tabs(text) : std::string(text), sink)) return true;
        if (repair_ == Repair::yes && take_marked(sink)) return true;
    } while (stripper_.strip_prompt());
    return false;
}

void FormatDetector::recognised() {
    ++input_.lines;
    ++input_.recognised;
}

void FormatDetector::unrecognised(std::string_view line, Flaw flaw) {
    ++input_.lines;
    ++input_.unrecognised;
    if (last_->foreign) last_->foreign->pass_over();
    constexpr std::size_t looked_into = 512;
    const auto is_loss = [](std::string_view text) { return may_count_losses(text.substr(0, looked_into)); };
    const bool may_be_loss = is_loss(line);
    input_.possible_losses += may_be_loss ? 1 : 0;
    auto& kept = input_.first_flaws;
    if (kept.size() >= InputCounts::kept_flaws) {
        if (!may_be_loss) return;
        const auto last =
            std::find_if_not(kept.rbegin(), kept.rend(), [&](auto& known) { return is_loss(known.excerpt); });
        if (last == kept.rend()) return;
        kept.erase(std::next(last).base());
    }
    kept.push_back({input_.lines, flaw, std::string(base::whole_characters(line, max_excerpt_length))});
}

}  // namespace stapgen::decode
