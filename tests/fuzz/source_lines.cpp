// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/source_lines.h"

#include "fuzz.h"
#include "memory_file.h"

using namespace stapgen;

/// DWARF, by libdw.
FUZZ_TARGET(source_lines) {
    const fuzz::MemoryFile file(data, size);
    const auto lines = symbols::SourceLines::open(file.path());
    if (!lines) {
        fuzz::always(!lines.error().what.empty());
        return 0;
    }
    for (const std::uint64_t begin : {std::uint64_t{0}, std::uint64_t{0xffffffff81000000}}) {
        for (const std::uint64_t offset : {0, 1, 4, 17, 40, 64, 4096}) {
            const auto frames = lines->at(begin + offset);
            for (const auto& frame : frames)
                fuzz::always(!frame.inlined || &frame != &frames.back() || !frame.function.empty() || frame.line >= 0);
        }
    }
    return 0;
}
