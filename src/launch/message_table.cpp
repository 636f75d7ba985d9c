// SPDX-License-Identifier: GPL-2.0-or-later
// The messages of stap and staprun that mean something to us. One row each, and each row has its literal line
// in tests/unit/launch/messages_test.cpp. Specific rows come before general ones.

#include "launch/messages.h"

namespace stapgen::launch {

namespace {

using enum MessageKind;
using enum CauseLevel;

constexpr std::string_view newer_stap = "omit --no-workaround if you gave it, or install a newer SystemTap";
constexpr std::string_view other_tapset = "a newer SystemTap may have it; else the tapset needs another alternative";
constexpr std::string_view other_probe =
    "correct its name (stap --dump-probe-aliases lists what there is); a newer SystemTap may have it";
constexpr std::string_view other_variable =
    "omit it where it is not there: @defined($x), or --stap-option=--skip-badvars; stap -L 'PROBE' lists what there is";
constexpr std::string_view sign_module =
    "sign the module: --sign KEY,CERT of the run or of 'stapgen build' ('stapgen doctor' says how to make and enrol "
    "a key); or: mokutil --disable-validation; if it is signed, enrol the key: mokutil --import";

constexpr MessageRow table[] = {
    // Before pass 1
    {"no-headers", 0, failure, machine, "headers", "Checking \"*\" failed with error: *", "{1} cannot be read: {2}",
     "install the headers of this kernel: {headers}"},
    {"no-devel", 0, failure, machine, "headers", "missing kernel-devel package, use: *",
     "the headers of kernel {release} are not installed, or those of another build are", "as root: {1}", "no-headers"},
    {"no-release", 0, failure, machine, "headers", "kernel release isn't found in \"*\"",
     "{1} is not a kernel build tree", "name a release or a built tree with -r"},
    {"not-permitted", 0, failure, machine, "privileges", "You are trying to run systemtap as a normal user",
     "this user may not use SystemTap", "run it with sudo, or join the groups stapusr and stapdev"},
    {"bad-option", 0, failure, run, "", "unrecognized option '*'", "this SystemTap does not have the option {1}",
     "omit the option, or install a newer SystemTap"},
    {"no-space", 0, failure, machine, "disk", "No space left on device", "a disk is full",
     "free some space in $TMPDIR (or /tmp) and in ~/.cache/stapgen"},
    {"symbol-table", 1, warning, system, "symbol-table", "Kernel function symbol table missing",
     "stap has no table of this kernel's functions (a missing or a stub /boot/System.map-{release}), so no "
     "kprobe can be resolved",
     "give one with --symbols FILE (a gzip of that kernel's /proc/kallsyms), or install the debuginfo: {debuginfo}",
     "kprobe-builder dwarf-builder"},  // with --debuginfo auto DWARF is tried last

    // Pass 1
    {"parse-error", 1, failure, script, "", "parse error: *", "the script has an error: {1}",
     "fix it there and run stapgen check; if the recipe is stapgen's, report it"},
    {"empty-script", 1, failure, script, "", "Input file '*' is empty", "the script {1} is empty",
     "print it with stapgen render"},

    // Pass 2. "resolution failed in X builder" comes before the "no match" that it leads to.
    {"kprobe-builder", 2, failure, script, "symbol-table kernel", "resolution failed in kprobe builder",
     "the script probes a function that this kernel does not have (kprobe.function)",
     "the log names the probe below this message; the function was renamed or inlined in kernel {release}"},
    {"tracepoint-builder", 2, failure, script, "kernel-options workarounds systemtap",
     "resolution failed in tracepoint builder", "stap does not find a tracepoint that the script uses",
     "kernel {release} does not have it, or this SystemTap's query of the headers fails, or an old failure is cached: "
     "run again with --stap-option=--poison-cache"},
    {"dwarf-builder", 2, failure, script, "symbol-table debuginfo", "resolution failed in DWARF builder",
     "the script probes a function or variable that this kernel does not have",
     "the log names the probe below this message; the function was renamed or inlined in kernel {release}"},
    {"no-debuginfo", 2, failure, system, "debuginfo", "missing * kernel/module debuginfo*under '*'",
     "no debuginfo of kernel {release} is installed", "{debuginfo}; or use a recipe that needs none"},
    {"no-dwarf", 2, warning, system, "debuginfo symbol-table",
     "cannot find module * debuginfo: No DWARF information found",
     "no debuginfo of {1} (kernel {release}) is installed", "{debuginfo}; or use a recipe that needs none",
     "dwarf-builder"},
    {"no-match-similar", 2, failure, script, "symbol-table kernel", "no match (similar function*: *)",
     "this kernel has no such function; similar ones are: {2}",
     "it was renamed or inlined in kernel {release}; the log names the probe"},
    {"no-match", 2, failure, script, "symbol-table workarounds kernel systemtap", "semantic error: no match",
     "a probe point is not in this kernel",
     "the log names the probe above this message; it is not in kernel {release}, or needs debuginfo: {debuginfo}"},
    {"resolving-process", 2, failure, context, "", "while resolving probe point: identifier 'process' at *",
     "the probe of a program at {1} cannot be resolved: the program has no such function or mark, or no debuginfo of "
     "its own",
     "the kernel's debuginfo does not help; stap -L 'process(\"PATH\").function(\"NAME\")' prints it if it is there; "
     "install "
     "the program's debuginfo (debuginfo-install PACKAGE, or PACKAGE-dbgsym), or correct the path or the name",
     "no-match no-match-similar dwarf-builder"},
    {"resolving", 2, failure, context, "symbol-table workarounds kernel systemtap",
     "while resolving probe point: identifier '*' at *", "the probe at {2} cannot be resolved",
     "it may need debuginfo: {debuginfo}"},
    {"no-type", 2, failure, script, "kernel systemtap", "type definition '*' not found in '*'",
     "the type {1} is not in {2}", "the kernel's headers moved it: the tapset needs another header in its @cast"},
    {"no-local", 2, failure, script, "kernel systemtap", "unable to find local '*'",
     "the kernel function no longer has the parameter {1}",
     "the tapset needs another alternative for kernel {release}"},
    {"no-member", 2, failure, script, "kernel systemtap", "unable to find member '*' for *",
     "the field {1} is not in {2}", "the tapset needs another alternative for kernel {release}"},
    {"no-tracepoint-variable", 2, failure, script, "kernel systemtap", "unable to find tracepoint variable '*'",
     "the tracepoint has no parameter {1}", "the tapset needs another alternative for kernel {release}"},
    {"unresolved-similar", 2, failure, script, "", "unresolved function*(similar: *): identifier '*' at *",
     "the script calls an unknown function at {4}: {3}; similar ones are {2}", other_tapset},
    {"unresolved-unnamed", 2, failure, script, "", "unresolved function (similar: *)",
     "the script calls an unknown function; similar ones are {1}", other_tapset},
    {"unresolved-function", 2, failure, script, "", "unresolved function *",
     "the script calls an unknown function: {1}", other_tapset},
    {"probe-mismatch-similar", 2, failure, script, "", "probe point mismatch*(similar: *): identifier '*' at *",
     "this SystemTap has no probe with {3}, which the script names at {4}; similar words are {2}", other_probe},
    {"probe-mismatch", 2, failure, script, "", "probe point mismatch*",
     "the script names a probe that this SystemTap does not have", other_probe},
    {"not-accessible", 2, failure, script, "", "not accessible at this address*: identifier '*' at *",
     "the variable {2}, used at {3}, is not there at that place of the code: the compiler keeps it elsewhere or "
     "nowhere",
     other_variable},
    {"not-accessible-unnamed", 2, failure, script, "", "not accessible at this address",
     "a variable of the script is not there at that place of the code: the compiler keeps it elsewhere or nowhere",
     other_variable},
    {"processing", 2, failure, outcome, "", "while processing probe *", "a probe cannot be made: {1}", "{log}"},
    {"target-symbol", 2, failure, script, "debuginfo", "target-symbol requires debuginfo",
     "the script uses a kernel variable, which needs debuginfo", "{debuginfo}"},
    {"type-mismatch", 2, failure, script, "", "type mismatch: expected * but found *",
     "the script has an error: {2} instead of {1}", "if the recipe is stapgen's, report it"},
    {"no-utrace", 2, failure, machine, "", "user-space facilities not available without kernel CONFIG_*",
     "kernel {release} has no CONFIG_{1}, which probes of user programs need in this SystemTap",
     "SystemTap 2.0 and later needs CONFIG_UPROBES instead, which kernels since 3.5 have"},
    {"confusing-return", 2, warning, outcome, "", "confusing usage, consider @entry*",
     "a .return probe reads an argument at the return, when its value may have changed",
     "write @entry(...) in the script for the value at the call"},
    {"separate-debuginfo", 2, warning, system, "", "Missing separate debuginfos, use: *",
     "debuginfo of kernel {release} is not installed", "as root: {1}", "dwarf-builder no-debuginfo"},
    {"no-uprobes", 2, failure, machine, "kernel-options", "process probes not available without kernel *",
     "this kernel cannot probe user processes: it lacks {1}", "use a kernel that has it"},
    {"no-probes", 2, failure, script, "", "semantic error: no probes found", "the script has no probes left",
     "SystemTap drops probes with an empty body: see the warnings in the log"},
    {"elided", 2, warning, outcome, "", "Probe '*' has been elided",
     "SystemTap dropped the probe {1}, which does nothing", ""},
    {"semantic-error", 2, failure, general, "", "semantic error: *", "{1}",
     "see the lines below this message in the log"},

    // Pass 4
    {"task-work", 4, failure, system, "workarounds systemtap", "stp_task_work.c:* error: *",
     "this SystemTap does not fit the kernel: its runtime uses the old task_work_cancel",
     "allow the workaround task-work-cancel, or install a newer SystemTap"},
    {"no-struct-member", 4, failure, system, "", "has no member named *",
     "a structure of kernel {release} has no member {1}", newer_stap},
    {"runtime-error", 4, failure, general, "kernel-options workarounds systemtap", "systemtap/runtime/*: error: *",
     "this SystemTap does not fit the kernel: its runtime does not compile ({1}: {2})", newer_stap},
    {"compiler-missing", 4, failure, machine, "compiler", "gcc*: not found", "the compiler gcc{1} is missing",
     "install the gcc that kernel {release} was built with"},
    {"compiler-error", 4, failure, context, "compiler workarounds systemtap", ": error: *",
     "the module does not compile: {1}", newer_stap},
    {"module-conflict", 4, failure, general, "compiler workarounds systemtap", "ERROR: modpost: *",
     "the module does not link: {1}", newer_stap},
    {"tested-range", 4, warning, outcome, "", "Kernel version * is outside tested range *",
     "kernel {1} is newer than this SystemTap supports ({2})", "install a newer SystemTap"},
    {"kbuild", 4, failure, outcome, "compiler headers workarounds systemtap disk", "kbuild exited with status: *",
     "the kernel's build failed: {1}", newer_stap},

    // Pass 5: loading
    {"release-mismatch", 5, failure, machine, "running-kernel", "module release mismatch (* vs *)",
     "the module was built for kernel {1}, but {2} is running", "build it again: stapgen build -r RELEASE"},
    {"version-mismatch", 5, failure, machine, "headers", "module version mismatch (* vs *), release *",
     "the module was built with the headers of another build of this release ({1}; {2} is running)",
     "install the headers of the running kernel, or reboot into the new one, then run again with "
     "--stap-option=--poison-cache"},
    {"insert-format", 5, failure, machine, "compiler headers", "Couldn't insert module *'*': Invalid module format",
     "the kernel refuses the module: built for another kernel, by another compiler, or without versions of symbols",
     "see the last lines of dmesg; build it with the headers of the running kernel; if it was (Ubuntu 24.04 with -g): "
     "{rebuild}--stap-option=-BCONFIG_MODVERSIONS=y"},
    {"no-symbol-version", 5, failure, machine, "headers", "no symbol version for *",
     "the kernel wants versions of symbols ({1}), which the module lacks (Ubuntu 24.04 with -g)",
     "{rebuild}--stap-option=-BCONFIG_MODVERSIONS=y", "insert-format"},
    {"lockdown", 5, failure, machine, "module-signing", "Lockdown: *: unsigned module loading is restricted",
     "the kernel accepts signed modules only (lockdown, from Secure Boot or lockdown= at boot)", sign_module,
     "insert-permission insert-key insert-no-key insert"},
    {"insert-symbol", 5, failure, machine, "kernel-options", "Couldn't insert module *'*': Unknown symbol in module",
     "the kernel lacks a symbol that the module needs, or the module file does not exist",
     "the last lines of dmesg name it"},
    {"insert-permission", 5, failure, machine, "privileges modules module-signing",
     "Couldn't insert module *'*': Operation not permitted", "the kernel does not allow this module to be loaded",
     "run as root; in a container, on the host; with Secure Boot, switch module signing off or enrol a key"},
    {"insert-key", 5, failure, machine, "module-signing", "Couldn't insert module *'*': *Key was rejected by service",
     "the kernel accepts signed modules only (Secure Boot)", sign_module},
    {"insert-no-key", 5, failure, machine, "module-signing", "Couldn't insert module *'*': Required key not available",
     "the kernel accepts signed modules only (Secure Boot)", sign_module},
    {"insert-exists", 5, failure, machine, "leftovers", "Couldn't insert module *'*': File exists",
     "a module of this name is already loaded", "remove it: staprun -d NAME (see lsmod)"},
    {"insert-memory", 5, failure, machine, "memory", "Couldn't insert module *'*': Cannot allocate memory",
     "the kernel has not enough memory for the module", "use smaller buffers (-s) or smaller tables"},
    {"insert", 5, failure, system, "privileges modules module-signing", "Couldn't insert module *'*': *",
     "the kernel refuses the module: {3}", "see the last lines of dmesg"},
    {"no-server", 5, failure, machine, "module-signing privileges", "nable to find a suitable compile*server",
     "stap wants a compile server to sign the module (Secure Boot, or a user who is not in the group stapdev), and "
     "there "
     "is none",
     "run with sudo; with Secure Boot "
     "sign the module with a key that the kernel trusts (--sign KEY,CERT), or: mokutil --disable-validation"},
    {"control-channel", 5, failure, run, "privileges", "Cannot attach to module * control channel; not running?",
     "staprun does not find the files of its module {1}: it did not start, or /sys/kernel/debug cannot be read "
     "(lockdown, a container, not mounted)",
     "see the last lines of dmesg; mount -t debugfs none /sys/kernel/debug; in a container, run it on the host; under "
     "lockdown a newer SystemTap, which uses /proc"},
    {"long-name", 5, failure, run, "systemtap", "reloc name too long: *",
     "the name of a function in /proc/kallsyms is longer than this SystemTap takes: {1}", newer_stap},
    {"bpf-load", 5, failure, run, "", "bpf program load failed: *",
     "the kernel refuses the BPF program of stap --bpf: {1}",
     "omit --bpf (--runtime=bpf), so that stap makes a kernel module; if it is not permitted, run with sudo"},
    {"cannot-resolve", 5, failure, machine, "workarounds systemtap", "Can't resolve *!",
     "this SystemTap does not fit the kernel: it needs {1}, which the kernel does not have", newer_stap},
    {"signing", 5, failure, machine, "module-signing", "requires modules to be signed for loading",
     "the kernel accepts signed modules only (Secure Boot)", sign_module},
    {"not-root", 5, failure, machine, "privileges staprun",
     "The effective user ID of staprun must be set to the root user", "staprun has lost its set-user-ID bit",
     "run with sudo, or reinstall the package systemtap-runtime"},
    {"group-only", 5, failure, machine, "privileges", "Members of the \"stapusr\" and \"stapsys\" groups can only use",
     "this user may only load modules installed by an administrator", "run with sudo, or also join the group stapdev"},
    {"build-id", 5, failure, machine, "debuginfo", "Build-id mismatch*: *",
     "the debuginfo belongs to another build of the kernel", "{debuginfo}, of exactly this build"},
    {"buffer-memory", 5, failure, machine, "memory", "Not enough free+buffered memory(*) for log buffer(*)",
     "{1} of free memory are not enough for buffers of {2}", "use smaller buffers (-s)"},
    {"registration", 5, warning, outcome, "", "registration error*(rc *)", "the kernel refused a probe (error {2})",
     "that function cannot be probed there: its measurements are missing"},
    {"ftrace-off", 5, warning, outcome, "", "ftrace refuses to call probes (rc *)",
     "the kernel's ftrace does not call probes of functions (error {1}): they see nothing",
     "switch it on: sysctl kernel.ftrace_enabled=1"},
    {"rename-short", 5, warning, outcome, "", "Old module name '*' is too short for renaming",
     "the module's name {1} is too short to be made unique", "only one run of it can be active at a time"},

    // Pass 5: running. The script's run is over after these.
    {"map-full", 5, failure, run, "", "Array overflow, check * near *", "a table of the script is full ({1}, at {2})",
     "measure less, or raise the limit there; without a size in the script: "
     "{rebuild}--stap-option=-DMAXMAPENTRIES=..."},
    {"max-action", 5, failure, run, "", "MAXACTION exceeded", "a probe of the script exceeded its limit of steps",
     "raise it: {rebuild}--stap-option=-DMAXACTION=..."},
    {"max-nesting", 5, failure, run, "", "MAXNESTING exceeded", "functions of the script call each other too deeply",
     "raise it: {rebuild}--stap-option=-DMAXNESTING=..."},
    {"division", 5, failure, run, "", "division by 0", "the script divided by zero", "report it with the log"},
    {"empty-aggregate", 5, failure, run, "", "empty aggregate", "the script computed a mean of no values",
     "report it with the log"},
    {"read-fault", 5, failure, run, "", "read fault*at *", "the script read invalid memory ({2})",
     "the kernel's structures may differ from the tapset's: report it with the log"},
    {"copy-fault", 5, failure, run, "", "copy fault*at *", "the script read invalid memory ({2})",
     "the kernel's structures may differ from the tapset's: report it with the log"},
    {"overload-cycles", 5, failure, overload, "",
     "probe overhead (* cycles) exceeded threshold (* cycles) in last * cycles",
     "the probes took {1} of {3} cycles of a CPU, more than the limit of {2}: SystemTap ended the run",
     "measure less, sample sockets (--sample 8), or raise the limit: {rebuild}a larger --budget, or "
     "--stap-option=-DSTP_NO_OVERLOAD"},
    {"overload", 5, failure, overload, "", "probe overhead*exceeded threshold",
     "the probes took more than half of a CPU: SystemTap ended the run",
     "measure less, or raise the limit: {rebuild}--stap-option=-DSTP_NO_OVERLOAD"},
    {"skipped-too-many", 5, failure, run, "", "Skipped too many probes, check MAXSKIPPED",
     "too many probes were skipped", "measure less, or raise the limit: {rebuild}--stap-option=-DMAXSKIPPED=..."},
    {"errors-skipped", 5, loss, outcome, "", "Number of errors: *, skipped probes: *",
     "{1} errors in probes, {2} probes skipped", "the result is incomplete: measure less"},
    {"transport", 5, loss, outcome, "", "There were * transport failures.", "{1} records did not fit into the buffers",
     "reduce the records (name a target), or use a larger buffer (-s)"},
    {"lost", 5, loss, outcome, "", "There were * lost messages, * lost bytes", "{1} records ({2} bytes) were lost",
     "reduce the records (name a target), or use a larger buffer (-s)"},
    {"missed-kretprobe", 5, loss, outcome, "", "Skipped due to missed kretprobe/* on '*': *",
     "{3} returns of {2} missed", "raise it: {rebuild}--stap-option=-DKRETACTIVE=..."},
    {"missed-kprobe", 5, loss, outcome, "", "Skipped due to missed kprobe on '*': *", "{2} calls of {1} missed", ""},
    {"skipped-because", 5, loss, outcome, "", "Skipped due to *: *", "{2} probes skipped: {1}", ""},
    {"pending", 5, loss, outcome, "", "too many pending * messages", "messages of the script were lost ({1})", ""},
    {"output", 5, failure, run, "disk", "Couldn't write to output * for cpu *", "the output could not be written",
     "check whether the disk is full"},
    {"no-unwind-data", 5, warning, outcome, "", "Missing unwind data for a module, rerun with 'stap -d *'",
     "call stacks end at {1}: the module lacks its unwind data",
     "--stap-option=-d --stap-option={1} adds it; counts and durations are correct without it"},
    {"clock", 5, warning, outcome, "", "seqlock timeout; see STP_TIMELOCK", "the script's clock was slow", ""},

    // Only that something failed
    {"pass-failed", 0, failure, outcome, "", "Pass *: * failed.", "stap failed in pass {1} ({2})", "{log}"},
    {"run-error", 5, failure, context, "", "ERROR: *", "{1}", "{log}"},
};

}  // namespace

std::span<const MessageRow> message_table() {
    return table;
}

}  // namespace stapgen::launch
