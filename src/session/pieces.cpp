// SPDX-License-Identifier: GPL-2.0-or-later
#include "session/pieces.h"

#include <sched.h>

#include <algorithm>
#include <future>
#include <limits>
#include <optional>
#include <thread>
#include <utility>
#include <vector>

namespace stapgen::session {

std::size_t Reading::usable_cores() {
    cpu_set_t allowed;
    const bool is_known = ::sched_getaffinity(0, sizeof allowed, &allowed) == 0;
    const auto cores = is_known ? static_cast<unsigned>(CPU_COUNT(&allowed)) : std::thread::hardware_concurrency();
    return std::max(cores, 1U);
}

namespace {

/// So often in a row, and a text is read from end to end: most of it depends on what precedes it.
constexpr int too_often = 2;

/// The end of the last line of a file that ends before `end`, and where the format would have a piece end; `begin` if
/// there is none near it.
std::uint64_t find_cut(const recording::Reader& reader, const decode::FormatDetector& detector, std::uint64_t begin,
                       std::uint64_t end) {
    constexpr std::uint64_t window = 128U << 10U;
    const auto from = end - std::min(end - begin, window);
    const auto text = reader.bytes_at({from, end});
    // A line may begin before the window.
    const auto first = from == begin ? 0 : text.find('\n') + 1, behind = text.rfind('\n') + 1;
    return first < behind ? from + first + detector.cut(std::string_view(text).substr(first, behind - first)) : begin;
}

}  // namespace

/// What one thread reads, as if nothing stood behind it.
class Pieces::Piece final : public Sink {
  public:
    Piece(std::unique_ptr<decode::FormatDetector> detector, analyze::Analyzer analyzer)
        : detector_(std::move(detector)), source_(detector_->sources().front()), analyzer_(std::move(analyzer)) {}

    std::string text;               ///< that it reads, or
    base::Source::Rest bytes = {};  ///< these of a file

    void begin(const decode::PrefixStripper* prefix, const recording::Reader* file) {
        // Deferred where there can be no further thread.
        done_ = std::async(std::launch::async | std::launch::deferred, [this, prefix, file] {
            file == nullptr ? feed(text, prefix) : read(file->part(bytes), prefix);
        });
    }
    void wait() { done_.get(); }

    /// False: it has to be read again.
    bool join(decode::FormatDetector& detector, analyze::Analyzer& analyzer, Sink& sink) {
        // What is held back is of the analyzer before the piece is.
        if (!is_plain_ || !detector.end_before(*detector_, sink) || !analyzer.fits(analyzer_) ||
            !detector.join(*detector_, sink))
            return false;
        analyzer.join(analyzer_);
        for (const auto& message : messages_)
            sink.message(message);
        return true;
    }

    void record(decode::FormatDetector::Source& source, const decode::Record& record) override {
        is_plain_ = is_plain_ && &source == source_;
        if (is_plain_) analyzer_.add(record);
    }
    void line(decode::FormatDetector::Source& source, const decode::Line& line) override {
        const auto* const tick = std::get_if<decode::Tick>(&line);
        const auto* const record = std::get_if<decode::Record>(&line);
        is_plain_ = is_plain_ && &source == source_ && (tick != nullptr || record != nullptr);
        if (is_plain_) analyzer_.add(line);
    }
    void message(std::string_view message) override { messages_.emplace_back(message); }

  private:
    void feed(std::string_view lines, const decode::PrefixStripper* prefix) {
        detector_->feed(prefix != nullptr ? prefix->strip(lines, scratch_) : lines, *this);
    }
    void read(recording::Reader reader, const decode::PrefixStripper* prefix) {
        std::uint64_t size = 0;
        while (is_plain_) {
            const auto lines = reader.next();
            if (!lines || lines->empty()) break;
            size += lines->size();
            feed(*lines, prefix);
        }
        // Else there was a line of the recording's own, or the file has become shorter.
        is_plain_ = is_plain_ && size == bytes.end - bytes.begin;
    }

    std::unique_ptr<decode::FormatDetector> detector_;
    const decode::FormatDetector::Source* source_;
    analyze::Analyzer analyzer_;
    std::vector<std::string> messages_;
    std::string scratch_;
    bool is_plain_ = true;  ///< nothing but records and ticks of its source
    std::future<void> done_;
};

Pieces::Pieces(decode::FormatDetector& detector, Sink& sink, const Reading& reading, const SharedCores& shared)
    : detector_(detector), sink_(sink), reading_(reading), shared_(shared) {}
Pieces::~Pieces() = default;

void Pieces::set(const decode::PrefixStripper* prefix, Session& session) {
    prefix_ = prefix;
    session_ = &session;
}

std::size_t Pieces::cores() const {
    constexpr std::size_t most = 8;  // this thread has no time for more
    return std::min(most, shared_.cores / std::max<std::size_t>(shared_.readers, 1));
}

/// Null: this text is not read in pieces.
std::unique_ptr<Pieces::Piece> Pieces::make_piece() {
    auto detector = detector_.fork();
    auto analyzer = detector ? session_->fork(*detector->sources().front()->header) : std::nullopt;
    if (analyzer) return std::make_unique<Piece>(std::move(detector), *std::move(analyzer));
    read_again_ = too_often;
    return nullptr;
}

void Pieces::read_file(recording::Reader& reader) {
    if (read_again_ >= too_often || cores() < 2) return;
    const auto rest = reader.rest();
    const auto least = std::max<std::uint64_t>(reading_.piece_size / 8, 1);
    if (!rest || rest->begin < not_before_ || rest->end - rest->begin < 2 * least) return;
    auto begun = rest->begin, done = rest->begin;
    bool is_right = true;
    while (is_right) {
        // Twice as many as there are cores: with one more than these a core was idle for a tenth of the time, since the
        // oldest is not always the first that is done. Smaller ones at the end, so that all are done at once.
        while (at_work_.size() < 2 * cores() && begun < rest->end) {
            const auto left = rest->end - begun;
            const auto size = std::clamp<std::uint64_t>(left / (2 * cores()), least, reading_.piece_size);
            const auto end = find_cut(reader, detector_, begun, begun + std::min(left, size));
            auto piece = end > begun ? make_piece() : nullptr;
            if (!piece) break;
            piece->bytes = {begun, end};
            piece->begin(prefix_, &reader);
            at_work_.push_back(std::move(piece));
            begun = end;
        }
        if (at_work_.empty()) break;
        const auto piece = std::move(at_work_.front());
        at_work_.pop_front();
        is_right = join(*piece);
        if (is_right) done = piece->bytes.end;
        not_before_ = piece->bytes.end;
    }
    at_work_.clear();
    reader.skip_to(done);
}

bool Pieces::take(std::string_view lines) {
    if (read_again_ >= too_often || (cores() < 2 && at_work_.empty() && text_.empty())) return false;
    const auto size = std::max<std::size_t>(reading_.piece_size / 4, 1);
    text_ += lines;
    while (text_.size() >= size && read_again_ < too_often) {
        begin_text(size);
        while (at_work_.size() > cores())
            join_text();
    }
    return true;
}

void Pieces::finish() {
    while (!at_work_.empty())
        join_text();
    feed(std::exchange(text_, {}));
}

void Pieces::begin_text(std::size_t size) {
    const auto end = detector_.cut(std::string_view(text_).substr(0, text_.find('\n', size - 1) + 1));
    auto behind = std::exchange(spare_, {});
    behind.assign(text_, end);
    text_.resize(end);
    if (auto piece = make_piece()) {
        piece->text = std::move(text_);
        piece->begin(prefix_, nullptr);
        at_work_.push_back(std::move(piece));
    } else {
        finish();
    }
    text_ = std::move(behind);
}

void Pieces::join_text() {
    const auto piece = std::move(at_work_.front());
    at_work_.pop_front();
    if (!join(*piece)) feed(piece->text);
    spare_ = std::move(piece->text);
}

bool Pieces::join(Piece& piece) {
    piece.wait();
    const bool is_right = piece.join(detector_, session_->joining(), sink_);
    read_again_ = is_right ? 0 : read_again_ + 1;
    return is_right;
}

void Pieces::feed(std::string_view lines) {
    detector_.feed(prefix_ != nullptr ? prefix_->strip(lines, spare_) : lines, sink_);
}

}  // namespace stapgen::session
