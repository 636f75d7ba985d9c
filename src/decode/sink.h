#pragma once

#include "decode/record.h"

namespace stapgen::decode {

/// Receives what lines turned out to be. What it is handed is valid during the call only, headers and schemas aside.
class Sink {
  public:
    virtual ~Sink() = default;
    virtual void record(const Record& record) = 0;
    /// Any other line that was understood: header, fields, ready, tick, end.
    virtual void line(const Line& line) = 0;
};

}  // namespace stapgen::decode
