#include "session/origin.h"

#include "base/text.h"
#include "host/identity.h"

namespace stapgen::session {

std::vector<std::string> own_command(const host::System& machine) {
    std::vector<std::string> words;
    const auto text = machine.read("/proc/self/cmdline").value_or("");
    for (const auto word : base::split(text, '\0'))
        words.emplace_back(word);
    if (!words.empty() && words.back().empty()) words.pop_back();
    return words;
}

analyze::Origin origin_of(const host::System& machine, const MeasurePlan& plan) {
    return {host::host_name(machine), machine.running_release(), own_command(machine), plan.filters.as_typed};
}

}  // namespace stapgen::session
