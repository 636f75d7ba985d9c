// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include "launch/messages.h"
#include "read_messages.h"

using namespace stapgen;
using namespace stapgen::launch;

TEST_CASE("a kprobe that is not found because the symbol table is a stub is put down to the stub") {
    const auto reader = read({"WARNING: Kernel function symbol table missing [man warning::symbols]",
                              "Pass 1: parsed user script and 484 library scripts using 1virt/1res/1shr/1data "
                              "kb, in 120usr/70sys/296real ms.",
                              "semantic error: resolution failed in kprobe builder",
                              "semantic error: while resolving probe point: identifier 'kprobe' at /tmp/k.stp:1:7",
                              "semantic error: no match",
                              "Pass 2: analyzed script: 0 probes, 0 functions, 0 embeds, 0 globals using "
                              "1virt/1res/1shr/1data kb, in 10usr/0sys/9real ms.",
                              "Pass 2: analysis failed.  [man error::pass2]"});
    REQUIRE(reader.cause() != nullptr);
    CHECK(reader.cause()->id == "symbol-table");
    CHECK(reader.cause()->remedy.find("--symbols") != std::string::npos);
    CHECK(reader.pass() == 2);
}

TEST_CASE("so is one that was then looked for in debuginfo, which is not there either") {
    const auto reader =
        read({"WARNING: Kernel function symbol table missing [man warning::symbols]",
              "WARNING: cannot find module kernel debuginfo: No DWARF information found [man warning::debuginfo]",
              "semantic error: resolution failed in DWARF builder", "semantic error: no match",
              "Pass 2: analysis failed.  [man error::pass2]"});
    REQUIRE(reader.cause() != nullptr);
    CHECK(reader.cause()->id == "symbol-table");
}

TEST_CASE("the stub is not blamed for a tracepoint that is not found") {
    const auto reader = read({"WARNING: Kernel function symbol table missing [man warning::symbols]",
                              "semantic error: resolution failed in tracepoint builder",
                              "semantic error: while resolving probe point: identifier 'kernel' at /tmp/tr.stp:1:7",
                              "semantic error: no match", "Pass 2: analysis failed.  [man error::pass2]"});
    REQUIRE(reader.cause() != nullptr);
    CHECK(reader.cause()->id == "tracepoint-builder");
}

TEST_CASE("a probe of a program is put down to the program, not to the kernel") {
    for (const auto* what :
         {"semantic error: no match", "semantic error: no match (similar functions: handle_event, handle_eof)",
          "semantic error: resolution failed in DWARF builder"}) {
        CAPTURE(what);
        const auto reader = read({"semantic error: while resolving probe point: identifier 'process' at <input>:5:7",
                                  what, "Pass 2: analysis failed.  [man error::pass2]"});
        REQUIRE(reader.cause() != nullptr);
        CHECK(reader.cause()->id == "resolving-process");
        CHECK(reader.cause()->remedy.find("stap -L 'process(") != std::string::npos);
    }
}

TEST_CASE("the reason is named, not the sentence that something failed") {
    const auto reader =
        read({"/usr/share/systemtap/runtime/stp_task_work.c:107:40: error: passing argument 2 of '(bool (*)' from "
              "incompatible pointer type",
              "make[1]: *** [/usr/src/x/scripts/Makefile.build:255: /tmp/stapX/stap_1_src.o] Error 1",
              "WARNING: kbuild exited with status: 2",
              "Pass 4: compiled C into \"stap_1.ko\" in 11440usr/2940sys/8092real ms.",
              "Pass 4: compilation failed.  [man error::pass4]"});
    REQUIRE(reader.cause() != nullptr);
    CHECK(reader.cause()->id == "task-work");
    CHECK(reader.pass() == 4);
}

TEST_CASE("of several causes the first of the highest level is the reason, and it says what kind of error that is") {
    const std::string_view overload = "ERROR: probe overhead exceeded threshold", passes = "ERROR: MAXACTION exceeded",
                           insert = "ERROR: Couldn't insert module 'x.ko': Device or resource busy",
                           signing = "ERROR: Couldn't insert module 'x.ko': Required key not available";
    const auto cause = [](std::initializer_list<std::string_view> lines) { return *read(lines).cause(); };
    CHECK(cause({passes, "ERROR: division by 0 near x"}).id == "max-action");
    CHECK(cause({passes, overload}).id == "overload");
    CHECK(cause({overload, insert}).id == "insert");
    CHECK(cause({insert, signing}).id == "insert-no-key");
    CHECK(error_kind(cause({passes}).level) == base::ErrorKind::failed);
    CHECK(error_kind(cause({overload}).level) == base::ErrorKind::over_budget);
    CHECK(error_kind(cause({insert}).level) == base::ErrorKind::cannot_here);
    CHECK(error_kind(cause({signing}).level) == base::ErrorKind::cannot_here);
    CHECK(error_kind(cause({"Pass 2: analysis failed.  [man error::pass2]"}).level) == base::ErrorKind::failed);
}

TEST_CASE("what is lost is counted, over several messages") {
    const auto reader = read({"WARNING: Number of errors: 1, skipped probes: 496",
                              "WARNING: There were 17 transport failures. Try stap -s to increase the buffer size "
                              "from 16.",
                              "WARNING: There were 3 lost messages, 4096 lost bytes, and 1 unexpected sequences.",
                              // 19 of the 496, by their reason, which stap -t tells.
                              "WARNING: Skipped due to missed kretprobe/1 on 'x': 12",
                              "WARNING: Skipped due to missed kprobe on 'y': 7"});
    const auto& losses = reader.losses();
    CHECK(losses.errors == 1);
    CHECK(losses.skipped_probes == 496);
    CHECK(losses.transport_failures == 17);
    CHECK(losses.buffer_mb == 16);
    CHECK(losses.lost_messages == 3);
    CHECK(losses.lost_bytes == 4096);
    CHECK(losses.any());
    // As SystemTap 2.1 said it.
    CHECK(read({"WARNING: There were 19 transport failures."}).losses().transport_failures == 19);
    CHECK(read({"WARNING: There were 19 transport failures."}).losses().buffer_mb == 0);
    CHECK_FALSE(read({"WARNING: Number of errors: 0, skipped probes: 0"}).losses().any());

    const char* largest = "WARNING: Number of errors: 9223372036854775807, skipped probes: 9223372036854775806";
    CHECK(read({largest, largest}).losses().errors == 9223372036854775807);
    CHECK(read({largest, largest}).losses().skipped_probes == 9223372036854775807);
}

TEST_CASE("what was being worked on is not the cause of a failure, whatever comes below it") {
    for (const auto* const cause : {"semantic error: not accessible at this address (pc: 0xffffffff8153a1c0)",
                                    "semantic error: something that nobody has seen yet"}) {
        const auto reader = read({"semantic error: while processing probe kernel.function(\"tcp_v4_rcv\")",
                                  "semantic error: while resolving probe point: identifier 'kernel' at a.stp:1:7",
                                  cause, "Pass 2: analysis failed.  [man error::pass2]"});
        REQUIRE(reader.cause() != nullptr);
        CHECK(reader.cause()->line == cause);
    }
}

TEST_CASE("a kept log names packages of the distribution that it is of") {
    const auto remedy = [](std::string_view log) {
        const auto failure = failure_in(log);
        REQUIRE(failure);
        return failure->remedy;
    };
    const std::string checking = "Checking \"/lib/modules/{}/build/.config\" failed with error: No such file\n";
    const auto of = [&](std::string_view release) {
        auto text = checking;
        return remedy(text.replace(text.find("{}"), 2, release));
    };
    CHECK(of("5.14.0-503.el9.x86_64").ends_with(": dnf install kernel-devel-5.14.0-503.el9.x86_64"));
    CHECK(of("3.10.0-693.el7.x86_64").ends_with(": yum install kernel-devel-3.10.0-693.el7.x86_64"));
    CHECK(of("6.8.0-41-generic").ends_with(": apt-get install linux-headers-6.8.0-41-generic"));
    CHECK(of("6.1.0-56-amd64").ends_with(": apt-get install linux-headers-6.1.0-56-amd64"));
    CHECK(of("5.14.21-150400.24.63-default").ends_with(": zypper install kernel-default-devel=5.14.21-150400.24.63"));
    // Of a kernel of one's own on a machine that the log knows.
    CHECK(remedy("Checking \"/lib/modules/6.9.3/build/.config\" failed with error: No such file\n"
                 "Tip: /usr/share/doc/systemtap/README.Debian should help you get started.\n")
              .ends_with(": apt-get install linux-headers-6.9.3"));
    // stap says itself what to install.
    CHECK(remedy("Checking \"/lib/modules/5.14.0-503.el9.x86_64/build/.config\" failed with error: No such file\n"
                 "Incorrect version or missing kernel-devel package, use: dnf install "
                 "kernel-devel-5.14.0-503.el9.x86_64 \n") == "as root: dnf install kernel-devel-5.14.0-503.el9.x86_64");
    CHECK(remedy("semantic error: missing x86_64 kernel/module debuginfo [man warning::debuginfo] under "
                 "'/lib/modules/3.10.0-693.el7.x86_64/build'\n") ==
          "debuginfo-install kernel-3.10.0-693.el7.x86_64; or use a recipe that needs none");
    CHECK(remedy("semantic error: missing x86_64 kernel/module debuginfo [man warning::debuginfo] under "
                 "'/lib/modules/6.8.0-41-generic/build'\n") ==
          "apt-get install linux-image-6.8.0-41-generic-dbgsym; or use a recipe that needs none");
}

TEST_CASE("an error of another program is none of stap's") {
    CHECK_FALSE(failure_in("ERROR: connection refused\nmake: *** [Makefile:3: all] Error 2\na.c:3:1: error: x\n"));
    const auto failure = failure_in("ERROR: connection refused\nstaprun: exited\n");
    REQUIRE(failure);
    CHECK(failure->cause == "connection refused");
    CHECK(failure->remedy.find("see the log") == std::string::npos);
}

TEST_CASE("a module that lockdown refuses is to be signed, and one without versions of symbols to have them") {
    const auto locked = failure_in(
        "Lockdown: staprun: unsigned module loading is restricted; see man kernel_lockdown.7\n"
        "ERROR: Couldn't insert module '/tmp/stapX/stap_1.ko': Operation not permitted\n");
    REQUIRE(locked);
    CHECK(locked->id == "lockdown");
    const auto unversioned = failure_in(
        "ERROR: Couldn't insert module '/tmp/stapX/stap_1.ko': Invalid module format\n"
        "[  812.1] stap_1: no symbol version for module_layout\n");
    REQUIRE(unversioned);
    CHECK(unversioned->remedy == "--stap-option=-BCONFIG_MODVERSIONS=y");
}
