// SPDX-License-Identifier: GPL-2.0-or-later
#include "recording/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <random>
#include <utility>

#include "base/text.h"
#include "base/units.h"
#include "recording/packed_file.h"

namespace stapgen::recording {

namespace {

std::string random_id() {
    std::random_device random;
    std::string id;
    for (int i = 0; i < 4; ++i)
        id += fmt::format("{:08x}", random());
    return id;
}

}  // namespace

base::Result<Rotation> parse_rotation(std::string_view text) {
    const auto parts = base::split(text, ',');
    Rotation rotation;
    auto bytes = base::parse_size(parts[0]);
    if (!bytes) {
        bytes.error().what.insert(0, "--rotate: ");
        return tl::make_unexpected(bytes.error());
    }
    rotation.bytes = *bytes;
    const auto files = parts.size() == 2 ? base::to_int(parts[1]) : std::nullopt;
    if (files) rotation.files = *files;
    const bool files_fit = parts.size() == 1 || (files && *files >= 1 && *files <= 10000);
    if (rotation.bytes < 100'000 || !files_fit) {
        return base::bad_input(
            fmt::format("--rotate {}: not a size of 100 kB or more, or not 1 to 10000 files", base::printable(text)),
            "for example --rotate 64MB, or --rotate 64MB,5 to keep the newest five files");
    }
    return rotation;
}

std::filesystem::path part_path(const std::filesystem::path& file, std::int64_t part) {
    auto path = file;
    if (part > 0) path += fmt::format(".{}", part);
    return path;
}

Writer::Writer(const std::filesystem::path& first_path, std::unique_ptr<PackedFile> file, const Rotation& rotation)
    : file_(std::move(file)), first_path_(first_path), rotation_(rotation), run_id_(random_id()) {}

std::unique_ptr<Writer> Writer::to_lines(std::function<void(std::string_view line)> take) {
    auto writer = std::unique_ptr<Writer>(new Writer({}, nullptr, {}));
    writer->take_ = std::move(take);
    return writer;
}

base::Result<std::unique_ptr<Writer>> Writer::create(const std::filesystem::path& file, const Rotation& rotation) {
    std::error_code ignored;
    if (const auto second = part_path(file, 1); rotation.bytes > 0 && std::filesystem::exists(second, ignored)) {
        return base::bad_input(
            fmt::format("{} exists and would be the second part", second.string()),
            "stapgen overwrites nothing: give another name, or remove the files of the earlier recording");
    }
    STAPGEN_LET(auto created, PackedFile::create(file));
    return std::unique_ptr<Writer>(new Writer(file, std::move(created), rotation));
}

Writer::~Writer() {
    std::error_code ignored;
    if (!begun_ && file_) std::filesystem::remove(first_path_, ignored);
}

bool Writer::note(const base::Result<void>& done) {
    if (!done) failure_ = done.error();
    return done.has_value();
}

bool Writer::is_full() const {
    return !failure_ && is_open_ && rotation_.bytes > 0 && lines_ > 0 && file_->size() >= rotation_.bytes;
}

/// Whole lines.
base::Result<void> Writer::put(std::string_view lines) {
    if (file_) return file_->write(lines);
    for (const auto line : base::split(lines.substr(0, lines.rfind('\n')), '\n'))
        take_(line);
    return {};
}

void Writer::line(std::string_view text) {
    if (failure_ || !is_open_) return;
    if (!file_) {
        take_(text);
    } else if (!note(file_->write(text)) || !note(file_->write("\n"))) {
        return;
    }
    unflushed_ = true;
    ++lines_;
    if (rotation_.bytes > 0) keep_for_repeating(text);
}

void Writer::flush() {
    if (failure_ || !unflushed_) return;
    unflushed_ = false;
    if (file_) note(file_->flush());
}

void Writer::end(Outcome outcome) {
    if (failure_ || !is_open_) return;
    write_trailer(std::move(outcome), false);
    ended_ = true;
}

void Writer::begin_part(Setup setup) {
    begun_ = is_open_ = true;
    const auto repeated = header_ + fields_ + ready_;
    const Header header{.run_id = run_id_,
                        .part = part_,
                        .lines_before = lines_before_,
                        .repeated = std::ranges::count(repeated, '\n'),
                        .start_epoch_ns = base::now_epoch_ns(),
                        .setup = std::move(setup)};
    note(put(header_line(header) + repeated));
}

void Writer::write_trailer(Outcome outcome, bool continued) {
    is_open_ = false;
    if (note(put(trailer_line({base::now_epoch_ns(), continued, lines_, std::move(outcome)}))) && file_)
        note(file_->finish());
}

void Writer::rotate(Outcome outcome) {
    // Without room for a further file this one goes on to be readable, so it is ended first.
    write_trailer(std::move(outcome), true);
    if (failure_) return;
    lines_before_ += std::exchange(lines_, 0);
    ++part_;
    auto next = PackedFile::create(part_path(first_path_, part_));
    if (!next) {
        failure_ = next.error();
        return;
    }
    file_ = *std::move(next);
    std::error_code ignored;
    if (rotation_.files > 0 && part_ >= rotation_.files) {
        std::filesystem::remove(part_path(first_path_, part_ - rotation_.files), ignored);
    }
}

void Writer::keep_for_repeating(std::string_view text) {
    const auto line = [&] { return std::string(text) + "\n"; };
    if (text.starts_with("stapgen\t") && header_.empty()) header_ = line();
    if (text.starts_with("fields\t") && fields_.size() < 65536) fields_ += line();
    if (text.starts_with("ready\t")) ready_ = line();
}

}  // namespace stapgen::recording
