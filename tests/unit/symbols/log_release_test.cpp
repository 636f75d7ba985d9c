// SPDX-License-Identifier: GPL-2.0-or-later
#include "symbols/log_release.h"

#include <doctest/doctest.h>

using namespace stapgen::symbols;

namespace {

std::string release_of(std::string_view text) {
    ReleaseFinder finder;
    finder.read(text);
    return finder.release();
}

}  // namespace

TEST_CASE("a text says of which release it is") {
    CHECK(release_of(
              "[    0.000000] Linux version 3.10.0-514.el7.x86_64 (mockbuild@x86-039.build) (gcc version 4.8.5)\n") ==
          "3.10.0-514.el7.x86_64");
    CHECK(release_of("Linux web1 3.13.0-24-generic #46-Ubuntu SMP Thu Apr 10 19:11:08 UTC 2014 x86_64 GNU/Linux\n") ==
          "3.13.0-24-generic");
    CHECK(release_of("$ uname -a\n> Linux web1 6.1.0-56-amd64 #1 SMP PREEMPT_DYNAMIC Debian 6.1.192-1\n") ==
          "6.1.0-56-amd64");
    CHECK(release_of("[ 8.1] CPU: 0 PID: 2211 Comm: a #2 Tainted: G        W         3.10.0-514.el7.x86_64 #1\n") ==
          "3.10.0-514.el7.x86_64");
    CHECK(release_of("Pid: 0, comm: swapper Not tainted (2.6.18-8.el5 #1)\n") == "2.6.18-8.el5");
    CHECK(release_of("root@web1:~# uname -r\n6.12.117+deb13-amd64\n") == "6.12.117+deb13-amd64");
    CHECK(release_of("# os release : 5.14.0-503.el9.x86_64\n") == "5.14.0-503.el9.x86_64");
    CHECK(release_of("     RELEASE: 4.18.0-240.el8.x86_64\n") == "4.18.0-240.el8.x86_64");
}

TEST_CASE("a release that the text is not of, and several, are none") {
    CHECK(release_of("the fix is in 5.10.12 #345\n").empty());
    CHECK(release_of("linux-image-6.1.0-56-amd64 6.1.192-1\n6.1.0-56-amd64\n").empty());
    CHECK(release_of("Linux version of the month (see #3)\n").empty());
    CHECK(release_of("Linux a 6.1.0-56-amd64 #1 SMP\nLinux b 6.12.117+deb13-amd64 #1 SMP\n").empty());
    // Once with its architecture, once without.
    CHECK_FALSE(release_of("# os release : 3.10.0-514.el7\nLinux a 3.10.0-514.el7.x86_64 #1 SMP\n").empty());
}

TEST_CASE("releases are compared without their architecture, and a version of upstream says nothing") {
    CHECK(is_same_release("3.10.0-514.el7", "3.10.0-514.el7.x86_64") == SameRelease::yes);
    CHECK(is_same_release("3.10.0-514.2.2.el7", "3.10.0-514.el7.x86_64") == SameRelease::no);
    CHECK(is_same_release("3.10.0-514", "3.10.0-514.el7.x86_64") == SameRelease::no);
    CHECK(is_same_release("6.12.117", "6.12.117+deb13-amd64") == SameRelease::unknown);
    CHECK(is_same_release("6.12.117+deb13-amd64", "6.12.11") == SameRelease::no);
    CHECK(is_same_release("6.12.117", "6.12.117") == SameRelease::yes);
}
