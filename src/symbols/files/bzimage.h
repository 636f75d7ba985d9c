#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace stapgen::symbols {

/// Whether it begins as an x86 bzImage (vmlinuz): "HdrS" at 0x202, Documentation/arch/x86/boot.rst. The first 518 bytes
/// tell.
bool is_bzimage(std::string_view beginning);

/// The vmlinux in a bzImage, for boot protocol 2.08 and later (Linux 2.6.26). Errors (bad_input), each with its remedy:
/// an older protocol; damaged; its packing is not gzip, bzip2, xz or zstd.
base::Result<std::string> unpack_bzimage(std::string_view image, std::string_view origin);

/// What a file is that boots a kernel but is no vmlinux and no bzImage (arm64's Image), for a message; empty: unknown.
std::string_view other_boot_image(std::string_view beginning);

}  // namespace stapgen::symbols
