// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/module_files.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>

#include "base/files.h"

namespace stapgen::host {

namespace {

std::filesystem::path path_of(const std::string& module, const std::string& name) {
    return std::filesystem::path("/proc/systemtap") / module / name;
}

}  // namespace

bool has_module_file(const std::string& module, const std::string& name) {
    std::error_code error;
    return std::filesystem::exists(path_of(module, name), error);
}

base::Result<void> write_module_file(const std::string& module, const std::string& name, const std::string& text) {
    const auto path = path_of(module, name);
    const base::Descriptor file(::open(path.c_str(), O_WRONLY | O_CLOEXEC | O_NOFOLLOW));
    if (file.get() >= 0 && ::write(file.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()))
        return {};
    return base::failed(fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)),
                        "the measurement goes on; run stapgen as root");
}

}  // namespace stapgen::host
