#include "host/mount.h"

#include "base/text.h"

namespace stapgen::host {

bool may_mount(const System& system) {
    const auto setting = [&](const char* file) { return std::string(base::trim(system.read(file).value_or(""))); };
    return system.is_root() || (setting("/proc/sys/kernel/unprivileged_userns_clone") != "0" &&
                                setting("/proc/sys/user/max_user_namespaces") != "0" &&
                                setting("/proc/sys/kernel/apparmor_restrict_unprivileged_userns") != "1");
}

}  // namespace stapgen::host
