// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <doctest/doctest.h>

#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "base/files.h"
#include "recording/reader.h"
#include "recording/writer.h"

namespace stapgen::recording {

/// A folder of a test's own.
class Scratch {
  public:
    [[nodiscard]] std::filesystem::path operator/(std::string_view name) const { return folder_.path() / name; }
    std::filesystem::path put(std::string_view name, std::string_view content) const {
        std::filesystem::remove(*this / name);
        REQUIRE(base::create_file(*this / name, content));
        return *this / name;
    }

  private:
    base::PrivateDirectory folder_ = base::PrivateDirectory::create().value();
};

inline Setup some_setup() {
    Setup setup;
    setup.recipe = "dropwatch";
    setup.kernel.release = "6.12.117";
    return setup;
}

/// A line, as a recorder puts it there.
inline void put(Writer& writer, std::string_view line) {
    if (writer.is_full()) writer.rotate({});
    if (writer.needs_part()) writer.begin_part(some_setup());
    writer.line(line);
}

inline std::string content_of(const std::filesystem::path& file) {
    return base::read_file(file).value();
}

/// All that next() hands out until it is empty, or fails.
struct ReadText {
    std::string text;
    std::string error;
};
inline ReadText read_all(Reader& reader) {
    ReadText read;
    for (;;) {
        const auto piece = reader.next();
        if (!piece) {
            read.error = piece.error().what;
            return read;
        }
        if (piece->empty()) return read;
        CHECK(piece->ends_with('\n'));
        CHECK(piece->size() <= 1024 * 1024);
        read.text += *piece;
    }
}

}  // namespace stapgen::recording
