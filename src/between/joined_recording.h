// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "between/result.h"
#include "recording/writer.h"

namespace stapgen::between {

/// Its first line.
inline constexpr std::string_view joined_header =
    "stapgen\t5\tbetween\trequest\ttime:time\thosts:text,key\tlocal:endpoint\tremote:endpoint\tseq:int\treply_seq:int\t"
    "match:text\task:stage\tbetween:stage\tbetween.fastest:stage\tbetween.forth:stage\tbetween.back:stage\t"
    "server:stage\treply:stage\tread:stage\ttotal:stage";

/// Joined requests as a recording like any other, which report, why, compare, export and query read. Its recipe is
/// "between"; docs/guide/both-ends.md.
class JoinedRecording {
  public:
    /// Creates the file. `command` is stapgen's, without the recordings that are joined.
    static base::Result<JoinedRecording> create(const std::filesystem::path& file, std::vector<std::string> command);

    /// Whose requests follow.
    void set_hosts(const std::vector<Host>& hosts);
    /// A request of between().
    void add(const Result& result, const Request& request);
    /// The account is of the clients' requests, each once; what servers have beside them is beside it. Error: the
    /// recording could not be written to its end.
    base::Result<void> end(const Answer& answer);

  private:
    void begin(const Result& result);

    std::unique_ptr<recording::Writer> writer_;
    recording::Setup setup_;
    std::string client_, server_, hosts_;  ///< of the request before; the third as records have it
    std::string line_;
    std::int64_t end_ns_ = 0;
};

}  // namespace stapgen::between
