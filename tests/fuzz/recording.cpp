// SPDX-License-Identifier: GPL-2.0-or-later
#include <algorithm>
#include <string>

#include "base/source.h"
#include "fuzz.h"
#include "memory_file.h"
#include "recording/facts.h"
#include "recording/reader.h"

namespace {

using namespace stapgen;

struct Read {
    std::string text;
    bool error = false;
};

Read read_lines(recording::Reader& reader) {
    Read read;
    do {
        for (;;) {
            const auto piece = reader.next();
            if (!piece) {
                fuzz::always(!read.error && !piece.error().what.empty());
                read.error = true;
                continue;
            }
            if (piece->empty()) break;
            fuzz::always(piece->ends_with('\n'));
            read.text += *piece;
        }
    } while (reader.next_recording());
    read.text += reader.last_partial_line();
    return read;
}

/// Without the lines that are a recording's own, which are not the script's.
std::string without_own_lines(std::string_view text) {
    std::string out;
    while (!text.empty()) {
        const auto end = text.find('\n');
        const bool whole = end != std::string_view::npos;
        const auto own = recording::parse_own_line(text.substr(0, end));
        const bool is_header = own && own->is_header && whole && recording::parse_header(own->json);
        const bool is_trailer = own && !own->is_header && recording::parse_trailer(own->json);
        const auto length = whole ? end + 1 : text.size();
        if (!is_header && !is_trailer) out += text.substr(0, length);
        text.remove_prefix(length);
    }
    return out;
}

}  // namespace

/// A text, packed or not, is read whole: but for the recording's own lines, byte by byte.
FUZZ_TARGET(recording) {
    const fuzz::MemoryFile file(data, size);
    auto source = base::Source::open(file.path());
    fuzz::always(source.has_value());
    constexpr std::size_t enough = 1 << 20;  // a few bytes can unpack to gigabytes
    std::string text(enough, '\0');
    std::size_t filled = 0;
    bool damaged = false;
    while (filled < enough) {
        const auto count = (*source)->read(std::span(text).subspan(filled));
        if (!count || *count == 0) {
            damaged = !count;
            break;
        }
        filled += *count;
    }
    if (filled == enough) return 0;
    text.resize(filled);

    auto reader = recording::Reader::open(file.path());
    if (!reader) return 0;
    const auto read = read_lines(*reader);
    if (read.error) return 0;
    fuzz::always(!damaged);
    fuzz::always(read.text == without_own_lines(text));
    return 0;
}
