#include "launch/line_splitter.h"

#include <utility>

namespace stapgen::launch {

void LineSplitter::feed(std::string_view bytes) {
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

void LineSplitter::hold(std::string_view part) {
    const auto room = limit_ - partial_.size();
    cut_ = cut_ || part.size() > room;
    partial_.append(part.substr(0, room));
}

void LineSplitter::finish() {
    if (partial_.empty()) return;
    cut_ = true;
    hand_out();
}

void LineSplitter::hand_out() {
    // The sink may not feed us again, but it may throw: be in order before it is called.
    const auto line = std::exchange(partial_, {});
    sink_(line, std::exchange(cut_, false));
}

}  // namespace stapgen::launch
