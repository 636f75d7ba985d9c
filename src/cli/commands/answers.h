// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <ostream>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "symbols/kernel_names.h"

namespace stapgen::cli {

/// The form of the answer for an address.
struct AnswerForm {
    symbols::AddressKind kind = symbols::AddressKind::exact;
    bool is_json = false;
    bool lines = false;  ///< of source
};

/// Answers addresses, one a line. Those of a file ("-" is stdin) are words with blanks or line ends between; where the
/// KASLR offset is known each is answered as it comes, else all of them have to be there. Errors (bad_input): the file
/// cannot be read; a word is no address, which has been said on stderr, and the others have been answered; the KASLR
/// offset is not known.
base::Result<void> answer(symbols::KernelNames& names, const AnswerForm& form, const std::vector<std::string>& words,
                          std::ostream& out);
base::Result<void> answer(symbols::KernelNames& names, const AnswerForm& form, const std::filesystem::path& file,
                          std::ostream& out);

}  // namespace stapgen::cli
