#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "report/model/record_writer.h"

namespace stapgen::report {

/// A row for each record. interrupt() ends the table; its heading is repeated if it goes on.
class EventTable final : public EventWriter {
  public:
    explicit EventTable(std::ostream& out) : EventWriter(out) {}
    void interrupt() override;

  private:
    struct Column {
        std::string heading;
        std::size_t width = 0;
        bool left = false;
    };
    static Column column_of(const decode::Field& field);
    static void append_cell(std::string& line, const Column& column, std::string_view text);
    void write(const decode::Record& record) override;

    const decode::Schema* heading_ = nullptr;  ///< of the rows that were written last, and their columns
    std::vector<Column> columns_;
};

}  // namespace stapgen::report
