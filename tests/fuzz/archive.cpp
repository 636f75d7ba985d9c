// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/evidence.h"
#include "bundle/walk.h"
#include "fuzz.h"
#include "memory_file.h"

/// A support archive, packed or not: each of its files is counted once, and what is read is in one of them.
FUZZ_TARGET(archive) {
    using namespace stapgen;
    constexpr std::size_t enough = 1 << 24;  // a few bytes can unpack to gigabytes
    const fuzz::MemoryFile file(data, size);
    std::size_t bytes = 0;
    const auto walked =
        bundle::walk(file.path(), std::make_shared<base::Budget>("archive"), [&](const bundle::File& one) {
            char piece[4096];
            while (bytes < enough) {
                const auto count = one.content->read(piece);
                if (!count || *count == 0) break;
                bytes += *count;
            }
        });
    if (!walked || bytes >= enough) return 0;
    const auto evidence = bundle::read_evidence(file.path(), {"table full"}, std::make_shared<base::Budget>("archive"));
    fuzz::always(evidence.has_value());
    fuzz::always(evidence->read + evidence->empty + evidence->unknown + evidence->walked.unreadable ==
                 evidence->walked.files);
    return 0;
}
