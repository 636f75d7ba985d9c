// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "decode/importer.h"
#include "decode/prompt_stripper.h"
#include "decode/record_parser.h"

namespace stapgen::decode {

/// Finds the format of each line, whatever is mixed: every kind of text that can be read, several recordings one behind
/// the other, noise. A shell's prompt before a line, quote marks, blanks, colour codes and '\r' do not hide it. Blank
/// lines and bare prompts are recognised: there is nothing in them. A command behind a prompt is only if it prints
/// counters: of others it is the user who knows what they did. What a person has written behind a line is taken off if
/// the line is understood without it. Pure: no input or output, no clock. Memory is bounded whatever is fed.
class FormatDetector {
  public:
    /// Limit of our recordings in one input; the lines of further ones are not recognised.
    static constexpr std::size_t max_recordings = 64;
    /// Bytes kept of an unrecognised line.
    static constexpr std::size_t max_excerpt_length = 80;

    /// One measurement in the input. Its address does not change.
    class Source {
      public:
        std::string importer;  ///< a stable name: "stapgen", or the recipe of the foreign text
        std::string title;     ///< for a person: "RHEL stage timing"
        std::int64_t resolution_ns = 1;
        const Header* header = nullptr;  ///< valid as long as the FormatDetector

        /// Notes for a reader of the numbers; complete after finish().
        [[nodiscard]] std::vector<Note> notes() const;

      private:
        friend class FormatDetector;
        [[nodiscard]] bool has_packets() const;

        std::unique_ptr<Importer> foreign;  ///< one of the two
        std::unique_ptr<RecordParser> ours;
        bool begun = false;
        std::int64_t counted = 0;  ///< lines with the count of uniq -c before them
    };

    /// The first that is heard of a source is its HeaderLine.
    class Sink {
      public:
        using Source = FormatDetector::Source;
        virtual ~Sink() = default;
        virtual void record(Source& source, const Record& record) = 0;
        virtual void line(Source& source, const Line& line) = 0;
        /// A message of stap or staprun among the lines: see launch::count_losses().
        virtual void message(std::string_view text) = 0;
    };

    /// Whether lines are read one by one and as they are: no record behind another tool's mark
    /// (PromptStripper::behind_mark()), none that is broken over lines.
    enum class Repair { yes, no };
    explicit FormatDetector(Repair repair = Repair::yes);
    FormatDetector(const FormatDetector&) = delete;
    FormatDetector& operator=(const FormatDetector&) = delete;

    /// Any number of whole lines, each with its '\n'.
    void feed(std::string_view whole_lines, Sink& sink);

    /// The source of the lines from here on, by their prefix (PrefixStripper): a host, a container.
    /// Empty: it was nothing.
    void set_source(std::string_view name, Sink& sink);

    /// The end of the input. A last line without '\n' may have been cut short: of a recording of ours it is not taken,
    /// of a foreign text only if it does not end in a letter or digit. Empty: there is none.
    void finish(std::string_view last_line_without_newline, Sink& sink);

    /// Lines, and those of them that are not recognised, with an excerpt of the first ones.
    [[nodiscard]] const InputCounts& input() const { return input_; }

    /// The measurements so far, in the order in which they began.
    [[nodiscard]] const std::vector<Source*>& sources() const { return begun_; }

    /// Why a recording of ours cannot be read (a newer version, a damaged header), if there was one: the first.
    [[nodiscard]] const std::optional<base::Error>& refusal() const { return refusal_; }

  private:
    class Forward;
    std::size_t take(Source& source, std::string_view lines, Sink& sink, std::int64_t times = 1);
    std::size_t take_with_any(std::string_view lines, Sink& sink);
    std::size_t take_header(std::string_view lines, Sink& sink);
    bool take_text(std::string text, Sink& sink);
    bool take_marked(Sink& sink);
    [[nodiscard]] Importer::Shape shape(std::string_view text) const;
    std::size_t take_broken(std::string_view lines, bool is_end, Sink& sink);
    void feed(std::string_view lines, bool is_end, Sink& sink);
    void take_decorated(std::string_view line, Sink& sink);
    bool take_prompted(std::string_view line, Sink& sink);
    bool take_remark(std::string_view line, Sink& sink);
    void finish_line(std::string_view line, Sink& sink);
    void recognised();
    void unrecognised(std::string_view line, Flaw flaw);

    std::deque<Source> sources_;  ///< the foreign ones first, then our recordings in the order of the input
    std::vector<Source*> begun_;
    Source* last_ = nullptr;
    PromptStripper stripper_;
    Repair repair_;
    std::string source_;  ///< what set_source() said
    std::string held_;    ///< whole lines that a record may go on behind
    std::string scratch_;
    InputCounts input_;
    std::optional<base::Error> refusal_;
    std::int64_t lost_ = 0;  ///< events of traces
    bool blanked_ = false;   ///< a header of ours had blanks for its tabs
};

}  // namespace stapgen::decode
