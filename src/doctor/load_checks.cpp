// SPDX-License-Identifier: GPL-2.0-or-later
// What decides whether this machine's kernel takes a module from this user.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "base/text.h"
#include "doctor/checks.h"
#include "host/facts.h"
#include "host/keys.h"

namespace stapgen::doctor {

namespace {

/// The value of a line "Key:<tab>value" of /proc/self/status.
std::string_view field_of(std::string_view status, std::string_view key) {
    for (const auto line : base::split(status, '\n')) {
        if (line.starts_with(key)) return base::trim(line.substr(key.size()));
    }
    return {};
}

/// Bit 16 of linux/capability.h. Where the mask cannot be read it is not known, and there is no reason to say no.
bool may_load(const host::System& system) {
    const auto status = system.read("/proc/self/status").value_or("");
    const auto mask = base::to_unsigned(field_of(status, "CapEff:"), 16);
    return !mask || (*mask >> 16 & 1) != 0;
}

/// Root of a container's user namespace has all capabilities there, and none that counts for the kernel.
bool in_user_namespace(const host::System& system) {
    const auto map = system.read("/proc/self/uid_map").value_or("");
    const auto fields = base::words(base::split(map, '\n')[0]);
    return fields.size() == 3 && fields[2] != "4294967295";
}

bool secure_boot(const host::System& system) {
    // The variable's attributes, 4 bytes, and its value; the UEFI specification has the GUID.
    const auto variable =
        system.read("/sys/firmware/efi/efivars/SecureBoot-8be4df61-93ca-11d2-aa0d-00e098032b8c").value_or("");
    return variable.size() == 5 && variable[4] == '\1';
}

/// The kernel's argument of this name, the last one: "lockdown" of "lockdown=integrity".
std::string argument_of(std::string_view command_line, std::string_view name) {
    std::string value;
    for (const auto word : base::words(command_line)) {
        const auto equals = std::min(word.find('='), word.size());
        if (word.substr(0, equals) == name) value = word.substr(std::min(equals + 1, word.size()));
    }
    return value;
}

/// What makes the kernel refuse modules without a signature that it knows; empty: nothing is seen.
std::string refusal_of_unsigned(const host::System& system) {
    const auto lockdown = short_text(system, "/sys/kernel/security/lockdown");
    for (const auto* mode : {"integrity", "confidentiality"}) {
        if (lockdown.find(fmt::format("[{}]", mode)) != std::string::npos) {
            return fmt::format("kernel lockdown is \"{}\" (/sys/kernel/security/lockdown)", mode);
        }
        // That file is only there where securityfs is mounted.
        if (lockdown.empty() && argument_of(short_text(system, "/proc/cmdline"), "lockdown") == mode) {
            return fmt::format("kernel lockdown is \"{}\" (lockdown= in /proc/cmdline)", mode);
        }
    }
    if (short_text(system, "/sys/module/module/parameters/sig_enforce") == "Y") {
        return "module signatures are enforced (/sys/module/module/parameters/sig_enforce)";
    }
    return {};
}

}  // namespace

Check module(const host::System& system, const Question& question) {
    if (!question.module) return {};
    const auto& [file, name, recipe, release, architecture] = *question.module;
    const auto found = fmt::format("{} ({}{}) is for kernel {} on {}", file, name, recipe.empty() ? "" : ", " + recipe,
                                   release, architecture);
    const auto machine = system.running_architecture();
    const auto running = system.running_release();
    const Remedy rebuild{"build one", host::everywhere(fmt::format("stapgen build RECIPE -r {} -o FILE.ko", running))};
    if (architecture != machine) return missing(fmt::format("{}; this machine is {}", found, machine), rebuild);
    if (release != running) return missing(fmt::format("{}; {} runs here", found, running), rebuild);
    return ok(found);
}

Check privileges(const host::System& system, const Question& /*question*/) {
    if (system.is_root() && in_user_namespace(system)) {
        return missing("not allowed to load kernel modules: root in a user namespace only (/proc/self/uid_map)",
                       {"run it as root of the host, outside of the container"});
    }
    if (system.is_root() && !may_load(system)) {
        return missing("not allowed to load kernel modules: root without CAP_SYS_MODULE (CapEff in /proc/self/status)",
                       {"run it on the host, or give the container --privileged and the host's /lib/modules and "
                        "/usr/src"});
    }
    if (system.is_root()) return ok("root");
    const auto groups = system.groups();
    if (groups.contains("stapdev") && groups.contains("stapusr")) return ok("in the groups stapusr and stapdev");
    return missing("not allowed to load kernel modules: neither root nor in the groups stapusr and stapdev",
                   {"run it with sudo, or let root add you to the groups and log in again",
                    host::everywhere("usermod -aG stapusr,stapdev USER"),
                    {}});
}

Check modules(const host::System& system, const Question& /*question*/) {
    if (!system.exists(host::modules_file)) {
        return missing("the running kernel does not support modules (no /proc/modules)",
                       {"use a distribution's kernel; in a container or a small virtual machine, run this on the host "
                        "or in stapgen's lab"});
    }
    if (short_text(system, "/proc/sys/kernel/modules_disabled") == "1") {
        return missing("kernel.modules_disabled is 1: no module can be loaded until the next boot",
                       {"reboot; this finds the file that sets it",
                        host::everywhere("grep -rs modules_disabled /etc/sysctl.* /usr/lib/sysctl.d /run/sysctl.d"),
                        {}});
    }
    return ok("modules can be loaded; kernel.modules_disabled is not set");
}

namespace {

/// What the user does once, as root.
constexpr std::string_view make_key =
    "openssl req -new -x509 -newkey rsa:2048 -nodes -days 3650 -subj /CN=stapgen/ -addext extendedKeyUsage=codeSigning "
    "-keyout mok.key -out mok.pem && openssl x509 -in mok.pem -outform DER -out mok.der && mokutil --import mok.der";

/// Of a signed module. `demanded`: the kernel takes no others.
Check signed_module(std::string found, bool demanded, const std::string& signer,
                    const std::optional<std::vector<std::string>>& keys) {
    const std::string enrol = "mokutil --import CERT.der";
    found += "; this one is signed";
    if (!signer.empty()) found += fmt::format(" by '{}'", signer);
    if (signer.empty() || !keys) {
        if (!demanded) return ok(found);
        return note(found, {"if the kernel does not trust the key, enrol it and reboot", host::everywhere(enrol), {}});
    }
    // A certificate with an organisation has that name first.
    const auto is_signer = [&](const std::string& name) { return name == signer || name.ends_with(": " + signer); };
    if (std::ranges::any_of(*keys, is_signer)) return ok(found + ", whose key the kernel has");
    found += ", whose key the kernel does not have";
    if (!demanded) return ok(found);
    return missing(found, {"enrol it and reboot", host::everywhere(enrol), "or sign by another of the kernel's keys"});
}

}  // namespace

Check module_signing(const host::System& system, const Question& question) {
    const std::string boot = secure_boot(system) ? ", Secure Boot is on" : "";
    const auto refusal = refusal_of_unsigned(system);
    auto found =
        (refusal.empty() ? "modules need no signature" : "the kernel refuses unsigned modules: " + refusal) + boot;
    const auto keys = host::module_keys(system);
    if (question.is_signed) return signed_module(std::move(found), !refusal.empty(), question.signer, keys);
    if (question.module) found += "; this one has none";
    if (refusal.empty()) return ok(std::move(found));
    if (keys)
        found += fmt::format("; it has the keys of {}",
                             keys->empty() ? "nobody" : fmt::format("{}", fmt::join(*keys, ", ")));
    Remedy remedy{
        "sign: --sign mok.key,mok.pem, with a key that is made and enrolled once: mokutil wants a new password, "
        "which the next boot's blue screen asks for (Enroll MOK)",
        host::everywhere(std::string(make_key)),
        boot.empty() ? "or boot without lockdown= and module.sig_enforce"
                     : "or switch Secure Boot off: mokutil --disable-validation, and reboot"};
    return missing(found, std::move(remedy));
}

Check staprun(const host::System& system, const Question& question) {
    const auto& target = question.target;
    if (!target.staprun.empty()) return ok(target.staprun.string());
    // Distributions let only root and a group run it.
    for (const auto& folder : host::program_folders()) {
        if (system.exists(folder / "staprun"))
            return missing(fmt::format("this user may not run {}", (folder / "staprun").string()),
                           {"run it as root, or as 'privileges' says"});
    }
    return missing("SystemTap's loader is not installed or not in this user's PATH: no 'staprun'",
                   {{}, host::install_staprun(), {}});
}

Check running_kernel(const host::System& /*system*/, const Question& question) {
    const auto& target = question.target;
    if (target.release.empty()) return ok("unknown: see headers");
    if (target.running) return ok(target.release);
    return missing(
        fmt::format("kernel {} is not the running one", target.release),
        {fmt::format(
            "build the module here and run it there: stapgen build RECIPE -r {} -o FILE.ko, then stapgen exec FILE.ko",
            target.release)});
}

Check debugfs(const host::System& system, const Question& /*question*/) {
    const auto known = system.read("/proc/filesystems");
    // staprun gives up if it cannot mount it, though newer modules do without.
    if (known && known->find("\tdebugfs\n") == std::string::npos) {
        return missing("the running kernel has no debugfs (/proc/filesystems)",
                       {"boot without debugfs=off, with a kernel that has CONFIG_DEBUG_FS"});
    }
    const auto mounts = system.read("/proc/self/mounts").value_or("");
    if (mounts.find(" /sys/kernel/debug debugfs ") != std::string::npos) return ok("mounted");
    return ok("not mounted; staprun mounts it");
}

Check ftrace(const host::System& system, const Question& /*question*/) {
    if (short_text(system, "/proc/sys/kernel/ftrace_enabled") != "0") return {};
    return note("kernel.ftrace_enabled is 0: probes of functions see nothing",
                {"switch it on", host::everywhere("sysctl kernel.ftrace_enabled=1"),
                 "if the kernel says No such device, a fault of its own has ended ftrace (dmesg): reboot"});
}

Check tracefs(const host::System& system, const Question& /*question*/) {
    for (const auto* file : {host::btf_file, host::kfree_skb_format_files[0], host::kfree_skb_format_files[1]}) {
        if (system.exists(file)) return ok(fmt::format("the kernel's names of drop reasons: {}", file));
    }
    return note("not mounted, and the kernel has no BTF: dropwatch prints reasons as numbers",
                {{}, host::everywhere("mount -t tracefs tracefs /sys/kernel/tracing"), {}});
}

Check leftovers(const host::System& system, const Question& /*question*/) {
    const auto left = host::left_modules(system);
    if (left.empty()) return ok("none left by earlier runs");
    return note(fmt::format("modules of earlier runs are still loaded: {}", fmt::join(left, ", ")),
                {"remove each of them", host::everywhere("staprun -d " + left[0]), {}});
}

std::string lost_to_interrupt_threads(const host::System& system, const std::vector<recipe::KernelRange>& kernels) {
    const bool is_realtime = short_text(system, "/sys/kernel/realtime") == "1";
    const auto arguments = short_text(system, "/proc/cmdline");
    const auto words = base::words(arguments);
    if (!is_realtime && std::ranges::find(words, "threadirqs") == words.end()) return {};
    const auto* range = recipe::range_of(kernels, recipe::threaded_interrupts, system.running_architecture());
    if (range == nullptr || range->lost.empty()) return {};
    return fmt::format("interrupt handlers are threads here ({}). Lost: {}", is_realtime ? "PREEMPT_RT" : "threadirqs",
                       range->lost);
}

Check interrupt_threads(const host::System& system, const Question& question) {
    std::string found;
    for (const auto& subject : question.subjects) {
        const auto lost = lost_to_interrupt_threads(system, subject.kernels);
        if (!lost.empty()) found += fmt::format("{}{}: {}", found.empty() ? "" : "; ", subject.name, lost);
    }
    return found.empty() ? Check{} : note(found);
}

}  // namespace stapgen::doctor
