// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>

#include "fakes/system/fake_system.h"
#include "host/workarounds.h"

using namespace stapgen;
using namespace stapgen::host;
namespace fs = std::filesystem;

namespace {

using Ids = std::vector<std::string>;
using Files = std::map<fs::path, std::string>;

std::string text_if(bool condition, std::string_view then, std::string_view otherwise = "") {
    return std::string(condition ? then : otherwise);
}

/// What the faults of SystemTap are known by, as each release has it.
Files runtime_of(std::string_view version) {
    const auto at_least = [&](std::string_view other) {
        return !(*parse_version_number(version) < *parse_version_number(other));
    };
    const std::string look_up = "kallsyms_on_each_symbol(stapkp_symbol_callback, &sd);\n";
    std::string kprobes;
    for (const std::string indent : {"       ", "\t "}) {
        const auto before = indent + "preempt_disable();\n", after = indent + "preempt_enable();\n";
        kprobes += "#endif\n" + text_if(!at_least("5.0"), before) + indent + look_up + text_if(!at_least("5.0"), after);
    }
    return {
        {"/rt/linux/runtime_context.h",
         text_if(at_least("4.9"), "\tpreempt_disable();\n\tif (unlikely(_stp_runtime_get_context() == NULL)) {\n",
                 "\n\tif (unlikely(_stp_runtime_get_context() == NULL))\n\t\treturn false;\n\n\tpreempt_disable();\n")},
        {"/rt/linux/kprobes.c", kprobes},
        {"/rt/stat.c",
         "{\n\tstat_data *sd = _stp_stat_per_cpu_ptr (st, STAT_GET_CPU());\n\tSTAT_LOCK(sd);\n"
         "\t__stp_stat_add (&st->hist, sd, val, stat_op_count, stat_op_sum,\n"
         "\t                stat_op_min, stat_op_max, stat_op_variance);\n\tSTAT_UNLOCK(sd);\n\tSTAT_PUT_CPU();\n}\n"
         "{\n\tif (st)\n\t\t_stp_stat_free(st);\n}\n"},
        {"/rt/transport/transport.c",
         "  kallsyms_x = (void*) kallsyms_lookup_name (\"x\");\n" + text_if(at_least("5.0"), "  cond_resched();\n")},
        {"/rt/mempool.c", text_if(at_least("5.1"), "\tstp_nmi_spin_lock_irqsave(&pool->lock, flags, no_lock);\n",
                                  "\tstp_spin_lock_irqsave(&pool->lock, flags);\n")},
        {"/rt/linux/addr-map.c", "lookup_bad_addr_user(" + text_if(at_least("5.0"), "stp_nmi_uaccess_okay()")},
        {"/rt/linux/copy.c",
         text_if(at_least("5.0") && !at_least("5.2"),
                 "\t\tif (!stp_user_access_begin(VERIFY_READ, src, count, &oldfs, STP_USER_DS))\n\t\t\tgoto done;\n") +
             "                pagefault_disable();\n"},
        {"/rt/linux/uprobes-inode.c",
         text_if(at_least("5.0"), "/* PR31014 */") + "stapiu_init(\n" +
             text_if(at_least("5.5"), "#if !defined(UPROBE_HANDLER_MASK) &&", "#ifndef UPROBE_HANDLER_MASK")},
        {"/rt/linux/perf.h", "struct stap_perf_probe {" + text_if(at_least("4.6"), "struct mutex cb_lock;")},
        {"/rt/transport/control.c", "_stp_ctl_poll_cmd" + text_if(at_least("4.6"), "\t__module_get(THIS_MODULE);")},
        {"/rt/transport/procfs.c", "_stp_mkdir_proc_module" + text_if(at_least("4.7"), "_stp_proc_dir_exists")},
        {"/rt/transport/relay_v2.c", "__stp_relay_wakeup_readers" + text_if(at_least("4.8"), "__stp_relay_file_open")},
    };
}

std::vector<Workaround> needed(std::string_view version, const Files& files) {
    const auto table = load_workarounds(WORKAROUNDS_TOML);
    REQUIRE_MESSAGE(table, table.error().what);
    FakeSystem system;
    system.files = files;
    Target target;
    target.stap_version = parse_version_number(version);
    target.runtime = "/rt";
    target.build = "/build";
    target.source = "/src";
    return needed_workarounds(*table, system, target);
}

Ids ids_of(const std::vector<Workaround>& rows) {
    Ids ids;
    for (const auto& row : rows)
        ids.push_back(row.id);
    return ids;
}

Ids faults_of(std::string_view version) {
    return ids_of(needed(version, runtime_of(version)));
}

}  // namespace

TEST_CASE("SystemTap's own faults are those of its release") {
    CHECK(faults_of("4.8") == Ids{"context-cpu", "symbols-preempt", "timing-cpu", "timing-free", "names-preempt",
                                  "branch-locks", "nmi-locks", "user-memory", "process-wait"});
    CHECK(faults_of("5.0") == Ids{"timing-cpu", "nmi-locks", "user-faults"});
    CHECK(faults_of("5.1") == Ids{"user-faults"});
    CHECK(faults_of("5.2").empty());
    CHECK(faults_of("5.6").empty());
    const auto old = faults_of("4.5");
    for (const auto* id : {"perf-unload", "unload-poll", "two-modules", "cpu-hotplug", "tracepoint-unload"})
        CHECK(std::ranges::count(old, id) == 1);
}

TEST_CASE("a package with a mend of a later release does not have the fault") {
    auto files = runtime_of("4.8");
    files["/rt/linux/kprobes.c"] = runtime_of("5.0")["/rt/linux/kprobes.c"];
    files["/rt/linux/runtime_context.h"] = runtime_of("4.9")["/rt/linux/runtime_context.h"];
    const auto ids = ids_of(needed("4.8", files));
    CHECK(std::ranges::count(ids, "symbols-preempt") == 0);
    CHECK(std::ranges::count(ids, "context-cpu") == 0);
    CHECK(std::ranges::count(ids, "timing-cpu") == 1);
}

TEST_CASE("a probe in a process is off where SystemTap does not know the kernel's uprobes") {
    auto files = runtime_of("5.2");
    files["/src/include/linux/uprobes.h"] = "#define UPROBE_HANDLER_MASK 1\nuprobe_register(";
    CHECK(needed("5.2", files).empty());
    files["/src/include/linux/uprobes.h"] = "uprobe_register(";
    CHECK(ids_of(needed("5.2", files)) == Ids{"process-address"});
}

TEST_CASE("faults that are mended are one line for the user, with their names") {
    const auto rows = needed("4.8", runtime_of("4.8"));
    Target target;
    target.runtime = "/rt";
    const auto applied =
        apply_workarounds(rows, {.none = false, .without = {"timing-free"}}, target, "/nowhere", Making::planned);
    REQUIRE(applied);
    CHECK(applied->lines == Ids{"workaround: context-cpu, symbols-preempt, timing-cpu, names-preempt: faults of this "
                                "SystemTap that can harm the host; a private, patched copy of its runtime is used"});
    CHECK(!applied->runtime.empty());
}

TEST_CASE("a fault without a remedy changes nothing of a run, and a script of one's own that meets it is told") {
    const auto rows = needed("4.8", {{"/rt/mempool.c", "\tstp_spin_lock_irqsave(&pool->lock, flags);\n"}});
    CHECK(ids_of(rows) == Ids{"branch-locks", "nmi-locks"});
    const auto applied = apply_workarounds(rows, {}, {}, "/nowhere");
    REQUIRE(applied);
    CHECK(applied->lines.empty());
    CHECK(applied->runtime.empty());
    CHECK(faults_met(rows, "probe begin { exit(is_global (x)); y_perf.z }").empty());
    const auto met = faults_met(rows, "global n\nprobe perf.hw.cpu_cycles { n++ }");
    CHECK(faults_met(needed("4.5", runtime_of("4.5")), "").front() ==
          "warning: unload-poll: when a module of this SystemTap is unloaded while stapio waits for it, the kernel may "
          "crash; fixed in SystemTap 4.6");
    REQUIRE(met.size() == 2);
    CHECK(met[0].starts_with("warning: branch-locks: "));
    CHECK(met[1].starts_with("warning: nmi-locks: "));
    CHECK(met[1].ends_with("(the script has 'perf.hw'); fixed in SystemTap 5.1"));
}
