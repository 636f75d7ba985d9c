// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "base/files.h"
#include "host/workarounds.h"
#include "render/parts.h"

using namespace stapgen;
namespace fs = std::filesystem;

// What is first used within a branch tests/kernels looks at, in what stap makes of each.
TEST_CASE("no script of stapgen's meets a fault that has no remedy") {
    const auto table = host::load_workarounds(fs::path(SOURCE_DIR) / "workarounds.toml");
    REQUIRE(table);
    auto faults = *table;
    std::erase_if(faults, [](const host::Workaround& row) { return row.only_in.empty(); });
    CHECK(faults.size() >= 6);
    std::size_t scripts = 0;
    for (const auto* folder : {"templates", "tapsets"}) {
        for (const auto& file : fs::recursive_directory_iterator(fs::path(SOURCE_DIR) / folder)) {
            if (file.path().extension() != ".stp") continue;
            ++scripts;
            const auto script = base::read_file(file.path());
            REQUIRE(script);
            for (const auto& warning : host::faults_met(faults, render::without_comments(*script)))
                CHECK_MESSAGE(warning.starts_with("warning: branch-locks: "), file.path().string(), ": ", warning);
        }
    }
    CHECK(scripts > 20);
}
