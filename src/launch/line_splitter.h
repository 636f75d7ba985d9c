#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace stapgen::launch {

/// Bytes in, lines out, with bounded memory: of a line longer than `limit` the beginning is handed out,
/// marked as cut, and the rest up to its end is dropped.
class LineSplitter {
  public:
    using Sink = std::function<void(std::string_view line, bool cut)>;
    explicit LineSplitter(Sink sink, std::size_t limit = 1024 * 1024) : sink_(std::move(sink)), limit_(limit) {}

    void feed(std::string_view bytes);
    /// The end of the stream: hands out a last line that has no line end, as cut.
    void finish();

  private:
    void hold(std::string_view part);
    void hand_out();

    Sink sink_;
    std::size_t limit_;
    std::string partial_;
    bool cut_ = false;
};

}  // namespace stapgen::launch
