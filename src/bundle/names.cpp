// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/names.h"

#include <algorithm>
#include <array>

#include "base/limits.h"
#include "base/text.h"

namespace stapgen::bundle {

namespace {

/// Programs whose output is read, as first words of a file's name: sos puts "_" for blanks, other tools "-" or "_".
constexpr std::array<std::string_view, 17> programs{
    "ethtool", "ip",     "nstat", "netstat",    "tc",  "conntrack", "ss",        "ifconfig", "uname",
    "uptime",  "sysctl", "dmesg", "journalctl", "nft", "iptables",  "ip6tables", "hostname"};

/// Behind the folder of a copy: "net/snmp" of "host/proc/net/snmp" for "proc". Empty: it is not in one.
std::string_view below(std::string_view path, std::string_view folder) {
    for (std::size_t at = path.find(folder); at != path.npos; at = path.find(folder, at + 1)) {
        const bool begins = at == 0 || path[at - 1] == '/' || path[at - 1] == ' ';
        if (begins && path.substr(at + folder.size()).starts_with('/')) return path.substr(at + folder.size() + 1);
    }
    return {};
}

/// "eth0/statistics/rx_bytes" of sys/devices/pci0000:00/0000:00:03.0/net/eth0/statistics/rx_bytes: /sys/class/net/eth0
/// is a link to it. Empty: it is none.
std::string_view device_file(std::string_view path) {
    constexpr std::string_view folder = "/net/";
    const auto devices = below(path, "sys/devices");
    const auto at = devices.rfind(folder);
    return at == devices.npos ? std::string_view() : devices.substr(at + folder.size());
}

/// "ethtool -S eth0" of "/sbin/ethtool -S eth0", and of "usr.sbin.ethtool -S eth0" as sos has it. Empty: another
/// program.
std::string command_of(std::string_view text) {
    const auto words = base::words(text);
    if (words.empty()) return {};
    const auto program = words[0].substr(words[0].find_last_of("./") + 1);
    if (std::ranges::find(programs, program) == programs.end()) return {};
    return std::string(text.substr(static_cast<std::size_t>(program.data() - text.data())));
}

/// "snmp" of proc/net is "6468/net/snmp" where /proc/net was a link to the copying process's own.
std::string_view without_process(std::string_view proc) {
    const auto slash = proc.find('/');
    return base::is_decimal(proc.substr(0, slash)) && slash != proc.npos ? proc.substr(slash + 1) : proc;
}

/// Sets the command, and the network namespace of "ip netns exec NAME COMMAND".
void set_command(NamedFile& named, std::string_view text) {
    named.command = command_of(text);
    const auto words = base::words(named.command);
    if (words.size() < 5 || words[0] != "ip" || words[1] != "netns" || words[2] != "exec") return;
    named.is_of_none = words[3].size() > base::limits::name_bytes;
    if (named.is_of_none) return;
    named.netns = words[3];
    named.command = command_of(named.command.substr(static_cast<std::size_t>(words[4].data() - named.command.data())));
}

bool is_log(std::string_view name) {
    constexpr std::array<std::string_view, 9> beginnings{"messages", "syslog", "kern",    "dmesg",       "journal",
                                                         "boot.",    "warn",   "console", "vmcore-dmesg"};
    return base::starts_with_any(name, beginnings) || name.ends_with(".log") || name.find("journal") != name.npos;
}

void set_kind(NamedFile& named, std::string_view name) {
    named.is_settings = named.command.starts_with("sysctl");
    named.is_symbols = name == "kallsyms" || name.starts_with("System.map");
    named.is_modules = named.command == "cat /proc/modules";
    named.is_log = is_log(name) || named.command.starts_with("dmesg") || named.command.starts_with("journalctl");
}

}  // namespace

NamedFile named_file(std::string_view path) {
    NamedFile named;
    const auto name = path.substr(path.rfind('/') + 1);
    if (const auto setting = below(path, "proc/sys"); !setting.empty()) {
        named.setting = setting;
        std::ranges::replace(named.setting, '/', '.');
    } else if (const auto proc = below(path, "proc"); !proc.empty()) {
        named.command = "cat /proc/" + std::string(without_process(proc));
    } else if (const auto sys = below(path, "sys/class/net"); !sys.empty()) {
        named.command = "cat /sys/class/net/" + std::string(sys);
    } else if (const auto device = device_file(path); !device.empty()) {
        named.command = "cat /sys/class/net/" + std::string(device);
    } else {
        auto text =
            std::string(name.substr(0, name.size() - (name.ends_with(".txt") || name.ends_with(".out") ? 4 : 0)));
        std::ranges::replace(text, '_', ' ');
        set_command(named, text);
    }
    set_kind(named, name);
    return named;
}

NamedFile named_section(std::string_view title) {
    NamedFile named;
    set_command(named, title);
    if (named.command.empty() && title.starts_with('/')) return named_file(title.substr(0, title.find(" - ")));
    set_kind(named, "");
    return named;
}

}  // namespace stapgen::bundle
