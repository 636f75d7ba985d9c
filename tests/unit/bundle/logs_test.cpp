// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <memory>
#include <string>

#include "base/budget.h"
#include "base/files.h"
#include "bundle/evidence.h"
#include "tar_text.h"

using namespace stapgen;
using namespace stapgen::bundle;
using namespace stapgen::test;

namespace {

Evidence found_in(const std::string& archive) {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto file = folder->path() / "a.tar";
    REQUIRE(base::replace_file(file, archive));
    auto evidence = read_evidence(file, {"nf_conntrack: table full"}, std::make_shared<base::Budget>("x"));
    REQUIRE(evidence);
    return *std::move(evidence);
}

}  // namespace

TEST_CASE("a log is one by its lines, whatever its name, and a host has a name") {
    const std::string full = "nf_conntrack: table full, dropping packet\n";
    for (const auto* before : {"[ 1009.1] ", "> [1454500.910215] ", "<4>[ 1009.1] ", "[Tue Nov 17 00:26:51 2020] ",
                               "Nov 17 00:26:51 n1 kernel: ", "2020-11-17T00:26:51Z n1 kernel: [ 1009.1] "}) {
        CAPTURE(before);
        const auto evidence = found_in(tar_file("case/bug.txt", before + full) + tar_end);
        CHECK(evidence.log_lines == 1);
        CHECK(evidence.read == 1);
        CHECK(evidence.logs.at("nf_conntrack: table full").count == 1);
    }
    for (const auto* before : {"", "A document says: ", "[1] ", "[tcp.c] "}) {
        CAPTURE(before);
        const auto evidence = found_in(tar_file("case/bug.txt", before + full) + tar_end);
        CHECK(evidence.log_lines == 0);
        CHECK(evidence.unknown == 1);
        CHECK(evidence.logs.empty());
    }
    CHECK(found_in(tar_file("sos/uname_-a", "Linux web1 6.1.0 #1 SMP x86_64\n") + tar_end).host == "web1");
    CHECK(found_in(tar_file("sos/etc/hostname", "web2\n") + tar_end).host == "web2");
    CHECK(found_in(tar_file("sos/proc/version", "Linux version 6.1.0 (x) #1\n") + tar_end).host.empty());
}
