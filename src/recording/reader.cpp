// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <map>

#include "base/json_text.h"
#include "base/limits.h"

namespace stapgen::recording {

namespace {

constexpr std::size_t first_size = 256 * 1024, largest_size = base::limits::line_bytes;

/// The place in whole lines of the first one that looks like one of a recording's own, or their end. Both have a '{'
/// close behind their beginning, and in the text of measurements that is rare enough to look for it first.
std::size_t find_own_line(std::string_view lines) {
    constexpr std::size_t max_beginning_length = 32;
    for (auto brace = lines.find('{'); brace != std::string_view::npos; brace = lines.find('{', brace + 1)) {
        if (brace == 0 || lines[brace - 1] != '\t') continue;
        const auto from = brace - std::min(brace, max_beginning_length);
        const auto before = lines.substr(from, brace - from);
        const auto line_end = before.rfind('\n');
        if (line_end == std::string_view::npos && from > 0) continue;
        const auto begin = line_end == std::string_view::npos ? 0 : from + line_end + 1;
        if (parse_own_line(lines.substr(begin, brace - begin + 1))) return begin;
    }
    return lines.size();
}

}  // namespace

Reader::Reader(std::unique_ptr<base::Source> source) : source_(std::move(source)), buffer_(first_size) {}

base::Result<Reader> Reader::open(const std::filesystem::path& path) {
    return open(path, {});
}

base::Result<Reader> Reader::open(const std::filesystem::path& path, const std::shared_ptr<base::Budget>& budget) {
    STAPGEN_LET(auto source, budget ? base::Source::open_copy(path, budget) : base::Source::open(path));
    Reader reader(std::move(source));
    STAPGEN_TRY(reader.begin());
    return reader;
}

base::Result<void> Reader::begin() {
    const auto may_be_header = [&] {
        constexpr std::string_view word = "recording\t";
        const std::string_view text(buffer_.data(), end_);
        return text.starts_with(word.substr(0, text.size()));
    };
    while (whole_ == 0 && !at_end_ && may_be_header()) {
        if (auto filled = fill(); !filled) return filled;
    }
    const std::string_view lines(buffer_.data(), whole_);
    if (find_own_line(lines) > 0) return {};
    STAPGEN_TRY(take_own(lines.substr(0, lines.find('\n') + 1)));
    return {};
}

base::Result<std::string_view> Reader::next() {
    for (;;) {
        if (another_) return std::string_view();
        if (begin_ == whole_) {
            if (at_end_) return std::string_view();
            if (auto filled = fill(); !filled) {
                at_end_ = true;
                return tl::make_unexpected(filled.error());
            }
            if (at_end_) end();
            continue;
        }
        const std::string_view lines(buffer_.data() + begin_, whole_ - begin_);
        if (to_skip_ > 0 && !parse_own_line(lines.substr(0, lines.find('\n')))) {
            --to_skip_;
            begin_ += lines.find('\n') + 1;
            continue;
        }
        to_skip_ = 0;
        if (const auto size = find_own_line(lines); size > 0) return hand_out(size);
        const auto size = lines.find('\n') + 1;
        const auto taken = take_own(lines.substr(0, size));
        if (!taken) {
            at_end_ = true;
            begin_ = whole_;
            return tl::make_unexpected(taken.error());
        }
        if (!*taken && !another_) return hand_out(size);
    }
}

std::string_view Reader::hand_out(std::size_t size) {
    return {buffer_.data() + std::exchange(begin_, begin_ + size), size};
}

/// Whether the line is the recording's own, and was taken; it is not if its JSON is broken. Stops before the header of
/// another recording.
base::Result<bool> Reader::take_own(std::string_view line) {
    const auto own = parse_own_line(line.substr(0, line.size() - line.ends_with('\n')));
    if (!own) return false;
    if (const auto fits = base::check_json(own->json); !fits) {
        const auto& error = fits.error();
        return base::bad_input(
            fmt::format("the recording's {} line: {}", own->is_header ? "first" : "last", error.what), error.hint);
    }
    if (own->is_header) {
        if (own->version > file_version) {
            return base::bad_input(fmt::format("the recording is of version {}; this stapgen reads versions up to {}",
                                               own->version, file_version),
                                   "use the stapgen that made it, or a newer one; 'zstd -dc FILE' shows the text");
        }
        auto header = parse_header(own->json);
        if (!header) return false;
        another_ = header_ || trailer_;
        if (another_) return false;
        header_ = std::move(header);
        header_->version = own->version;
    } else {
        auto trailer = parse_trailer(own->json);
        if (!trailer) return false;
        trailer_ = std::move(trailer);
    }
    begin_ += line.size();
    return true;
}

bool Reader::next_recording() {
    if (!std::exchange(another_, false)) return false;
    header_.reset();
    trailer_.reset();
    const std::string_view lines(buffer_.data() + begin_, whole_ - begin_);
    // It is a header of a version that is known, or we would not have stopped here.
    return take_own(lines.substr(0, lines.find('\n') + 1)).value_or(false);
}

void Reader::skip_repeated() {
    if (header_) to_skip_ = std::max<std::int64_t>(header_->repeated, 0);
}

/// Called when there is no whole line left.
base::Result<void> Reader::fill() {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= std::exchange(begin_, 0);
    whole_ = 0;
    while (!at_end_ && whole_ == 0) {
        if (end_ == buffer_.size() && end_ == largest_size) {
            buffer_.back() = '\n';
            whole_ = end_;
            in_long_line_ = true;
            break;
        }
        if (end_ == buffer_.size()) buffer_.resize(std::min(2 * end_, largest_size));
        STAPGEN_LET(const auto count, source_->read(std::span(buffer_).subspan(end_)));
        auto* const fresh = buffer_.data() + end_;
        at_end_ = count == 0;
        end_ += count;
        if (in_long_line_) {
            // Its beginning is out.
            const void* line_end = std::memchr(fresh, '\n', count);
            const auto rest =
                line_end == nullptr ? count : static_cast<std::size_t>(static_cast<const char*>(line_end) - fresh) + 1;
            std::memmove(fresh, fresh + rest, count - rest);
            end_ -= rest;
            in_long_line_ = line_end == nullptr;
        }
        const auto last = std::string_view(buffer_.data(), end_).rfind('\n');
        whole_ = last == std::string_view::npos ? 0 : last + 1;
    }
    return {};
}

/// A paste may lack the '\n' of the last line, which does no harm to a line that is whole by what it says.
void Reader::end() {
    const auto partial = last_partial_line();
    const auto own = parse_own_line(partial);
    if (!own || own->is_header) return;
    if (auto trailer = parse_trailer(own->json)) {
        trailer_ = std::move(trailer);
        begin_ = whole_ = end_;
    }
}

std::string_view Reader::last_partial_line() const {
    return {buffer_.data() + whole_, at_end_ ? end_ - whole_ : 0};
}

bool Reader::cut_short() const {
    return (header_ && !trailer_) || (at_end_ && source_->cut_short());
}

base::Result<std::vector<Run>> runs_of(const std::vector<std::filesystem::path>& files,
                                       const std::shared_ptr<base::Budget>& budget) {
    std::vector<Run> runs;
    std::map<std::string, std::map<std::int64_t, std::filesystem::path>> parts;
    for (const auto& file : files) {
        std::error_code error;
        Run alone{{}, {file}, {}};
        if (file != "-" && (std::filesystem::is_regular_file(file, error) || error)) {
            STAPGEN_LET(const auto reader, Reader::open(file, budget));
            if (const auto& header = reader.header(); header && !header->run_id.empty()) {
                alone.id = header->run_id;
                const auto [known, is_new] = parts[alone.id].emplace(header->part, file);
                if (!is_new) {
                    return base::bad_input(fmt::format("{} and {} are the same part of one recording",
                                                       known->second.string(), file.string()),
                                           "give each file once");
                }
            }
        }
        if (alone.id.empty() || std::ranges::find(runs, alone.id, &Run::id) == runs.end()) runs.push_back(alone);
    }
    for (auto& run : runs) {
        if (run.id.empty()) continue;
        run.files.clear();
        std::int64_t expected = 0;
        for (const auto& [part, file] : parts[run.id]) {
            if (part > expected) run.missing.emplace_back(expected, part - 1);
            expected = std::min(part, std::numeric_limits<std::int64_t>::max() - 1) + 1;
            run.files.push_back(file);
        }
    }
    return runs;
}

}  // namespace stapgen::recording
