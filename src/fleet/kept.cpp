// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/kept.h"

#include <fmt/format.h>

#include <memory>
#include <optional>
#include <string_view>
#include <utility>

#include "base/budget.h"
#include "base/limits.h"
#include "fleet/host_facts.h"
#include "recording/packed_file.h"
#include "recording/reader.h"
#include "schema/schema.h"

namespace stapgen::fleet {

namespace fs = std::filesystem;

namespace {

class Taker {
  public:
    Taker(std::string name, const std::vector<fs::path>& folders, std::uint64_t most_bytes)
        : name_(std::move(name)), folders_(folders), taken_(folders.size(), false), most_bytes_(most_bytes) {}

    /// A line without its first word, and with its end.
    base::Result<void> line(std::string_view text) {
        const auto own = recording::parse_own_line(text.substr(0, text.size() - 1));
        if (own && own->is_header) return begin(text, own->json);
        if (!file_) return {};
        STAPGEN_TRY(write(text));
        const auto trailer = own ? recording::parse_trailer(own->json) : std::nullopt;
        if (!trailer) return {};
        files_.back().is_whole = trailer->outcome.broke_off.empty();
        return end();
    }

    /// Nothing more comes.
    base::Result<void> end() {
        if (!file_) return {};
        const auto done = std::exchange(file_, nullptr);
        return done->finish();
    }

    [[nodiscard]] std::vector<KeptFile> files() const { return files_; }
    [[nodiscard]] std::int64_t refused() const { return refused_; }

  private:
    /// Where the one before was not closed it stays as it is.
    base::Result<void> begin(std::string_view text, std::string_view json) {
        STAPGEN_TRY(end());
        const auto header = recording::parse_header(json);
        const auto moment = header ? header->setup.kept.moment : 0;
        const bool is_asked = moment > 0 && moment <= static_cast<std::int64_t>(folders_.size());
        const auto place = static_cast<std::size_t>(is_asked ? moment - 1 : 0);
        if (!is_asked || taken_[place]) {
            ++refused_;
            return {};
        }
        taken_[place] = true;
        std::error_code error;
        fs::create_directory(folders_[place], error);
        const auto path = folders_[place] / name_;
        STAPGEN_LET(file_, recording::PackedFile::create(path));
        files_.push_back({path, header->setup.kept});
        return write(text);
    }

    base::Result<void> write(std::string_view text) {
        const auto before = file_->size();
        STAPGEN_TRY(file_->write(text));
        bytes_ += file_->size() - before;
        if (bytes_ <= most_bytes_) return {};
        STAPGEN_TRY(end());
        return base::failed(fmt::format("what it kept takes more than {} KiB", most_bytes_ >> 10U));
    }

    std::string name_;
    const std::vector<fs::path>& folders_;
    std::vector<bool> taken_;
    std::uint64_t most_bytes_, bytes_ = 0;
    std::vector<KeptFile> files_;
    std::unique_ptr<recording::PackedFile> file_;  ///< of the last one, until it ends
    std::int64_t refused_ = 0;
};

base::Result<void> take_lines(recording::Reader& reader, Taker& taker) {
    const auto word = fmt::format("{}\t", schema::kept_word);
    for (;;) {
        STAPGEN_LET(auto lines, reader.next());
        if (lines.empty()) return {};
        while (!lines.empty()) {
            const auto line = lines.substr(0, lines.find('\n') + 1);
            lines.remove_prefix(line.size());
            if (line.starts_with(word)) STAPGEN_TRY(taker.line(line.substr(word.size())));
        }
    }
}

}  // namespace

KeptFiles take_kept(const fs::path& recording, const std::vector<fs::path>& folders, std::uint64_t most_bytes) {
    const auto budget = std::make_shared<base::Budget>(recording.filename().string(), base::limits::unpacked_bytes,
                                                       base::limits::cpu_ns);
    std::error_code error;
    if (const auto size = fs::file_size(recording, error); !error) (void)budget->read(size);
    auto reader = recording::Reader::open(recording, budget);
    if (!reader) return {{}, short_reason(reader.error().what)};
    Taker taker(recording.filename().string(), folders, most_bytes);
    const auto done = take_lines(*reader, taker);
    const auto ended = taker.end();
    KeptFiles kept{taker.files(), {}};
    for (const auto* each : {&done, &ended})
        if (!*each && kept.why.empty()) kept.why = short_reason(each->error().what);
    if (kept.why.empty() && taker.refused() > 0)
        kept.why = fmt::format("{} recordings that nobody had asked for were passed over", taker.refused());
    return kept;
}

}  // namespace stapgen::fleet
