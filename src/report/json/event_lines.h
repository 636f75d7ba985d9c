#pragma once

#include "report/model/record_writer.h"

namespace stapgen::report {

/// An object in one line for each record. Keys are the names of its fields, of times and durations with "_ns".
class EventLines final : public EventWriter {
  public:
    explicit EventLines(std::ostream& out) : EventWriter(out) {}

  private:
    void write(const decode::Record& record) override;
};

}  // namespace stapgen::report
