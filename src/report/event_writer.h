#pragma once

#include <optional>
#include <ostream>
#include <string>
#include <vector>

#include "decode/record.h"

namespace stapgen::report {

enum class EventFormat { table, ndjson };

/// Writes one line per record as it comes: --events. Rows wait for the `ready` line, which has the two clocks that make
/// a record's time a time of day. Does not flush.
class EventWriter {
  public:
    EventWriter(std::ostream& out, EventFormat format) : out_(out), format_(format) {}

    void record(const decode::Record& record);
    void ready(const decode::Ready& ready);
    /// Rows that still wait are written without their times.
    void end();
    /// A report comes next: a table ends here, and its header line is repeated if it goes on.
    void interrupt();

  private:
    /// A record that outlives its line.
    struct Held {
        const decode::Schema* schema;
        std::vector<std::string> raw;
        std::vector<decode::Value> values;
    };

    struct Column {
        std::string heading;
        std::size_t width = 0;
        bool left = false;
    };
    static Column column_of(const decode::Field& field);
    static void append_cell(std::string& line, const Column& column, std::string_view text);

    void hold(const decode::Record& record);
    void release();
    void write(const decode::Record& record);
    void write_table_row(const decode::Record& record);
    void write_object(const decode::Record& record);
    [[nodiscard]] std::optional<std::int64_t> epoch_of(const decode::Value& time) const;

    std::ostream& out_;
    EventFormat format_;
    std::optional<decode::Ready> ready_;
    std::vector<Held> held_;
    const decode::Schema* heading_ = nullptr;  ///< of the rows that were written last, and their columns
    std::vector<Column> columns_;
};

}  // namespace stapgen::report
