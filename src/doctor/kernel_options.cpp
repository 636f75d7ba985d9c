#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>

#include "base/text.h"
#include "base/unpacker.h"
#include "doctor/checks.h"
#include "host/facts.h"

namespace stapgen::doctor {

namespace {

/// A file of options has 300 kB; more of what says it is one is not read.
constexpr std::size_t max_size = 4 * 1024 * 1024;

/// Without these SystemTap's runtime does not compile, no probe can be set, or a module is not removed again.
constexpr std::array required = {"MODULES", "MODULE_UNLOAD", "KPROBES", "KALLSYMS", "TRACEPOINTS", "RELAY", "DEBUG_FS"};

}  // namespace

KernelConfig read_config(const host::System& system, const host::Target& target) {
    if (target.running) {
        if (const auto packed = system.read("/proc/config.gz", max_size)) {
            if (auto text = base::unpack(*packed, max_size).bytes; !text.empty())
                return {"/proc/config.gz", std::move(text)};
        }
    }
    const auto modules = std::filesystem::path("/lib/modules") / target.release;
    for (const auto& file : {std::filesystem::path("/boot") / ("config-" + target.release), modules / "config",
                             target.build / ".config"}) {
        if (auto text = system.read(file, max_size); text && !text->empty()) return {file.string(), std::move(*text)};
    }
    return {};
}

std::string option_of(const KernelConfig& config, std::string_view option) {
    const auto key = fmt::format("\nCONFIG_{}=", option);
    const auto at = config.text.find(key);
    if (at == std::string::npos) return {};
    const auto begin = at + key.size();
    auto value = std::string_view(config.text).substr(begin, config.text.find('\n', begin) - begin);
    if (value.size() >= 2 && value.front() == '"' && value.back() == '"') value = value.substr(1, value.size() - 2);
    return std::string(value);
}

Check kernel_options(const host::System& system, const host::Target& target) {
    constexpr auto id = "kernel-options";
    std::vector<std::string> absent;
    const auto config = read_config(system, target);
    std::string seen = config.file;
    if (!config.text.empty()) {
        for (const auto* option : required) {
            if (option_of(config, option).empty()) absent.push_back(fmt::format("CONFIG_{}", option));
        }
    } else if (target.running) {
        // Without permission to read the table there is no telling, and no reason to say no.
        seen = host::kallsyms_file;
        const auto symbols = system.read(seen).value_or("");
        if (!symbols.empty() && symbols.find(" register_kprobe\n") == std::string::npos)
            absent.push_back("CONFIG_KPROBES");
    }
    if (!absent.empty()) {
        return missing(id, Blocks::compiling, fmt::format("the kernel lacks {} ({})", fmt::join(absent, ", "), seen),
                       {"use a kernel that has it, as distributions ship it"});
    }
    if (config.text.empty()) return note(id, "not known: no file has the kernel's options");
    return ok(id, fmt::format("{} and {} others that SystemTap needs ({})", required[2], required.size() - 1, seen));
}

}  // namespace stapgen::doctor
