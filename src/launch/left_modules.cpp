#include "launch/left_modules.h"

#include <fmt/format.h>

#include "base/loaded_modules.h"
#include "base/text.h"

namespace stapgen::launch {

std::vector<std::string> left_modules(const host::System& system) {
    std::vector<std::string> left;
    const auto text = system.read("/proc/modules").value_or("");
    for (const auto name : base::unused_stap_modules(text)) {
        // One that is being loaded has no reader yet: staprun -R puts its own number behind the name.
        const auto number = name.substr(name.rfind('_') + 1);
        if (base::to_unsigned(number) && system.exists(fmt::format("/proc/{}", number))) continue;
        left.emplace_back(base::printable(name));
    }
    return left;
}

std::vector<std::string> told(const std::vector<std::string>& left) {
    std::vector<std::string> lines;
    for (const auto& name : left) {
        lines.push_back(fmt::format(
            "the module {0} of an earlier run is still in the kernel, its probes take time, and nobody reads "
            "what it prints; unless somebody detached it on purpose: sudo staprun -d {0}",
            name));
    }
    return lines;
}

}  // namespace stapgen::launch
