#pragma once

#include <cstddef>
#include <string_view>

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

/// One kind of text that can be read, and what has been read of it so far: lines may belong together. Pure: no input or
/// output, no clock.
class Importer {
  public:
    virtual ~Importer() = default;

    /// Takes lines off the front of `lines` as long as it understands them, and returns how many bytes they are; 0
    /// where already the first is not of this kind. `lines` is whole lines, each with its '\n'.
    virtual std::size_t take(std::string_view lines, Sink& sink) = 0;

    /// What its records are made of; null before it is known.
    [[nodiscard]] virtual const Header* header() const = 0;
};

}  // namespace stapgen::decode
