#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "decode/importer.h"
#include "decode/note.h"

namespace stapgen::decode {

/// A foreign kind of text whose records have a constant header. Sends its header as soon as a line shows that there
/// is a measurement, so that one that measured nothing is there, too. Allocates nothing for a record.
class LineImporter : public Importer {
  public:
    LineImporter(const LineImporter&) = delete;
    LineImporter& operator=(const LineImporter&) = delete;

    /// Blank lines among its own are its own. One '\r' at the end of a line is forgiven.
    std::size_t take(std::string_view lines, Sink& sink) final;

    [[nodiscard]] const Header* header() const final { return &header_; }

    /// The input has ended: sends what is still open, and an End if that is the end of the measurement.
    void finish(Sink& sink) {
        if (begun_) finished(sink);
    }

    /// So many events of a trace were lost, whatever they were; before finish().
    virtual void lose(std::int64_t /*events*/) {}

    [[nodiscard]] std::string_view title() const { return title_; }
    /// Stages are multiples of it.
    [[nodiscard]] std::int64_t resolution_ns() const { return resolution_ns_; }
    /// What a reader of the numbers must know about what was read so far.
    [[nodiscard]] virtual std::vector<Note> notes() const { return {}; }

    /// The number of the line that take() will be handed next, in the whole input, counted from 1.
    [[nodiscard]] std::int64_t line_number() const { return line_number_; }
    void set_line_number(std::int64_t number) { line_number_ = number; }

  protected:
    LineImporter(std::string_view title, std::int64_t resolution_ns, Header header)
        : title_(title), resolution_ns_(resolution_ns), header_(std::move(header)) {}

    /// A line that is not blank, without its end. False: not of this kind, and nothing has changed.
    virtual bool line(std::string_view line, Sink& sink) = 0;
    virtual void finished(Sink& sink) = 0;

    [[nodiscard]] bool begun() const { return begun_; }
    [[nodiscard]] const Schema& schema(std::size_t index = 0) const { return header_.schemas[index]; }
    void begin(Sink& sink);
    void send(Sink& sink, const Record& record) {
        begin(sink);
        sink.record(record);
    }
    void send(Sink& sink, const Line& line) {
        begin(sink);
        sink.line(line);
    }

  private:
    std::string_view title_;
    std::int64_t resolution_ns_;
    Header header_;
    bool begun_ = false;
    std::int64_t line_number_ = 1;
};

/// A header as importers have it.
Header make_header(std::string_view recipe, std::vector<Schema> schemas);

}  // namespace stapgen::decode
