#pragma once

#include <optional>
#include <string>
#include <vector>

#include "doctor/check.h"
#include "host/system.h"

/// The single checks, for doctor.cpp.
namespace stapgen::doctor {

Check ok(std::string id, std::string found);
Check note(std::string id, std::string found, Remedy remedy = {});
Check missing(std::string id, Blocks blocks, std::string found, Remedy remedy);

/// The file's content without blanks at its ends; empty if it cannot be read. For files of a few words.
std::string short_text(const host::System& system, const std::filesystem::path& file);

// load_checks.cpp
Check privileges(const host::System& system);
Check modules(const host::System& system);
Check module_signing(const host::System& system, bool is_signed);
Check staprun(const host::Target& target);
Check running_kernel(const host::Target& target);
Check debugfs(const host::System& system);
Check tracefs(const host::System& system);
Check leftovers(const host::System& system);

// compile_checks.cpp
Check systemtap(const host::Target& target);
Check headers(const host::Target& target);
Check compiler(const host::System& system, const host::Target& target);
Check symbol_table(const host::System& system, const Question& question);
Check debuginfo(const Question& question);
std::vector<Check> workarounds(const Question& question);
/// Nothing where the kernel's tree has no headers of tracepoints.
std::optional<Check> trace_headers(const host::System& system, const Question& question);

// kernel_options.cpp
Check kernel_options(const host::System& system, const host::Target& target);
/// The file of the kernel's options and its text; both empty if there is none.
struct KernelConfig {
    std::string file, text;
};
KernelConfig read_config(const host::System& system, const host::Target& target);
/// "y", "m", another value, or empty where the option is not set.
std::string option_of(const KernelConfig& config, std::string_view option);

// cost_checks.cpp
Check kernel(const Question& question);
Check memory(const host::System& system);
Check disk(const host::System& system, const Question& question);
Check first_run(const host::System& system, const Question& question);

}  // namespace stapgen::doctor
