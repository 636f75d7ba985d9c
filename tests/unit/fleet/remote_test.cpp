// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/remote.h"

#include <doctest/doctest.h>
#include <sys/stat.h>

#include "base/files.h"

using namespace stapgen;
using std::chrono::milliseconds;

TEST_CASE("a host that is ready waits for the others for as long as these take") {
    const auto folder = base::PrivateDirectory::create().value();
    fleet::SshOptions options;
    options.program = folder.path() / "ssh";
    REQUIRE(base::create_file(options.program, "#!/bin/sh\necho '@stapgen ready' >&2\nread go\n"));
    REQUIRE(::chmod(options.program.c_str(), 0700) == 0);
    const base::HeededSignals signals;
    const fleet::Remote remote(options, "web1", signals);
    // A machine may be too slow for the time.
    bool has_measured = false;
    for (milliseconds time(200); !has_measured && time < milliseconds(10'000); time *= 2) {
        options.connect_timeout = time;
        fleet::Remote::Run run;
        // It is asked at each tick.
        run.go = [&, asked = 0]() mutable { return ++asked * launch::Handlers().tick_period > 2 * time; };
        has_measured = remote.measure({"stapgen"}, milliseconds(0), run).has_value();
    }
    CHECK(has_measured);
}
