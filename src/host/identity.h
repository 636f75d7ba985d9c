#pragma once

#include <string>
#include <string_view>

#include "base/kernel_identity.h"
#include "host/system.h"

namespace stapgen::host {

/// Empty where it is not known.
std::string host_name(const System& system);

/// The running kernel, but for its modules. What cannot be read is empty.
base::KernelIdentity read_kernel_identity(const System& system);

/// The GNU build-id among ELF notes, hexadecimal; empty if there is none.
std::string parse_build_id(std::string_view notes);

}  // namespace stapgen::host
