// SPDX-License-Identifier: GPL-2.0-or-later
#include "serve/recording_stream.h"

#include <array>
#include <utility>

#include "recording/facts.h"

namespace stapgen::serve {

namespace {

constexpr std::string_view zstd_magic("\x28\xb5\x2f\xfd\0\0", base::magic_size);

}  // namespace

RecordingStream::RecordingStream()
    : unpacker_(base::make_unpacker(zstd_magic)),
      lines_([this](std::string_view text, bool cut) { line(text, cut); }),
      session_(presentation_, {.keep_intervals = true, .keep_series = false}) {}

Fed RecordingStream::feed(std::string_view packed) {
    std::array<char, 16384> text{};
    while (!is_damaged_) {
        const auto step = unpacker_->step(packed, text, false);
        lines_.feed({text.data(), step.made});
        packed.remove_prefix(step.taken);
        is_damaged_ = step.damaged;
        if (step.taken == 0 && step.made == 0) break;
    }
    return std::exchange(fed_, {});
}

void RecordingStream::line(std::string_view text, bool cut) {
    const auto own = recording::parse_own_line(text);
    if (!own || cut) {
        const auto parsed = parser_.feed(cut ? std::string_view("(cut)") : text);
        auto added = session_.add(parsed);
        if (added.taken && std::holds_alternative<decode::Ready>(parsed)) fed_.has_begun = true;
        if (added.interval) fed_.intervals.push_back(*std::move(added.interval));
    } else if (own->is_header) {
        if (auto header = recording::parse_header(own->json)) session_.set(std::move(header->setup));
    } else if (auto trailer = recording::parse_trailer(own->json)) {
        session_.set(std::move(trailer->outcome));
    }
}

}  // namespace stapgen::serve
