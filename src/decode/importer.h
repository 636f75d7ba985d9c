// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <initializer_list>
#include <memory>
#include <optional>
#include <string>

#include "base/limits.h"
#include "decode/place.h"
#include "decode/record.h"

namespace stapgen::decode {

/// Reads one foreign kind of text, whose records have a constant header, and keeps what has been read so far: lines may
/// belong together. Sends its header as soon as a line shows that there is a measurement, so that one that measured
/// nothing is there, too. Allocates nothing for a record. Pure: no input or output, no clock.
class Importer {
  public:
    virtual ~Importer() = default;
    Importer(const Importer&) = delete;
    Importer& operator=(const Importer&) = delete;

    /// Takes lines off the front of `lines` as long as it understands them, and returns how many bytes they are; 0
    /// where already the first is not of this kind. `lines` is whole lines, each with its '\n'. Blank lines among its
    /// own are its own. One '\r' at the end of a line is forgiven.
    std::size_t take(std::string_view lines, Sink& sink);
    /// The same of one line, which stands for `times` lines that are alike: its record's count is multiplied. Of more
    /// than one only importers of drops take it, and other lines are not taken together with it.
    std::size_t take_counted(std::string_view line, std::int64_t times, Sink& sink);

    /// The shape of a line that its sender or a terminal may have broken: a record that has nothing behind it but what
    /// it should, a record's beginning, or a record whose last fields may be on the next line. For formats with long
    /// lines.
    enum class Shape { other, whole, begun, lacking };
    [[nodiscard]] virtual Shape shape(std::string_view /*line*/) const { return Shape::other; }

    /// The header that its records have.
    [[nodiscard]] const Header& header() const { return header_; }
    /// For a person: "RHEL stage timing".
    [[nodiscard]] std::string_view title() const { return title_; }
    /// Stages are multiples of it.
    [[nodiscard]] std::int64_t resolution_ns() const { return resolution_ns_; }
    /// Notes for a reader of the numbers, on what was read so far.
    [[nodiscard]] virtual std::vector<Note> notes() const { return {}; }

    /// A line came behind the last one that it took, and nobody understood it.
    virtual void pass_over() {}
    /// See FormatDetector::set_source().
    virtual void set_source(std::string_view /*name*/) {}
    /// The trace lost this number of events of any kind; called before finish().
    virtual void lose(std::int64_t /*events*/) {}
    /// The input has ended: sends what is still open, and an End if that is the end of the measurement.
    void finish(Sink& sink) {
        if (begun_) finished(sink);
    }

    /// A line of this kind was read.
    [[nodiscard]] bool begun() const { return begun_; }
    /// The number of the line that take() will be handed next, in the whole input, counted from 1.
    [[nodiscard]] std::int64_t line_number() const { return line_number_; }
    void set_line_number(std::int64_t number) { line_number_ = number; }

  protected:
    /// Each schema as a header line has it, but with blanks for tabs, and with the types that no recording has: "drop
    /// time:time location:place reason:reason_name".
    Importer(std::string_view title, std::int64_t resolution_ns, std::string_view recipe,
             std::initializer_list<std::string_view> schemas);

    /// Bytes of a line; longer ones are of no such kind.
    [[nodiscard]] virtual std::size_t max_line() const { return base::limits::record_bytes; }
    /// A line that is not blank, without its end. False: not of this kind, and nothing has changed.
    virtual bool line(std::string_view line, Sink& sink) = 0;
    virtual void finished(Sink& sink) = 0;
    /// Sends a record that more lines might have belonged to.
    virtual void close(Sink& /*sink*/) {}

    [[nodiscard]] const Schema& schema(std::size_t index = 0) const { return header_.schemas[index]; }
    /// Sends the header, once.
    void begin(Sink& sink);
    void send(Sink& sink, const Record& record) {
        begin(sink);
        if (times_ == 1) return sink.record(record);
        send_counted(sink, record);
    }
    void send(Sink& sink, const Line& line) {
        begin(sink);
        sink.line(line);
    }
    /// Sends a record of `events` events, and counts these.
    void report(const Record& record, Sink& sink, std::int64_t events = 1);
    [[nodiscard]] std::int64_t reported() const { return reported_; }
    /// An End without a time; `lost` is named only if it is not 0.
    void send_end(Sink& sink, std::string_view loss, std::int64_t lost);
    /// "17 alerts were lost"; nothing of 0.
    static void add_count(std::vector<Note>& notes, std::int64_t count, std::string_view what);

    /// Number of lines that are alike which the one that is being read stands for.
    [[nodiscard]] std::int64_t times() const { return times_; }

  private:
    void send_counted(Sink& sink, const Record& record);

    std::string_view title_;
    std::int64_t resolution_ns_;
    Header header_;
    bool begun_ = false;
    std::int64_t times_ = 1;
    std::int64_t line_number_ = 1;
    std::int64_t reported_ = 0;
};

/// Events of a kernel trace, whose buffer may have lost some.
class TraceImporter : public Importer {
  public:
    using Importer::Importer;
    void lose(std::int64_t events) override;
    [[nodiscard]] std::vector<Note> notes() const override;

  protected:
    [[nodiscard]] std::int64_t lost() const { return lost_; }
    void finished(Sink& sink) override;

  private:
    std::int64_t lost_ = 0;
};

/// A trace, read for its drops only: records of location, reason and count.
class DropImporter : public TraceImporter {
  public:
    void pass_over() override {
        if (drop_) drop_->stack.cut();
    }
    [[nodiscard]] std::vector<Note> notes() const override;

  protected:
    DropImporter(std::string_view title, std::string_view recipe)
        : TraceImporter(title, 1, recipe, {"drop location:place reason:reason_name count:count"}) {}
    /// `place` empty: the text does not have it. `reason`: see reason_value().
    void report_drop(std::string_view place, std::string_view reason, Sink& sink, const Value& count = {"1", 1});

    /// One whose reason, place or calls may follow in further lines.
    struct Drop {
        std::string place, reason;
        DropStack stack;  ///< says the place, where it does
    };
    Drop& open_drop(Sink& sink) {
        close(sink);
        return drop_.emplace();
    }
    /// Reports what is open.
    void close(Sink& sink) override;
    /// The same of `count` drops, of `reason` where it has none.
    void report_open(std::string_view reason, Sink& sink, const Value& count);

    std::optional<Drop> drop_;  ///< that is open

  private:
    std::int64_t placeless_ = 0;  ///< whose stack lacks its place
};

}  // namespace stapgen::decode
