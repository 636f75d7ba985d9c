// SPDX-License-Identifier: GPL-2.0-or-later
#include "cli/commands/new_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <iostream>
#include <system_error>

#include "base/text.h"
#include "cli/options/option_table.h"

namespace stapgen::cli {

namespace {

base::Error cannot_create(const std::filesystem::path& path, int number) {
    return {base::ErrorKind::bad_input,
            fmt::format("-o: cannot create {}: {}", base::printable(path.string()),
                        std::error_code(number, std::generic_category()).message()),
            number == EEXIST       ? "choose a new file name"
            : number == EOPNOTSUPP ? "that file system cannot make unnamed files (O_TMPFILE); write to stdout: > FILE"
                                   : "name a file in a folder that you may write"};
}

}  // namespace

base::Result<NewFile> NewFile::open(const std::optional<std::filesystem::path>& path) {
    NewFile output;
    if (!path) return output;
    const auto folder = path->has_parent_path() ? path->parent_path() : std::filesystem::path(".");
    std::error_code error;
    const bool exists = std::filesystem::exists(std::filesystem::symlink_status(*path, error));
    output.path_ = *path;
    output.file_ = std::make_unique<base::Descriptor>(
        exists ? -1 : ::open(folder.c_str(), O_WRONLY | O_TMPFILE | O_CLOEXEC, 0600));
    if (output.file_->get() >= 0 && ::dup2(output.file_->get(), STDOUT_FILENO) >= 0) return output;
    return tl::make_unexpected(cannot_create(*path, exists ? EEXIST : errno));
}

base::Result<void> NewFile::keep() {
    if (!file_ || !std::cout.flush()) return {};
    const auto unnamed = fmt::format("/dev/fd/{}", file_->get());
    if (::linkat(AT_FDCWD, unnamed.c_str(), AT_FDCWD, path_.c_str(), AT_SYMLINK_FOLLOW) == 0) return {};
    return tl::make_unexpected(cannot_create(path_, errno));
}

OptionSpec new_file_option(std::optional<std::filesystem::path>& path) {
    return {"-o,--output", "FILE", groups::output, "Write into this new file", "", &path};
}

}  // namespace stapgen::cli
