// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <utility>

#include "base/limits.h"

namespace stapgen::launch {

/// Bytes in, lines out, with bounded memory: of a line longer than `limit` the beginning is handed out,
/// marked as cut, and the rest up to its end is dropped.
class LineSplitter {
  public:
    using Sink = std::function<void(std::string_view line, bool cut)>;
    explicit LineSplitter(Sink sink, std::size_t limit = base::limits::line_bytes)
        : sink_(std::move(sink)), limit_(limit) {}

    void feed(std::string_view bytes) {
        for (;;) {
            const auto end = bytes.find('\n');
            if (end == std::string_view::npos) return hold(bytes);
            const auto rest = bytes.substr(0, end);
            // The common case costs no copy.
            if (partial_.empty() && rest.size() <= limit_) {
                sink_(rest, false);
            } else {
                hold(rest);
                hand_out();
            }
            bytes.remove_prefix(end + 1);
        }
    }

    /// The end of the stream: hands out a last line that has no line end, as cut.
    void finish() {
        if (partial_.empty()) return;
        cut_ = true;
        hand_out();
    }

  private:
    void hold(std::string_view part) {
        const auto room = limit_ - partial_.size();
        cut_ = cut_ || part.size() > room;
        partial_.append(part.substr(0, room));
    }

    void hand_out() {
        // The sink may not feed us again, but it may throw: be in order before it is called.
        const auto line = std::exchange(partial_, {});
        sink_(line, std::exchange(cut_, false));
    }

    Sink sink_;
    std::size_t limit_;
    std::string partial_;
    bool cut_ = false;
};

}  // namespace stapgen::launch
