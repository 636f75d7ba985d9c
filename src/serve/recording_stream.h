// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <memory>
#include <ostream>
#include <string_view>

#include "base/unpacker.h"
#include "decode/record_parser.h"
#include "launch/line_splitter.h"
#include "report/presentation.h"
#include "session/session.h"

namespace stapgen::serve {

/// A recording as it comes from a stapgen that is steered (session/remote.h), to a Session. Of its lines nothing is
/// kept.
class RecordingStream {
  public:
    RecordingStream();
    RecordingStream(const RecordingStream&) = delete;
    RecordingStream& operator=(const RecordingStream&) = delete;

    /// Bytes of its zstd frame, any number of them. What is damaged ends it: no further line comes of it.
    void feed(std::string_view packed);

    [[nodiscard]] session::Session& session() { return session_; }
    [[nodiscard]] const decode::RecordParser& parser() const { return parser_; }
    [[nodiscard]] bool is_damaged() const { return is_damaged_; }

  private:
    void line(std::string_view text, bool cut);

    std::unique_ptr<base::Unpacker> unpacker_;
    bool is_damaged_ = false;
    launch::LineSplitter lines_;
    decode::RecordParser parser_;
    report::Presentation presentation_;
    std::ostream null_sink_{nullptr};
    session::Session session_;
};

}  // namespace stapgen::serve
