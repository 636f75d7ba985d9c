// The messages of stap and staprun that mean something to us. One row each, and each row has its literal line
// in tests/unit/launch/messages_test.cpp. Specific rows come before general ones. A rank says which of
// several causes to show: 90 the machine cannot, 80 a known incompatibility, 50 the script or the kernel's
// names, 30 general, 10 only says that something failed.

#include "launch/messages.h"

namespace stapgen::launch {

namespace {

using enum MessageKind;

constexpr std::string_view newer_stap = "leave out --no-workaround if you gave it, or install a newer SystemTap";

constexpr MessageRow table[] = {
    // Before pass 1
    {"no-headers", 0, failure, 90, "headers", "Checking \"*\" failed with error: *", "{1} cannot be read: {2}",
     "install the headers of this kernel: {headers}"},
    {"no-release", 0, failure, 90, "headers", "kernel release isn't found in \"*\"", "{1} is not a kernel build tree",
     "name a release or a built tree with -r"},
    {"not-permitted", 0, failure, 90, "privileges", "You are trying to run systemtap as a normal user",
     "SystemTap may not be used by this user", "run it with sudo, or join the groups stapusr and stapdev"},
    {"bad-option", 0, failure, 60, "", "unrecognized option '*'", "this SystemTap does not know the option {1}",
     "leave the option out, or install a newer SystemTap"},
    {"no-space", 0, failure, 90, "disk", "No space left on device", "no space is left on a disk",
     "make room in $TMPDIR (or /tmp) and in ~/.cache/stapgen"},
    {"symbol-table", 1, warning, 85, "symbol-table", "Kernel function symbol table missing",
     "stap has no table of this kernel's functions (a missing or a stub /boot/System.map-{release}), so no "
     "kprobe can be resolved",
     "give one with --symbols FILE (a gzip of that kernel's /proc/kallsyms will do), or give it the debuginfo: "
     "{debuginfo}",
     "kprobe-builder dwarf-builder"},  // with --debuginfo auto DWARF is tried last

    // Pass 1
    {"parse-error", 1, failure, 50, "", "parse error: *", "the script has an error: {1}",
     "mend it there and look with stapgen check; if the recipe is stapgen's, report it"},
    {"empty-script", 1, failure, 50, "", "Input file '*' is empty", "the script {1} is empty",
     "look at it with stapgen render"},

    // Pass 2. "resolution failed in X builder" comes before the "no match" that it leads to.
    {"kprobe-builder", 2, failure, 54, "symbol-table kernel", "resolution failed in kprobe builder",
     "this kernel has no function of the name that the script probes (kprobe.function)",
     "see the probe below it in the log; it was renamed or inlined in kernel {release}"},
    {"tracepoint-builder", 2, failure, 54, "kernel-options workarounds systemtap",
     "resolution failed in tracepoint builder", "stap does not find a tracepoint that the script uses",
     "it is not in kernel {release}, or the query of its headers fails in this SystemTap, or an old failure is "
     "cached: run again with --stap-option=--poison-cache"},
    {"dwarf-builder", 2, failure, 52, "symbol-table debuginfo", "resolution failed in DWARF builder",
     "this kernel has no function or variable of the name that the script probes",
     "see the probe below it in the log; it was renamed or inlined in kernel {release}"},
    {"no-debuginfo", 2, failure, 75, "debuginfo", "missing * kernel/module debuginfo*under '*'",
     "no debuginfo of kernel {release} is installed", "{debuginfo}; or take a recipe that needs none"},
    {"no-dwarf", 2, warning, 75, "debuginfo symbol-table", "cannot find module * debuginfo: No DWARF information found",
     "no debuginfo of {1} (kernel {release}) is installed", "{debuginfo}; or take a recipe that needs none",
     "dwarf-builder"},
    {"no-match-similar", 2, failure, 53, "symbol-table kernel", "no match (similar function*: *)",
     "this kernel has no such function; similar ones are: {2}",
     "it was renamed or inlined in kernel {release}: see the probe in the log"},
    {"no-match", 2, failure, 50, "symbol-table workarounds kernel systemtap", "semantic error: no match",
     "a probe point is not in this kernel",
     "see the probe above it in the log; it is not in kernel {release}, or needs debuginfo: {debuginfo}"},
    {"resolving", 2, failure, 40, "symbol-table workarounds kernel systemtap",
     "while resolving probe point: identifier '*' at *", "the probe at {2} cannot be resolved",
     "it may need debuginfo: {debuginfo}"},
    {"no-type", 2, failure, 51, "kernel systemtap", "type definition '*' not found in '*'",
     "the type {1} is not in {2}", "the kernel's headers moved it: the tapset needs another header in its @cast"},
    {"no-local", 2, failure, 51, "kernel systemtap", "unable to find local '*'",
     "the kernel function has no parameter {1} (any more)",
     "the tapset needs another alternative for kernel {release}"},
    {"no-member", 2, failure, 51, "kernel systemtap", "unable to find member '*' for *", "the field {1} is not in {2}",
     "the tapset needs another alternative for kernel {release}"},
    {"no-tracepoint-variable", 2, failure, 51, "kernel systemtap", "unable to find tracepoint variable '*'",
     "the tracepoint has no parameter {1}", "the tapset needs another alternative for kernel {release}"},
    {"unresolved-function", 2, failure, 51, "", "unresolved function *", "the script calls an unknown function: {1}",
     "a newer SystemTap may have it; else the tapset needs another alternative"},
    {"target-symbol", 2, failure, 51, "debuginfo", "target-symbol requires debuginfo",
     "the script uses a variable of the kernel that is known from debuginfo only", "{debuginfo}"},
    {"type-mismatch", 2, failure, 51, "", "type mismatch: expected * but found *",
     "the script has an error: {2} in place of {1}", "if the recipe is stapgen's, report it"},
    {"no-utrace", 2, failure, 90, "", "user-space facilities not available without kernel CONFIG_*",
     "kernel {release} has no CONFIG_{1}, which probes of user programs need in this SystemTap",
     "a SystemTap from 2.0 on needs CONFIG_UPROBES instead, which kernels from 3.5 on have"},
    {"confusing-return", 2, warning, 10, "", "confusing usage, consider @entry*",
     "a .return probe takes an argument's value at the return, when it may be another one",
     "write @entry(...) in the script where the value at the call is meant"},
    {"separate-debuginfo", 2, warning, 60, "", "Missing separate debuginfos, use: *",
     "debuginfo of kernel {release} is not installed", "as root: {1}", "dwarf-builder no-debuginfo"},
    {"no-uprobes", 2, failure, 90, "kernel-options", "process probes not available without kernel *",
     "this kernel cannot probe user processes: it lacks {1}", "take a kernel that has it"},
    {"no-probes", 2, failure, 50, "", "semantic error: no probes found", "no probe of the script is left",
     "those with an empty body are dropped: see the warnings in the log"},
    {"elided", 2, warning, 20, "", "Probe '*' has been elided", "the probe {1} does nothing and was dropped", ""},
    {"semantic-error", 2, failure, 30, "", "semantic error: *", "{1}", "see the lines below it in the log"},

    // Pass 4
    {"task-work", 4, failure, 80, "workarounds systemtap", "stp_task_work.c:* error: *",
     "this SystemTap does not fit the kernel: its runtime calls task_work_cancel the old way",
     "let stapgen apply its workaround task-work-cancel, or install a newer SystemTap"},
    {"no-struct-member", 4, failure, 80, "", "has no member named *",
     "a structure of kernel {release} has no member {1}", newer_stap},
    {"runtime-error", 4, failure, 45, "kernel-options workarounds systemtap", "systemtap/runtime/*: error: *",
     "this SystemTap does not fit the kernel: its runtime does not compile ({1}: {2})", newer_stap},
    {"compiler-missing", 4, failure, 90, "compiler", "gcc*: not found", "the compiler gcc{1} is missing",
     "install the gcc that kernel {release} was built with"},
    {"compiler-error", 4, failure, 40, "compiler workarounds systemtap", ": error: *",
     "the module does not compile: {1}", newer_stap},
    {"module-conflict", 4, failure, 45, "compiler workarounds systemtap", "ERROR: modpost: *",
     "the module does not link: {1}", newer_stap},
    {"tested-range", 4, warning, 20, "", "Kernel version * is outside tested range *",
     "kernel {1} is newer than what this SystemTap was tested with ({2})", "install a newer SystemTap"},
    {"kbuild", 4, summary, 15, "compiler headers workarounds systemtap disk", "kbuild exited with status: *",
     "the kernel's build ended with {1}", newer_stap},

    // Pass 5: loading
    {"release-mismatch", 5, failure, 90, "running-kernel", "module release mismatch (* vs *)",
     "the module was built for another kernel ({1}) than the one that runs ({2})",
     "build it again: stapgen build -r RELEASE"},
    {"version-mismatch", 5, failure, 90, "headers", "module version mismatch (* vs *), release *",
     "the module was built with the headers of another build of this release ({1}; {2} runs)",
     "install the headers that belong to the running kernel, reboot into the new one, and run again with "
     "--stap-option=--poison-cache"},
    {"insert-format", 5, failure, 90, "compiler headers", "Couldn't insert module *'*': Invalid module format",
     "the kernel refuses the module: it was built for another kernel or by another compiler",
     "see the last lines of dmesg; build it with the headers of the running kernel"},
    {"insert-symbol", 5, failure, 90, "kernel-options", "Couldn't insert module *'*': Unknown symbol in module",
     "the kernel lacks a symbol that the module needs, or the module file is not there",
     "see the last lines of dmesg for its name"},
    {"insert-permission", 5, failure, 90, "privileges modules module-signing",
     "Couldn't insert module *'*': Operation not permitted", "the kernel does not allow this module to be loaded",
     "run as root; in a container, on the host; with Secure Boot, switch module signing off or enrol a key"},
    {"insert-key", 5, failure, 90, "module-signing", "Couldn't insert module *'*': *Key was rejected by service",
     "the kernel accepts signed modules only (Secure Boot)",
     "mokutil --disable-validation, or sign modules: man stap-server"},
    {"insert-no-key", 5, failure, 90, "module-signing", "Couldn't insert module *'*': Required key not available",
     "the kernel accepts signed modules only (Secure Boot)",
     "mokutil --disable-validation, or sign modules: man stap-server"},
    {"insert-exists", 5, failure, 90, "leftovers", "Couldn't insert module *'*': File exists",
     "a module of this name is in the kernel already", "remove it: staprun -d NAME (see lsmod)"},
    {"insert-memory", 5, failure, 90, "memory", "Couldn't insert module *'*': Cannot allocate memory",
     "the kernel has no memory for the module", "ask for less: smaller tables, smaller buffers"},
    {"insert", 5, failure, 85, "privileges modules module-signing", "Couldn't insert module *'*': *",
     "the kernel refuses the module: {3}", "see the last lines of dmesg"},
    {"cannot-resolve", 5, failure, 88, "workarounds systemtap", "Can't resolve *!",
     "this SystemTap does not fit the kernel: it needs {1}, which the kernel has not", newer_stap},
    {"signing", 5, failure, 90, "module-signing", "requires modules to be signed for loading",
     "the kernel accepts signed modules only (Secure Boot)",
     "mokutil --disable-validation, or sign modules: man stap-server"},
    {"not-root", 5, failure, 90, "privileges staprun", "The effective user ID of staprun must be set to the root user",
     "staprun has lost its set-user-ID bit", "run with sudo, or install the package systemtap-runtime again"},
    {"group-only", 5, failure, 90, "privileges", "Members of the \"stapusr\" and \"stapsys\" groups can only use",
     "this user may only load modules that an administrator has put in place",
     "run with sudo, or join the group stapdev as well"},
    {"build-id", 5, failure, 88, "debuginfo", "Build-id mismatch*: *",
     "the debuginfo is of another build than the running kernel", "{debuginfo}, of exactly this build"},
    {"buffer-memory", 5, failure, 88, "memory", "Not enough free+buffered memory(*) for log buffer(*)",
     "{1} of memory are too few for buffers of {2}", "ask for smaller buffers"},
    {"registration", 5, warning, 40, "", "registration error*(rc *)", "the kernel refused a probe (error {2})",
     "that function may not be probed there: what it would have measured is missing"},
    {"rename-short", 5, warning, 10, "", "Old module name '*' is too short for renaming",
     "the module's name {1} is too short to be made unique", "only one run of it at a time is possible"},

    // Pass 5: running. The script's run is over after these.
    {"map-full", 5, failure, 70, "", "Array overflow, check * near *", "a table of the script is full ({1}, at {2})",
     "narrow what is measured, or raise it there; where it names no size: {rebuild}--stap-option=-DMAXMAPENTRIES=..."},
    {"max-action", 5, failure, 70, "", "MAXACTION exceeded", "a probe of the script took too many steps",
     "raise it: {rebuild}--stap-option=-DMAXACTION=..."},
    {"max-nesting", 5, failure, 70, "", "MAXNESTING exceeded", "functions of the script call each other too deeply",
     "raise it: {rebuild}--stap-option=-DMAXNESTING=..."},
    {"division", 5, failure, 70, "", "division by 0", "the script divided by zero", "report it with the log"},
    {"empty-aggregate", 5, failure, 70, "", "empty aggregate", "the script asked for the mean of nothing",
     "report it with the log"},
    {"read-fault", 5, failure, 70, "", "read fault*at *", "the script read memory that is not there ({2})",
     "the kernel's structures may not be as the tapset thinks: report it with the log"},
    {"copy-fault", 5, failure, 70, "", "copy fault*at *", "the script read memory that is not there ({2})",
     "the kernel's structures may not be as the tapset thinks: report it with the log"},
    {"overload-cycles", 5, failure, 71, "", "probe overhead (* cycles) exceeded threshold (* cycles) in last * cycles",
     "the probes took {1} of {3} cycles of a CPU, allowed were {2}, and SystemTap pulled the brake",
     "narrow what is measured, measure fewer sockets (--sample 8), or allow it: {rebuild}a larger --budget, or "
     "--stap-option=-DSTP_NO_OVERLOAD"},
    {"overload", 5, failure, 70, "", "probe overhead*exceeded threshold",
     "the probes took more than half of the processor's time, and SystemTap pulled the brake",
     "narrow what is measured, or allow it: {rebuild}--stap-option=-DSTP_NO_OVERLOAD"},
    {"skipped-too-many", 5, failure, 70, "", "Skipped too many probes, check MAXSKIPPED",
     "too many probes had to be skipped",
     "narrow what is measured, or allow it: {rebuild}--stap-option=-DMAXSKIPPED=..."},
    {"errors-skipped", 5, loss, 30, "", "Number of errors: *, skipped probes: *",
     "{1} errors in probes, {2} probes skipped", "the result is incomplete: narrow what is measured"},
    {"transport", 5, loss, 30, "", "There were * transport failures.", "{1} records did not fit into the buffers",
     "fewer records (name a target), or a larger buffer (-s)"},
    {"lost", 5, loss, 30, "", "There were * lost messages, * lost bytes", "{1} records ({2} bytes) were lost",
     "fewer records (name a target), or a larger buffer (-s)"},
    {"missed-kretprobe", 5, loss, 25, "", "Skipped due to missed kretprobe/* on '*': *", "{3} returns of {2} missed",
     "raise it: {rebuild}--stap-option=-DKRETACTIVE=..."},
    {"missed-kprobe", 5, loss, 25, "", "Skipped due to missed kprobe on '*': *", "{2} calls of {1} missed", ""},
    {"skipped-because", 5, loss, 20, "", "Skipped due to *: *", "{2} probes skipped: {1}", ""},
    {"pending", 5, loss, 25, "", "too many pending * messages", "messages of the script were lost ({1})", ""},
    {"output", 5, failure, 60, "disk", "Couldn't write to output * for cpu *", "the output could not be written",
     "see whether the disk is full"},
    {"no-unwind-data", 5, warning, 10, "", "Missing unwind data for a module, rerun with 'stap -d *'",
     "call stacks end where they reach {1}: its unwind data is not in the module",
     "--stap-option=-d --stap-option={1} puts it there; counts and durations are right without it"},
    {"clock", 5, warning, 20, "", "seqlock timeout; see STP_TIMELOCK", "the script's clock was slow to answer", ""},

    // Only that something failed
    {"pass-failed", 0, summary, 10, "", "Pass *: * failed.", "stap failed in pass {1} ({2})", "see the log"},
    {"run-error", 5, failure, 20, "", "ERROR: *", "{1}", "see the log"},
};

}  // namespace

std::span<const MessageRow> message_table() {
    return table;
}

}  // namespace stapgen::launch
