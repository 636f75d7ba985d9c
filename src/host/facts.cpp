// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/facts.h"

#include <fmt/format.h>
#include <time.h>

#include <algorithm>
#include <cstdlib>

#include "base/elf_notes.h"
#include "base/text.h"

namespace stapgen::host {

namespace {

/// The file without blanks at its ends; empty where it cannot be read.
std::string short_text(const System& system, const std::filesystem::path& file) {
    return std::string(base::trim(system.read(file).value_or("")));
}

std::string hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes)
        text += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    return text;
}

/// Up to what is no pair of digits.
std::string unhex(std::string_view text) {
    std::string bytes;
    for (; text.size() >= 2; text.remove_prefix(2)) {
        const auto byte = base::to_unsigned(text.substr(0, 2), 16);
        if (!byte) break;
        bytes += static_cast<char>(*byte);
    }
    return bytes;
}

/// RFC 2104, of a key that is no longer than a block.
std::string hmac_sha256(std::string_view key, std::string_view text) {
    constexpr std::size_t block = 64;
    const auto padded = [&](char with) {
        std::string pad(block, with);
        for (std::size_t i = 0; i < key.size(); ++i)
            pad[i] = static_cast<char>(pad[i] ^ key[i]);
        return pad;
    };
    return unhex(base::sha256(padded('\x5c') + unhex(base::sha256(padded('\x36').append(text)))));
}

std::int64_t now_ns(clockid_t clock) {
    timespec time{};
    ::clock_gettime(clock, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

std::int64_t reported(std::int64_t change_ns) {
    constexpr std::int64_t min_reported = 20'000'000;
    return std::abs(change_ns) < min_reported ? 0 : change_ns;
}

}  // namespace

std::optional<std::int64_t> memory_mib(const System& system, std::string_view name) {
    const auto meminfo = system.read("/proc/meminfo").value_or("");
    for (const auto line : base::split(meminfo, '\n')) {
        const auto fields = base::words(line);
        if (fields.size() >= 2 && fields[0] == fmt::format("{}:", name))
            return base::to_int(fields[1]).value_or(0) / 1024;
    }
    return std::nullopt;
}

std::vector<NetworkDevice> network_devices(const System& system) {
    const std::filesystem::path folder = "/sys/class/net";
    std::vector<NetworkDevice> devices;
    for (const auto& name : system.list(folder))
        devices.push_back({name, short_text(system, folder / name / "operstate")});
    return devices;
}

bool may_mount(const System& system) {
    return system.is_root() || (short_text(system, "/proc/sys/kernel/unprivileged_userns_clone") != "0" &&
                                short_text(system, "/proc/sys/user/max_user_namespaces") != "0" &&
                                short_text(system, "/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != "1");
}

std::vector<std::string> own_command(const System& system) {
    std::vector<std::string> words;
    const auto text = system.read("/proc/self/cmdline").value_or("");
    for (const auto word : base::split(text, '\0'))
        words.emplace_back(word);
    if (!words.empty() && words.back().empty()) words.pop_back();
    return words;
}

std::filesystem::path own_program() {
    std::error_code unknown;
    return std::filesystem::read_symlink("/proc/self/exe", unknown);
}

std::vector<base::LoadedModule> read_loaded_modules(const System& system) {
    std::vector<base::LoadedModule> modules;
    const auto text = system.read(modules_file).value_or("");
    for (const auto line : base::split(text, '\n')) {
        if (auto module = base::parse_loaded_module(line)) modules.push_back(*std::move(module));
    }
    return modules;
}

bool is_loaded(const System& system, std::string_view module) {
    const auto text = '\n' + system.read(modules_file).value_or("");
    return text.find(fmt::format("\n{} ", module)) != std::string::npos;
}

std::string kernel_option(std::string_view config, std::string_view option) {
    const auto key = fmt::format("\nCONFIG_{}=", option);
    const auto at = config.find(key);
    if (at == std::string_view::npos) return {};
    auto value = config.substr(at + key.size());
    value = value.substr(0, value.find('\n'));
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return std::string(value);
}

std::vector<std::string> left_modules(const System& system) {
    std::vector<std::string> left;
    const auto text = system.read(modules_file).value_or("");
    for (const auto line : base::split(text, '\n')) {
        const auto fields = base::words(line);
        // One that is read has users.
        if (fields.size() < 3 || !fields[0].starts_with("stap_") || fields[2] != "0") continue;
        // One that is being loaded has no reader yet: staprun -R puts its own number behind the name.
        const auto number = fields[0].substr(fields[0].rfind('_') + 1);
        if (base::to_unsigned(number) && system.exists(fmt::format("/proc/{}", number))) continue;
        left.emplace_back(base::printable(fields[0]));
    }
    return left;
}

std::vector<std::string> left_module_warnings(const System& system) {
    std::vector<std::string> lines;
    for (const auto& name : left_modules(system)) {
        lines.push_back(
            fmt::format("the module {0} of an earlier run is still loaded: its probes take time and nobody reads its "
                        "output; unless it was detached on purpose: sudo staprun -d {0}",
                        name));
    }
    return lines;
}

std::string host_name(const System& system) {
    return std::string(base::trim(system.read("/proc/sys/kernel/hostname").value_or("")));
}

std::string machine_of(const System& system) {
    const auto id = unhex(short_text(system, "/etc/machine-id"));
    if (id.size() != 16) return {};
    // stapgen's own, made with `systemd-id128 new`.
    const auto application = unhex("a25a08b247db439596714c022c0ed5ed");
    auto hash = hmac_sha256(id, application).substr(0, 16);
    // As a UUID of version 4.
    hash[6] = static_cast<char>((hash[6] & 0x0f) | 0x40);
    hash[8] = static_cast<char>((hash[8] & 0x3f) | 0x80);
    return hex(hash);
}

std::string running_build_id(const System& system) {
    return base::parse_build_id(system.read("/sys/kernel/notes").value_or(""));
}

base::KernelIdentity read_kernel_identity(const System& system) {
    base::KernelIdentity identity;
    identity.release = system.running_release();
    identity.architecture = system.running_architecture();
    identity.build_id = running_build_id(system);
    // Of some 10 MB the first half; only the few lines in question are taken apart.
    const auto symbols = system.read_until(kallsyms_file, " _etext\n").value_or("");
    const auto find = [&](std::string_view name) -> std::optional<std::uint64_t> {
        const auto ending = fmt::format(" {}\n", name);
        const auto at = symbols.find(ending);
        if (at == std::string::npos) return std::nullopt;
        const auto begin = symbols.rfind('\n', at);
        const auto line = std::string_view(symbols).substr(begin == std::string::npos ? 0 : begin + 1);
        const auto address = base::to_unsigned(line.substr(0, line.find(' ')), 16);
        return address == 0 ? std::nullopt : address;
    };
    identity.text = find("_text");
    identity.stext = find("_stext");
    identity.etext = find("_etext");
    return identity;
}

ClockOffsets read_clock_offsets() {
    // Another user may have run between the readings.
    constexpr int tries = 10;
    constexpr std::int64_t soon = 1'000'000;
    ClockOffsets offsets;
    for (int i = 0; i < tries; ++i) {
        const auto before = now_ns(CLOCK_MONOTONIC);
        offsets = {now_ns(CLOCK_REALTIME) - before, now_ns(CLOCK_BOOTTIME) - before};
        if (now_ns(CLOCK_MONOTONIC) - before < soon) break;
    }
    return offsets;
}

ClockChange change_of(const ClockOffsets& before, const ClockOffsets& after) {
    const auto suspended = after.boottime_ns - before.boottime_ns;
    const auto realtime = after.realtime_ns - before.realtime_ns;
    return {reported(realtime - suspended), reported(suspended)};
}

std::optional<std::uint64_t> read_cycles() {
#if defined(__x86_64__)
    return __builtin_ia32_rdtsc();
#elif defined(__aarch64__)
    std::uint64_t count = 0;
    asm volatile("mrs %0, cntvct_el0" : "=r"(count));
    return count;
#else
    return std::nullopt;
#endif
}

}  // namespace stapgen::host
