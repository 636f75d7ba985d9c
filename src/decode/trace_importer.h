#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "decode/line_importer.h"

namespace stapgen::decode {

/// Events of a trace of the kernel, some of which its buffer may have lost.
class TraceImporter : public LineImporter {
  public:
    using LineImporter::LineImporter;
    void lose(std::int64_t events) override;
    [[nodiscard]] std::vector<Note> notes() const override;

  protected:
    [[nodiscard]] std::int64_t lost() const { return lost_; }
    /// The End of a text of which each record is one event.
    void send_end(std::int64_t reported, Sink& sink);

  private:
    std::int64_t lost_ = 0;
};

}  // namespace stapgen::decode
