#pragma once

#include <filesystem>

#include "base/result.h"

namespace stapgen::base {

/// Fails where somebody else than root could change what stands at `path`, or have something else stand there: a file
/// or folder on the way, or the last one, is not root's, or others may write it. A symbolic link counts, and what it
/// leads to. In a folder with the sticky bit (/tmp) nobody can replace what is root's, so that one may be on the way.
/// Access control lists show in the group's bits of the mode, which they mask (acl(5)). The error names the place and
/// why. It has no hint: a place of somebody's is theirs (a home that is root's locks its user out), so the caller says
/// where else to go.
Result<void> only_root_writes(const std::filesystem::path& path);

/// The same for what may not be there yet: then the nearest folder on the way counts that is there.
Result<void> only_root_makes(const std::filesystem::path& path);

/// The same for a folder in which root will make something: one with the sticky bit will do.
Result<void> only_root_replaces(const std::filesystem::path& folder);

}  // namespace stapgen::base
