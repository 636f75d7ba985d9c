// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/workarounds.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <tuple>

#include "base/files.h"
#include "fakes/system/fake_system.h"

using namespace stapgen;
using namespace stapgen::host;
namespace fs = std::filesystem;

namespace {

struct Machine {
    FakeSystem system;
    Target target;

    explicit Machine(std::string_view version) {
        target.stap_version = parse_version_number(version);
        target.runtime = "/rt";
        target.build = "/build";
        target.source = "/src";
    }
    /// Without faults that have no remedy: faults_test.cpp.
    std::vector<std::string> needed() {
        const auto workarounds = load_workarounds(WORKAROUNDS_TOML);
        REQUIRE_MESSAGE(workarounds, workarounds.error().what);
        std::vector<std::string> ids;
        for (const auto& workaround : needed_workarounds(*workarounds, system, target)) {
            if (!workaround.is_fault()) ids.push_back(workaround.id);
        }
        return ids;
    }
};

std::string error_of(std::string_view toml) {
    const auto workarounds = parse_workarounds(toml, "c.toml");
    return workarounds ? "" : workarounds.error().what;
}

constexpr std::string_view runtime_4_8 =
    "typedef typeof(&task_work_cancel) task_work_cancel_fn;\n"
    "#define task_work_cancel (* (task_work_cancel_fn)kallsyms_task_work_cancel)\n"
    "  x = (void *)kallsyms_lookup_name(\"task_work_cancel\");\n"
    "  twork = task_work_cancel(task, func);\n";

}  // namespace

TEST_CASE("Debian 12 needs the runtime patch, before its kernel's backport it does not") {
    Machine machine("4.8");
    machine.system.files = {{"/rt/stp_task_work.c", std::string(runtime_4_8)},
                            {"/src/include/linux/task_work.h", "task_work_cancel_func(struct task_struct *"}};
    CHECK(machine.needed() == std::vector<std::string>{"task-work-cancel"});
    machine.system.files["/src/include/linux/task_work.h"] = "task_work_cancel(struct task_struct *";
    CHECK(machine.needed().empty());
}

TEST_CASE("Debian 13 needs two flags, which arrive as one variable") {
    Machine machine("5.1");
    machine.system.files = {{"/rt/transport/transport.c", "_stp_error(\"Can't resolve uprobe_unregister!\");"},
                            {"/src/include/linux/args.h", "#define __COUNT_ARGS(_0,"},
                            {"/src/include/linux/uprobes.h", "void uprobe_unregister_nosync("}};
    CHECK(machine.needed() == std::vector<std::string>{"count-args", "uprobe-unregister"});
    const auto workarounds = load_workarounds(WORKAROUNDS_TOML);
    const auto needed = needed_workarounds(*workarounds, machine.system, machine.target);
    const auto applied = apply_workarounds(needed, {}, machine.target, "/nowhere");
    REQUIRE(applied);
    CHECK(applied->kbuild.at("CFLAGS_MODULE") == "-Wno-error -DSTAPCONF_UPROBE_UNREGISTER_EXPORTED");
    CHECK(applied->runtime.empty());
    CHECK(applied->lines.size() == 2);
    CHECK(applied->lines[0].starts_with("workaround: count-args: "));

    const auto one = apply_workarounds(needed, {.none = false, .without = {"count-args"}}, machine.target, "/nowhere");
    CHECK(one->kbuild.at("CFLAGS_MODULE") == "-DSTAPCONF_UPROBE_UNREGISTER_EXPORTED");
    CHECK(apply_workarounds(needed, {.none = true}, machine.target, "/nowhere")->kbuild.empty());
}

TEST_CASE("missed probes are named where the runtime can be made to, without what makes each hit dearer") {
    Machine machine("5.1");
    std::string text;
    for (const auto* count : {"krp->nmissed", "krp->kp.nmissed", "kp->nmissed"})
        text += fmt::format("x\n#ifdef STP_TIMING\n      if ({})\n         _stp_warn\n#endif\n", count);
    machine.system.files = {{"/rt/linux/kprobes.c", text}};
    CHECK(machine.needed() == std::vector<std::string>{"missed-probes"});
    machine.system.files["/rt/linux/kprobes.c"].replace(text.find("krp->kp"), 3, "xxx");
    CHECK(machine.needed().empty());
}

TEST_CASE("ftrace calls probes where each patch fits and the kernel can give their arguments") {
    const auto workarounds = load_workarounds(WORKAROUNDS_TOML);
    REQUIRE(workarounds);
    const auto row = std::ranges::find(*workarounds, "ftrace-hooks", &Workaround::id);
    REQUIRE(row != workarounds->end());
    std::string text;
    for (const auto& patch : row->patches)
        text += patch.replace;
    Machine machine("5.6");
    const std::string autoconf = "/build/include/generated/autoconf.h";
    machine.system.files = {{"/rt/linux/kprobes.c", text},
                            {"/src/include/linux/ftrace.h", "pt_regs *ftrace_get_regs(struct ftrace_regs *fregs)"},
                            {"/src/include/linux/trace_recursion.h", "\tpreempt_disable_notrace();\n"},
                            {autoconf,
                             "#define CONFIG_X86_64 1\n#define CONFIG_KPROBES_ON_FTRACE 1\n"
                             "#define CONFIG_DYNAMIC_FTRACE_WITH_REGS 1\n"
                             "#define CONFIG_HAVE_DYNAMIC_FTRACE_WITH_ARGS 1\n"}};
    CHECK(machine.needed() == std::vector<std::string>{"ftrace-hooks"});
    machine.system.files["/rt/linux/kprobes.c"] = text.substr(1);
    CHECK(machine.needed().empty());
    machine.system.files["/rt/linux/kprobes.c"] = text;
    machine.system.files["/src/include/linux/trace_recursion.h"].clear();  // 5.11 to 5.15
    CHECK(machine.needed().empty());
    machine.system.files["/src/include/linux/trace_recursion.h"] = "\tpreempt_disable_notrace();\n";
    machine.system.files[autoconf].replace(0, 22, "#define CONFIG_ARM64 1");
    CHECK(machine.needed().empty());
}

TEST_CASE("where there is no workaround, what to do instead is the error, unless it is left out") {
    Machine machine("4.8");
    machine.system.files = {{"/rt/sym.c", "#include <asm/unaligned.h>\n"},
                            {"/src/include/linux/unaligned.h", "get_unaligned"}};
    CHECK(machine.needed() == std::vector<std::string>{"runtime-too-old"});
    const auto needed = needed_workarounds(*load_workarounds(WORKAROUNDS_TOML), machine.system, machine.target);
    const auto applied = apply_workarounds(needed, {}, machine.target, "/nowhere");
    REQUIRE(!applied);
    CHECK(applied.error().kind == base::ErrorKind::cannot_here);
    CHECK(applied.error().hint.find("SystemTap 5.1") != std::string::npos);
    CHECK(apply_workarounds(needed, {.none = false, .without = {"runtime-too-old"}}, machine.target, "/nowhere"));
    // That of Debian 13 has either.
    machine.system.files["/rt/sym.c"] = "#include <linux/unaligned.h>\n#else\n#include <asm/unaligned.h>\n";
    CHECK(machine.needed().empty());
}

TEST_CASE("a kernel that checks the bounds of arrays needs arrays of scripts without a size") {
    Machine machine("5.1");
    machine.system.files = {{"/rt/map.h", "\tstruct mhlist_head hashes[0]; /* dynamically allocated at tail */\n"}};
    CHECK(machine.needed().empty());
    machine.system.files["/build/include/generated/autoconf.h"] = "#define CONFIG_UBSAN_BOUNDS 1\n";
    CHECK(machine.needed() == std::vector<std::string>{"array-bounds"});
    machine.system.files["/rt/map.h"] = "        struct mhlist_head hashes[] __counted_by(hash_table_size);\n";
    CHECK(machine.needed().empty());
}

// The lines of SystemTap 4.8, 5.1 and 5.6. There is no such kernel in the lab: 7.3.4 was run by hand.
TEST_CASE("a kernel without task_euid needs a runtime that asks the credentials") {
    const auto folder = base::PrivateDirectory::create();
    const auto original = folder->path() / "runtime";
    fs::create_directories(original / "linux");
    const std::vector<std::tuple<std::string, std::string, std::string>> files = {
        {"task_finder2.c",
         "\ttsk_euid = from_kuid_munged(current_user_ns(), task_euid(tsk));\n#else\n\ttsk_euid = task_euid(tsk);\n",
         "\ttsk_euid = from_kuid_munged(current_user_ns(), task_cred_xxx(tsk, euid));\n#else\n"
         "\ttsk_euid = task_cred_xxx(tsk, euid);\n"},
        {"namespaces.h", "      ret = from_kuid_munged(target_user_ns, task_euid(ts));\n",
         "      ret = from_kuid_munged(target_user_ns, task_cred_xxx(ts, euid));\n"},
        {"runtime.h", "#define STP_CURRENT_EUID (from_kuid_munged(current_user_ns(), task_euid(current)))\n",
         "#define STP_CURRENT_EUID (from_kuid_munged(current_user_ns(), task_cred_xxx(current, euid)))\n"}};
    Machine machine("5.6");
    for (const auto& [name, text, patched] : files) {
        machine.system.files["/rt/linux/" + name] = text;
        REQUIRE(base::create_file(original / "linux" / name, text));
    }
    machine.system.files["/src/include/linux/cred.h"] =
        "#define task_cred_xxx(task, xxx)\n#define task_euid(task)\t\t(task_cred_xxx((task), euid))\n";
    CHECK(machine.needed().empty());
    machine.system.files["/src/include/linux/cred.h"] = "#define task_cred_xxx(task, xxx)\n";
    CHECK(machine.needed() == std::vector<std::string>{"task-euid"});

    const auto needed = needed_workarounds(*load_workarounds(WORKAROUNDS_TOML), machine.system, machine.target);
    machine.target.runtime = original;
    const auto applied = apply_workarounds(needed, {}, machine.target, folder->path() / "cache");
    REQUIRE_MESSAGE(applied, applied.error().what);
    for (const auto& [name, text, patched] : files)
        CHECK(base::read_file(applied->runtime / "linux" / name) == patched);

    machine.system.files["/rt/linux/runtime.h"] = "task_cred_xxx(current, euid)";
    machine.target.runtime = "/rt";
    CHECK(machine.needed().empty());
}

TEST_CASE("tracepoints are not checked by names that the kernel gives to others") {
    Machine machine("5.6");
    machine.system.files = {{"/rt/linux/stp_tracepoint.h",
                             "#ifdef STAPCONF_TRACEPOINT_TYPECHECK\n    check_trace_callback_type_##tc(fn);\t\t\\\n"},
                            {"/build/include/generated/autoconf.h", "#define CONFIG_ARM64 1\n"}};
    CHECK(machine.needed().empty());
    machine.system.files["/src/include/linux/tracepoint.h"] = "#define DECLARE_TRACE_EVENT(name, proto, args)\n";
    CHECK(machine.needed() == std::vector<std::string>{"trace-check"});
    machine.system.files["/build/include/generated/autoconf.h"] = "#define CONFIG_X86_64 1\n";
    CHECK(machine.needed().empty());
    machine.system.files["/build/include/generated/autoconf.h"] = "#define CONFIG_ARM64 1\n";
    machine.system.files["/rt/linux/stp_tracepoint.h"] = "check_trace_callback_type_##name(fn);";
    CHECK(machine.needed().empty());
}

TEST_CASE("a kernel that checks preemption needs the last flush on one CPU") {
    Machine machine("5.6");
    machine.system.files = {{"/rt/linux/print.c", "{\n\t\t\t__stp_print_flush(log);\n\t\t\t_stp_vfree(log->buf);\n"}};
    CHECK(machine.needed().empty());
    machine.system.files["/build/include/generated/autoconf.h"] = "#define CONFIG_DEBUG_PREEMPT 1\n";
    CHECK(machine.needed() == std::vector<std::string>{"unload-print"});
}

TEST_CASE("Debian 14, whose SystemTap knows its kernel, needs nothing") {
    Machine machine("5.6");
    machine.system.files = {{"/rt/transport/transport.c", "Can't resolve uprobe_unregister! uprobe_unregister_nosync"},
                            {"/rt/stp_task_work.c", "task_work_cancel_func"},
                            {"/src/include/linux/task_work.h", "task_work_cancel_func("},
                            {"/src/include/linux/args.h", "#define __COUNT_ARGS(_0,"},
                            {"/src/include/linux/uprobes.h", "void uprobe_unregister_nosync("}};
    CHECK(machine.needed().empty());
}

TEST_CASE("a mistake in workarounds.toml is reported with its place") {
    CHECK(error_of("[[workaround]\n").starts_with("c.toml:1:"));
    CHECK(error_of("\n[[workaround]]\nid = 3\n").starts_with("c.toml:3:"));
    CHECK(error_of("[[workaround]]\nid = 'x'\nwhy = 'y'\nspelt = 1\n").find("unknown key 'spelt'") !=
          std::string::npos);
    CHECK(error_of("[[workaround]]\nid = 'x'\nwhy = 'y'\n").find("evidence") != std::string::npos);
    CHECK(error_of("[[workaround]]\nid='x'\nwhy='y'\nmended_in='5.0'\n").find("evidence") != std::string::npos);
    CHECK(error_of("[[workaround]]\nid='x'\nwhy='y'\nstap_before='5.0'\nmended_in='5.0'\n").empty());
    CHECK(error_of("[[workaround]]\nid='x'\nwhy='y'\nstap_before='5.0'\nmended_in='5.0'\ninstead='z'\n")
              .find("one of these") != std::string::npos);
    CHECK(error_of("[[workaround]]\nid='x'\nwhy='y'\nonly_in=['z']\ninstead='z'\n[[workaround.when]]\n"
                   "file='{build}/a'\nlacks='r'\n")
              .find("goes with 'mended_in'") != std::string::npos);
    CHECK(error_of("[[workaround]]\nid='x'\nwhy='y'\n[[workaround.when]]\nfile='/etc/passwd'\ncontains='r'\n")
              .find("must begin with {runtime}/") != std::string::npos);
    CHECK(error_of("[[workaround]]\nid='x'\nwhy='y'\n[[workaround.when]]\nfile='{build}/a'\nlacks='r'\n"
                   "[[workaround.patch]]\nfile='../../x'\nreplace='a'\nwith='b'\n")
              .find("inside the runtime folder") != std::string::npos);
}

TEST_CASE("a runtime is patched in a copy, once, with the times of the original") {
    const auto folder = base::PrivateDirectory::create();
    const auto original = folder->path() / "runtime";
    const auto cache = folder->path() / "cache";
    fs::create_directories(original / "linux");
    REQUIRE(base::create_file(original / "stp_task_work.c", runtime_4_8));
    REQUIRE(base::create_file(original / "linux/other.h", "other\n"));
    const auto long_ago = fs::last_write_time(original / "linux/other.h") - std::chrono::hours(1000);
    for (const auto* name : {"stp_task_work.c", "linux/other.h", "linux", "."}) {
        fs::last_write_time(original / name, long_ago);
    }

    auto workarounds = *load_workarounds(WORKAROUNDS_TOML);
    workarounds.erase(workarounds.begin() + 1, workarounds.end());
    Target target;
    target.runtime = original;
    target.stap_version = parse_version_number("4.8");
    const auto planned = apply_workarounds(workarounds, {}, target, cache, Making::planned);
    CHECK_FALSE(fs::exists(cache));
    const auto applied = apply_workarounds(workarounds, {}, target, cache);
    REQUIRE_MESSAGE(applied, applied.error().what);
    CHECK(planned->runtime == applied->runtime);
    const auto patched = base::read_file(applied->runtime / "stp_task_work.c");
    CHECK(patched ==
          "typedef typeof(&task_work_cancel_func) task_work_cancel_fn;\n"
          "#define task_work_cancel_func (* (task_work_cancel_fn)kallsyms_task_work_cancel)\n"
          "  x = (void *)kallsyms_lookup_name(\"task_work_cancel_func\");\n"
          "  twork = task_work_cancel_func(task, func);\n");
    CHECK(base::read_file(original / "stp_task_work.c") == runtime_4_8);
    for (const auto* name : {"stp_task_work.c", "linux/other.h", "linux", "."}) {
        CAPTURE(name);
        CHECK(fs::last_write_time(applied->runtime / name) == long_ago);
    }
    const auto again = apply_workarounds(workarounds, {}, target, cache);
    REQUIRE(again);
    CHECK(again->runtime == applied->runtime);
    CHECK(std::distance(fs::directory_iterator(cache), fs::directory_iterator()) == 1);

    workarounds[0].patches.pop_back();
    const auto other = apply_workarounds(workarounds, {}, target, cache);
    REQUIRE(other);
    CHECK(other->runtime != applied->runtime);
}

TEST_CASE("a patch that does not fit leaves nothing behind") {
    const auto folder = base::PrivateDirectory::create();
    const auto original = folder->path() / "runtime";
    fs::create_directories(original);
    REQUIRE(base::create_file(original / "stp_task_work.c", "something else\n"));
    auto workarounds = *load_workarounds(WORKAROUNDS_TOML);
    workarounds.erase(workarounds.begin() + 1, workarounds.end());
    Target target;
    target.runtime = original;
    const auto applied = apply_workarounds(workarounds, {}, target, folder->path() / "cache");
    REQUIRE_FALSE(applied);
    CHECK(applied.error().what.find("does not fit") != std::string::npos);
    CHECK(fs::is_empty(folder->path() / "cache"));
}
