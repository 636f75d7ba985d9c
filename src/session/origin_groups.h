#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "analyze/summary.h"
#include "base/result.h"

/// Groups by where a record is from, which no record tells: --by host, --by recording.
namespace stapgen::session {

inline constexpr std::array<std::string_view, 2> origin_words{"host", "recording"};

/// Of one recording.
struct RecordingName {
    std::string host;       ///< empty: not known
    std::string recording;  ///< its file
};

/// Puts the words' values before the groups of a recording's measures and counts. `none_else`: nothing else is grouped
/// by, so that each recording as a whole is a group. Error (bad_input): these are drops, which have no groups.
base::Result<void> group_by_origin(const std::vector<std::string>& words, bool none_else, const RecordingName& name,
                                   analyze::Summary& summary);

}  // namespace stapgen::session
