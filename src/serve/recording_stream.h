// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <string_view>
#include <vector>

#include "base/unpacker.h"
#include "decode/record_parser.h"
#include "launch/line_splitter.h"
#include "session/presentation.h"
#include "session/session.h"

namespace stapgen::serve {

/// The effect of bytes of a recording.
struct Fed {
    bool has_begun = false;                  ///< the probes are live: the line `ready` was among them
    std::vector<kinds::Measured> intervals;  ///< that closed, in their order
};

/// A recording as it comes from a stapgen that is steered (session/remote.h), to a Session. Of its lines nothing is
/// kept.
class RecordingStream {
  public:
    RecordingStream();
    RecordingStream(const RecordingStream&) = delete;
    RecordingStream& operator=(const RecordingStream&) = delete;

    /// Bytes of its zstd frame, any number of them. What is damaged ends it: no further line comes of it.
    Fed feed(std::string_view packed);

    [[nodiscard]] session::Session& session() { return session_; }
    [[nodiscard]] const decode::RecordParser& parser() const { return parser_; }
    [[nodiscard]] bool is_damaged() const { return is_damaged_; }

  private:
    void line(std::string_view text, bool cut);

    std::unique_ptr<base::Unpacker> unpacker_;
    bool is_damaged_ = false;
    launch::LineSplitter lines_;
    decode::RecordParser parser_;
    session::Presentation presentation_;
    session::Session session_;
    Fed fed_;
};

}  // namespace stapgen::serve
