// SPDX-License-Identifier: GPL-2.0-or-later
#include "launch/messages.h"

#include <doctest/doctest.h>

#include <algorithm>
#include <regex>
#include <set>

#include "read_messages.h"

using namespace stapgen;
using namespace stapgen::launch;

namespace {

struct Case {
    std::string_view id, line;
    std::string_view in_cause = {};
};

// One literal line for each row of the table. Printed by stap or staprun 4.8 for this test: no-headers,
// symbol-table, parse-error, kprobe-builder, tracepoint-builder, no-debuginfo, no-match, resolving,
// unresolved-function, no-probes, elided, task-work, kbuild, insert-symbol, pass-failed. The others are
// worded after SystemTap's source.
constexpr Case cases[] = {
    {"no-headers", R"(Checking "/lib/modules/9.9/build/.config" failed with error: No such file or directory)",
     "/lib/modules/9.9/build/.config cannot be read: No such file"},
    {"no-headers", R"(Checking " /lib/modules/9.9/build/Makefile " failed with error: No such file or directory)",
     "build/Makefile"},
    {"no-devel",
     "Incorrect version or missing kernel-devel package, use: dnf install kernel-devel-5.14.0-503.el9.x86_64 ",
     "headers of kernel 6.1"},
    {"no-release", R"(ERROR: kernel release isn't found in "/tmp/tree")", "/tmp/tree"},
    {"not-permitted", "You are trying to run systemtap as a normal user."},
    {"bad-option", "stap: unrecognized option '--nonsense'", "--nonsense"},
    {"no-space", "/tmp/ccX.s:1: fatal error: cannot write: No space left on device"},
    {"symbol-table", "WARNING: Kernel function symbol table missing [man warning::symbols]", "System.map-6.1"},
    {"parse-error", "parse error: expected one of ') ,'", "expected one of ') ,'"},
    {"empty-script", "Input file '<input>' is empty."},
    {"kprobe-builder", "semantic error: resolution failed in kprobe builder"},
    {"tracepoint-builder", "semantic error: resolution failed in tracepoint builder"},
    {"dwarf-builder", "semantic error: resolution failed in DWARF builder"},
    {"no-debuginfo", "semantic error: missing x86_64 kernel/module debuginfo [man warning::debuginfo] under '/tmp/ft'",
     "kernel 6.1"},
    {"no-dwarf", "WARNING: cannot find module kernel debuginfo: No DWARF information found [man warning::debuginfo]",
     "debuginfo of kernel (kernel 6.1"},
    {"no-match-similar", "semantic error: no match (similar functions: tcp_v4_rcv, tcp_v6_rcv)",
     "tcp_v4_rcv, tcp_v6_rcv"},
    {"no-match", "semantic error: no match"},
    {"resolving-process", "semantic error: while resolving probe point: identifier 'process' at <input>:5:7",
     "the probe of a program at <input>:5:7 cannot"},
    {"resolving", "semantic error: while resolving probe point: identifier 'kprobe' at /tmp/k.stp:1:7",
     "/tmp/k.stp:1:7"},
    {"no-type", "semantic error: type definition 'sk_buff' not found in 'kernel<linux/x.h>': operator '@cast'",
     "sk_buff is not in kernel<linux/x.h>"},
    {"no-local", "semantic error: unable to find local 'skb', [man error::dwarf] dieoffset 0x1 in kernel", "skb"},
    {"no-member", "semantic error: unable to find member 'sk_x' for struct sock", "sk_x is not in struct sock"},
    {"no-tracepoint-variable", "semantic error: unable to find tracepoint variable '$rx_sk' (alternatives: $skb)",
     "$rx_sk"},
    {"unresolved-similar",
     "semantic error: unresolved function nofun (similar: pn, ppfunc, HZ, cpu, pp): identifier 'nofun' at "
     "/tmp/c.stp:1:83",
     "unknown function at /tmp/c.stp:1:83: nofun; similar ones are pn, ppfunc, HZ, cpu, pp"},
    {"unresolved-unnamed", "semantic error: unresolved function (similar: pn, ppfunc)", "similar ones are pn, ppfunc"},
    {"unresolved-function", "semantic error: unresolved function nofun: identifier 'nofun' at /tmp/c.stp:1:83",
     "nofun"},
    {"probe-mismatch-similar",
     "semantic error: probe point mismatch (similar: udp, tcp, ip): identifier 'tpc' at /tmp/a.stp:1:7",
     "no probe with tpc, which the script names at /tmp/a.stp:1:7; similar words are udp, tcp, ip"},
    {"probe-mismatch", "semantic error: probe point mismatch at position 1 (alternatives: recvmsg): x"},
    {"not-accessible",
     "semantic error: not accessible at this address (pc: 0xffffffff8153a1c0) [man error::dwarf]: identifier '$skb' at "
     "/tmp/a.stp:3:20",
     "the variable $skb, used at /tmp/a.stp:3:20, is not there"},
    {"not-accessible-unnamed", "semantic error: not accessible at this address: 18446744071584718272"},
    {"processing", "semantic error: while processing probe kernel.function(\"tcp_v4_rcv@net/ipv4/tcp_ipv4.c:1986\")",
     "kernel.function(\"tcp_v4_rcv@"},
    {"target-symbol", "semantic error: target-symbol requires debuginfo: identifier '$x' at a.stp:1:2"},
    {"type-mismatch", "semantic error: type mismatch: expected long but found string: identifier 'x' at a.stp:1:2",
     "string"},
    {"no-uprobes", "semantic error: process probes not available without kernel CONFIG_UPROBES: keyword at a:1:1",
     "CONFIG_UPROBES"},
    {"no-utrace", "semantic error: user-space facilities not available without kernel CONFIG_UTRACE: keyword at a:1:1",
     "CONFIG_UTRACE"},
    {"confusing-return",
     "WARNING: confusing usage, consider @entry($sk) in .return probe: identifier '$sk' at a.stp:3:5", "at the return"},
    {"separate-debuginfo", "Missing separate debuginfos, use: debuginfo-install kernel-3.10.0-693.el7.x86_64",
     "debuginfo"},
    {"no-probes", "semantic error: no probes found"},
    {"elided", "WARNING: Probe 'begin' has been elided: keyword at /tmp/el.stp:1:1", "begin"},
    {"semantic-error", "semantic error: something new", "something new"},
    {"task-work",
     "/usr/share/systemtap/runtime/stp_task_work.c:107:40: error: passing argument 2 of '(bool (*)(struct "
     "task_struct *, struct callback_head *))kallsyms_task_work_cancel' from incompatible pointer type "
     "[-Werror=incompatible-pointer-types]"},
    {"no-struct-member",
     "/tmp/stapX/stap_1_src.c:2341:9: error: 'struct sock' has no member named 'sk_stamp_old'; did you mean",
     "sk_stamp_old"},
    {"runtime-error",
     "/usr/share/systemtap/runtime/linux/access_process_vm.h:30:15: error: too many arguments to function "
     "'get_user_pages'",
     "access_process_vm.h:30:15: too many arguments"},
    {"compiler-missing", "/bin/sh: 1: gcc-12: not found", "gcc-12"},
    {"compiler-error", "/tmp/stapX/stap_1_src.c:12:3: error: implicit declaration of function 'strlcpy'", "strlcpy"},
    {"module-conflict", "ERROR: modpost: \"nosuch\" [/tmp/stapX/stap_1.ko] undefined!", "nosuch"},
    {"tested-range", "Kernel version 6.12.107 is outside tested range 2.6.32 ... 6.9-rc0", "6.12.107"},
    {"kbuild", "WARNING: kbuild exited with status: 2", "2"},
    {"release-mismatch", "ERROR: module release mismatch (6.1.0-56-amd64 vs 6.12.107)", "6.12.107"},
    {"version-mismatch",
     "ERROR: module version mismatch (#1 SMP Debian 6.1.1 vs #1 SMP Debian 6.1.2), release 6.1.0-56-amd64",
     "Debian 6.1.2 is running"},
    {"insert-format", "ERROR: Couldn't insert module '/x/stap_1.ko': Invalid module format"},
    {"no-symbol-version", "[  812.1] stap_12_345: no symbol version for module_layout", "module_layout"},
    {"lockdown", "[  812.1] Lockdown: staprun: unsigned module loading is restricted; see man kernel_lockdown.7"},
    {"no-server", "Unable to find a suitable compile server.  [man stap-server]"},
    {"control-channel", "ERROR: Cannot attach to module stap_12_345 control channel; not running?",
     "files of its module stap_12_345"},
    {"long-name", "reloc name too long: _ZN4core3ptr13drop_in_place", "_ZN4core3ptr13drop_in_place"},
    {"bpf-load", "Error: bpf program load failed: Permission denied", "Permission denied"},
    {"insert-symbol", "ERROR: Couldn't insert module '/tmp/none.ko': Unknown symbol in module"},
    {"insert-permission", "ERROR: Couldn't insert module '/x/stap_1.ko': Operation not permitted"},
    {"insert-key", "ERROR: Couldn't insert module '/x/stap_1.ko': Key was rejected by service"},
    {"insert-no-key", "ERROR: Couldn't insert module '/x/stap_1.ko': Required key not available"},
    {"insert-exists", "ERROR: Couldn't insert module '/x/stap_1.ko': File exists"},
    {"insert-memory", "ERROR: Couldn't insert module '/x/stap_1.ko': Cannot allocate memory"},
    {"insert", "ERROR: Couldn't insert module '/x/stap_1.ko': Device or resource busy", "Device or resource busy"},
    {"cannot-resolve", "ERROR: Can't resolve uprobe_unregister!", "uprobe_unregister"},
    {"signing", "The kernel on your system requires modules to be signed for loading."},
    {"not-root", "ERROR: The effective user ID of staprun must be set to the root user."},
    {"group-only", "ERROR: Members of the \"stapusr\" and \"stapsys\" groups can only use unsigned modules within"},
    {"build-id", "ERROR: Build-id mismatch [man warning::buildid]: \"kernel\" address 0x1, expected 12 actual 34"},
    {"buffer-memory", "WARNING: Not enough free+buffered memory(100MB) for log buffer(400MB)", "100MB"},
    {"registration",
     "WARNING: probe kernel.function(\"x\") (address 0xffffffff81000000) registration error [man "
     "warning::pass5] "
     "(rc -22)",
     "-22"},
    {"ftrace-off", "WARNING: ftrace refuses to call probes (rc -16)", "-16"},
    {"rename-short", "WARNING: Old module name 'x' is too short for renaming, ignoring -R."},
    {"map-full", "ERROR: Array overflow, check MAXMAPENTRIES near identifier 'seen' at x.stp:3:1",
     "identifier 'seen' at x.stp:3:1"},
    {"max-action", "ERROR: MAXACTION exceeded near keyword at x.stp:3:1"},
    {"max-nesting", "ERROR: MAXNESTING exceeded near keyword at x.stp:3:1"},
    {"division", "ERROR: division by 0 near operator '/' at x.stp:3:1"},
    {"empty-aggregate", "ERROR: empty aggregate near operator '@avg' at x.stp:3:1"},
    {"read-fault", "ERROR: read fault [man error::fault] at 0x0000000000000010 near operator '@cast' at x.stp:1:1",
     "0x0000000000000010"},
    {"copy-fault", "ERROR: kernel long copy fault at 0x0000000000000011 [man error::fault] near x",
     "0x0000000000000011"},
    {"overload-cycles", "ERROR: probe overhead (123 cycles) exceeded threshold (100 cycles) in last 1000 cycles",
     "123 of 1000 cycles"},
    {"overload", "ERROR: probe overhead exceeded threshold"},
    {"skipped-too-many",
     "ERROR: Skipped too many probes, check MAXSKIPPED or try again with stap -t for more details."},
    {"errors-skipped", "WARNING: Number of errors: 1, skipped probes: 496", "496 probes skipped"},
    {"transport", "WARNING: There were 17 transport failures. Try stap -s to increase the buffer size from 16.", "17"},
    {"lost", "WARNING: There were 3 lost messages, 4096 lost bytes, and 1 unexpected sequences.", "4096 bytes"},
    {"missed-kretprobe", "WARNING: Skipped due to missed kretprobe/1 on 'kprobe.function(\"x\").return': 12",
     "12 returns"},
    {"missed-kprobe", "WARNING: Skipped due to missed kprobe on 'kprobe.function(\"x\")': 7", "7 calls"},
    {"skipped-because", "WARNING: Skipped due to global 'seen' lock timeout: 5", "5 probes skipped"},
    {"pending", "ERROR: too many pending warning messages"},
    {"output", "ERROR: Couldn't write to output 1 for cpu 0, exiting.: Broken pipe"},
    {"clock", "WARNING: _stp_gettimofday_ns seqlock timeout; see STP_TIMELOCK*"},
    {"pass-failed", "Pass 2: analysis failed.  [man error::pass2]", "pass 2 (analysis)"},
    {"run-error", "ERROR: something nobody has seen yet", "something nobody has seen yet"},
    {"no-unwind-data", "WARNING: Missing unwind data for a module, rerun with 'stap -d /usr/lib64/libc.so.6'",
     "libc.so.6"},
};

}  // namespace

TEST_CASE("every message of the table is recognised by its literal line, and no other row takes it") {
    for (const auto& one : cases) {
        CAPTURE(one.line);
        const auto diagnosis = diagnose(one.line, context);
        REQUIRE(diagnosis);
        CHECK(diagnosis->id == one.id);
        CHECK_MESSAGE(diagnosis->cause.find(one.in_cause) != std::string::npos, diagnosis->cause);
        CHECK(diagnosis->cause.find('{') == std::string::npos);
        CHECK(diagnosis->remedy.find('{') == std::string::npos);
        CHECK(diagnosis->line == one.line);
    }
}

TEST_CASE("the functions of missed probes are known by name, both counts of a return as one") {
    const auto reader =
        read({"WARNING: Skipped due to missed kprobe on 'kprobe.function(\"tcp_v4_rcv\")': 70",
              "WARNING: Skipped due to missed kretprobe/1 on 'kprobe.function(\"tcp_recvmsg\").return': 2",
              "WARNING: Skipped due to missed kretprobe/2 on 'kprobe.function(\"tcp_recvmsg\").return': 3",
              "WARNING: Skipped due to missed kprobe on 'something else': 1",
              "WARNING: Number of errors: 0, skipped probes: 77"});
    CHECK(reader.losses().skipped_probes == 77);
    const std::map<std::string, std::int64_t, std::less<>> expected{
        {"tcp_v4_rcv", 70}, {"return of tcp_recvmsg", 5}, {"something else", 1}};
    CHECK(reader.losses().missed == expected);
}

TEST_CASE("of missed probes without end the first functions are known") {
    MessageReader reader(context);
    for (int i = 0; i < 1000; ++i)
        reader.line("WARNING: Skipped due to missed kprobe on 'kprobe.function(\"f" + std::to_string(i) + "\")': 3");
    CHECK(reader.losses().missed.size() == 500);
}

TEST_CASE("every row of the table has a literal line in this test") {
    std::set<std::string_view> tested;
    for (const auto& one : cases)
        tested.insert(one.id);
    for (const auto& row : message_table()) {
        CAPTURE(row.id);
        CHECK(tested.contains(row.id));
    }
}

TEST_CASE("a row in words names what its cause and remedy name, and has no star or brace left") {
    for (const auto& row : message_table()) {
        CAPTURE(row.id);
        const auto text = described(row);
        CHECK(text.id == row.id);
        for (const auto& words : {text.line, text.cause, text.remedy})
            CHECK(words.find_first_of("*{}") == std::string::npos);
        for (const auto* name : {"X", "Y", "Z"}) {
            const std::regex word("\\b" + std::string(name) + "\\b");
            if (std::regex_search(text.cause, word)) CHECK(text.line.find(name) != std::string::npos);
        }
    }
    const auto found = std::ranges::find(message_table(), "overload-cycles", &MessageRow::id);
    REQUIRE(found != message_table().end());
    CHECK(described(*found).line == "probe overhead (X cycles) exceeded threshold (Y cycles) in last Z cycles");
    CHECK(described(*found).cause.starts_with("the probes took X of Z cycles of a CPU, more than the limit of Y"));
}

TEST_CASE("every failure has a remedy") {
    for (const auto& row : message_table()) {
        CAPTURE(row.id);
        if (row.kind == MessageKind::failure) CHECK_FALSE(row.remedy.empty());
    }
}

TEST_CASE("ordinary output means nothing") {
    for (const auto* line :
         {"", "make[1]: Entering directory '/usr/src/x'", "        source: probe begin { }", "rx-latency\t1\t2",
          "Tip: /usr/share/doc/systemtap/README.Debian should help you "
          "get started."}) {
        CAPTURE(line);
        CHECK_FALSE(diagnose(line));
    }
}

TEST_CASE("source that the compiler quotes is nobody's message, whatever stands in it") {
    const auto reader =
        read({"x_src.c:6129:76: error: format '%lld' expects argument of type 'long long int' [-Werror=format=]",
              " 6129 |           _stp_error (\"probe overhead (%lld cycles) exceeded threshold (%lld "
              "cycles) in last %lld cycles\", c->cycles_sum, 1000, 1000);",
              "      |                            ~~~^"});
    REQUIRE(reader.cause() != nullptr);
    CHECK(reader.cause()->id == "compiler-error");
}

TEST_CASE("stap -v says which pass is over and how long it took") {
    const auto first = parse_pass_line(
        "Pass 1: parsed user script and 484 library scripts using 107328virt/97012res/7360shr/89576data kb, "
        "in "
        "130usr/40sys/171real ms.");
    REQUIRE(first);
    CHECK(first->pass == 1);
    CHECK(first->real == std::chrono::milliseconds(171));
    const auto cached = parse_pass_line("Pass 3: using cached /root/.systemtap/cache/05/stap_05.c");
    REQUIRE(cached);
    CHECK(cached->cached);
    const auto failed = parse_pass_line("Pass 4: compilation failed.  [man error::pass4]");
    REQUIRE(failed);
    CHECK(failed->failed);
    CHECK(parse_pass_line("Pass 5: starting run."));
    CHECK_FALSE(parse_pass_line("Pass 9: nothing"));
    CHECK_FALSE(parse_pass_line("Passing by"));
    CHECK_FALSE(parse_pass_line("Pass 4: running pahole on /tmp/x"));
}

TEST_CASE("a pattern's stars take what is between, the last one all that is left") {
    CHECK(match("a * c", "x a b c") == std::vector<std::string_view>{"b"});
    CHECK(match("a *", "a b c") == std::vector<std::string_view>{"b c"});
    CHECK(match("a", "bab") == std::vector<std::string_view>{});
    CHECK_FALSE(match("a * c", "a b"));
    CHECK_FALSE(match("abc", "ab"));
}
