// SPDX-License-Identifier: GPL-2.0-or-later
#include "bundle/tar.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "tar_text.h"

using namespace stapgen;
using namespace stapgen::bundle;
using namespace stapgen::test;

namespace {

class Text final : public base::Source {
  public:
    Text(std::string text, std::size_t piece) : text_(std::move(text)), piece_(piece) {}
    base::Result<std::size_t> read(std::span<char> into) override {
        const auto count = text_.copy(into.data(), std::min(into.size(), piece_), at_);
        at_ += count;
        return count;
    }
    [[nodiscard]] bool cut_short() const override { return false; }

  private:
    std::string text_;
    std::size_t piece_, at_ = 0;
};

using Files = std::vector<std::pair<std::string, std::string>>;

struct Read {
    Files files;
    std::string error;
    std::int64_t passed_over = 0;
    bool cut_short = false;
};

Read read(const std::string& archive, std::size_t piece = 97) {
    Text text(archive, piece);
    Tar tar(text, "a.tar");
    Read seen;
    for (;;) {
        const auto file = tar.next();
        if (!file) seen.error = file.error().what;
        if (!file || !*file) break;
        std::string content;
        char buffer[61];
        for (;;) {
            const auto count = tar.read(buffer);
            REQUIRE(count);
            if (*count == 0) break;
            content.append(buffer, *count);
        }
        seen.files.emplace_back((*file)->path, content);
    }
    seen.passed_over = tar.passed_over();
    seen.cut_short = tar.cut_short();
    return seen;
}

}  // namespace

TEST_CASE("files come in their order, whole, whatever the source hands out at once") {
    const auto archive =
        tar_file("one", "1") + tar_file("two/empty", "") + tar_file("two/long", std::string(1021, 'x')) + tar_end;
    CHECK(begins_tar(archive));
    for (const std::size_t piece : {1, 97, 512, 1000, 100000}) {
        const auto seen = read(archive, piece);
        CHECK(seen.files == Files{{"one", "1"}, {"two/empty", ""}, {"two/long", std::string(1021, 'x')}});
        CHECK(seen.error.empty());
        CHECK_FALSE(seen.cut_short);
    }
}

TEST_CASE("long names of GNU and pax, and ustar's prefix") {
    const std::string name(211, 'n');
    CHECK(read(tar_entry("././@LongLink", 'L', name + '\0') + tar_file("short", "1")).files == Files{{name, "1"}});
    const auto attribute = fmt::format("{} path={}\n", name.size() + 10, name);
    CHECK(read(tar_entry("PaxHeader", 'x', attribute) + tar_file("short", "1")).files == Files{{name, "1"}});
    CHECK(read(tar_entry("name", '0', "1", "folder")).files == Files{{"folder/name", "1"}});
    // Only of the file behind it.
    CHECK(read(tar_entry("././@LongLink", 'L', name + '\0') + tar_file("short", "1") + tar_file("next", "2")).files ==
          Files{{name, "1"}, {"next", "2"}});
}

TEST_CASE("what is no regular file is counted and passed over") {
    const auto archive = tar_entry("link", '2', "") + tar_entry("hard", '1', "") + tar_entry("folder/", '5', "") +
                         tar_entry("pax", 'g', "global") + tar_file("file", "1");
    const auto seen = read(archive);
    CHECK(seen.files == Files{{"file", "1"}});
    CHECK(seen.passed_over == 2);
}

TEST_CASE("an archive that is damaged or cut short") {
    auto archive = tar_file("one", "1") + tar_file("two", std::string(2003, '2')) + tar_file("three", "3");
    const auto seen = read(archive.substr(0, archive.size() - 2000));
    CHECK(seen.cut_short);
    CHECK(seen.files.front() == Files::value_type{"one", "1"});
    archive[2 * tar_block + 1] = '!';
    const auto damaged = read(archive);
    CHECK(damaged.files == Files{{"one", "1"}});
    CHECK(damaged.error == "a.tar: the archive is damaged at byte 1024");
    CHECK_FALSE(begins_tar(std::string(tar_block, '\0')));
    CHECK_FALSE(begins_tar("rx=1 count=2"));
    CHECK(read(tar_entry("x", 'x', std::string(70000, 'x'))).error == "a.tar: a name of 70000 bytes");
}
