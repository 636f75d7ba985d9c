// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/recording_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace stapgen::fleet {

base::Result<void> RecordingFile::write(std::string_view bytes) {
    if (!file_) {
        constexpr int flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
        file_ = std::make_unique<base::Descriptor>(::open(path_.c_str(), flags, 0600));
    }
    while (!bytes.empty()) {
        const auto count = ::write(file_->get(), bytes.data(), bytes.size());
        if (count < 0 && errno == EINTR) continue;
        if (count < 0)
            return base::failed(fmt::format("its recording cannot be written here: {}", std::strerror(errno)));
        bytes.remove_prefix(static_cast<std::size_t>(count));
    }
    return {};
}

std::filesystem::path RecordingFile::path() const {
    return file_ && file_->get() >= 0 ? path_ : std::filesystem::path();
}

}  // namespace stapgen::fleet
