#pragma once

#include <memory>
#include <string_view>

#include "base/source.h"

namespace stapgen::base {

/// The same text in UTF-8 without a byte order mark. What has neither a mark nor the look of UTF-16 (every other byte
/// of the first four is 0) is passed through, whatever it is. Reads the first bytes; an error in that
/// is returned by the first read().
std::unique_ptr<Source> as_utf8(std::unique_ptr<Source> source);

/// Whether as_utf8() changes a text that begins so. Four bytes are enough.
bool changes_as_utf8(std::string_view beginning);

}  // namespace stapgen::base
