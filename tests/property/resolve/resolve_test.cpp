// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses get the same names, to the byte and in the same order, from a file and from a pipe, however it is filled.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <random>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "base/text_blocks.h"
#include "cli/commands/annotate.h"
#include "cli/commands/answers.h"
#include "symbols/kernel_names.h"

using namespace stapgen;
using Random = std::mt19937_64;

namespace {

std::int64_t below(Random& random, std::int64_t limit) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(limit));
}

constexpr std::uint64_t first_function = 0xffffffff81000000;
constexpr std::int64_t functions = 1009, function_size = 64;

/// A kernel, and the texts, in a folder of their own.
class Folder {
  public:
    Folder() {
        std::string map = fmt::format("{:016x} T _text\n{:016x} T _stext\n", first_function, first_function);
        for (std::int64_t i = 0; i < functions; ++i)
            map += fmt::format("{:016x} T f{}\n", first_function + static_cast<std::uint64_t>(i * function_size), i);
        map += fmt::format("{:016x} T _etext\n", first_function + functions * function_size);
        put("System.map", map);
    }

    std::filesystem::path put(std::string_view name, std::string_view text) {
        const auto file = folder_->path() / name;
        REQUIRE(base::replace_file(file, text));
        return file;
    }
    [[nodiscard]] symbols::KernelNames names() const {
        auto names = symbols::KernelNames::open(
            {.files = {folder_->path() / "System.map"}, .modules = {}, .kaslr_offset = 0, .release = {}}, {});
        REQUIRE_MESSAGE(names, names.error().what);
        return *std::move(names);
    }
    [[nodiscard]] std::filesystem::path pipe() const {
        auto file = folder_->path() / "pipe";
        ::mkfifo(file.c_str(), 0600);
        return file;
    }

  private:
    base::Result<base::PrivateDirectory> folder_ = base::PrivateDirectory::create();
};

std::string address(Random& random) {
    const auto at = first_function + static_cast<std::uint64_t>(below(random, functions * function_size + 100));
    return fmt::format("{}{:016x}", below(random, 2) == 0 ? "0x" : "", at);
}

/// Words of all kinds, with all that stands between words: short and very long lines, of other systems, too.
std::string random_text(Random& random) {
    static const std::array<std::string_view, 8> between{" ", "\n", "\r\n", "\t", "  ", "\n\n", ", ", "> "};
    static const std::array<std::string_view, 7> others{"dropped", "at", "RIP", "consume_skb", "0x", "ffff", "_"};
    const auto lines_are_long = below(random, 4) == 0;
    std::string text;
    for (std::int64_t words = below(random, 3000); words > 0; --words) {
        text += below(random, 5) > 0 ? address(random) : others[static_cast<std::size_t>(below(random, 7))];
        text += lines_are_long ? " " : between[static_cast<std::size_t>(below(random, 8))];
        if (below(random, 1000) == 0) text += std::string(static_cast<std::size_t>(below(random, 20'000)), 'z');
    }
    return text;
}

enum class Command { addresses, json, annotate };

struct Answer {
    std::string text;
    bool is_good = true;
    bool operator==(const Answer&) const = default;
};

Answer answer_to(const Folder& folder, Command command, const std::filesystem::path& file) {
    auto names = folder.names();
    std::ostringstream out;
    const auto outcome = command == Command::annotate
                             ? cli::annotate(names, file, out)
                             : cli::answer(names, {.is_json = command == Command::json}, file, out);
    return {out.str(), outcome.has_value()};
}

}  // namespace

TEST_CASE("a pipe, filled in any pieces, is answered as one filled at once and as a file") {
    Folder folder;
    Random random(1009);
    const auto pipe = folder.pipe();
    const auto piped = [&](Command command, std::string_view text, Random cuts, std::int64_t most) {
        std::jthread writer([&pipe, text, cuts, most]() mutable {
            std::ofstream to(pipe);
            for (std::size_t at = 0; at < text.size();) {
                const auto size = std::min(text.size() - at, static_cast<std::size_t>(1 + below(cuts, most)));
                to.write(text.data() + at, static_cast<std::streamsize>(size)).flush();
                at += size;
            }
        });
        return answer_to(folder, command, pipe);
    };
    std::size_t named = 0;
    for (int round = 0; round < 30; ++round) {
        const auto text = random_text(random);
        const auto command = static_cast<Command>(round % 3);
        const auto whole = piped(command, text, random, 10'000'000);
        named += whole.text.find("f7") != std::string::npos ? 1 : 0;
        CAPTURE(round);
        CHECK((piped(command, text, random, 3000) == whole));
        // The map is checked against all drops of a file, but only against the first of a pipe.
        if (command != Command::annotate) CHECK((answer_to(folder, command, folder.put("text", text)) == whole));
    }
    CHECK(named > 20);
}

TEST_CASE("whoever reads the answers may stop") {
    /// Takes so many bytes.
    class Narrow : public std::stringbuf {
      public:
        std::streamsize xsputn(const char* text, std::streamsize size) override {
            return str().size() > 1000 ? 0 : std::stringbuf::xsputn(text, size);
        }
    };
    Folder folder;
    std::string text;
    for (Random random(31); text.size() < 8 * base::TextBlocks::read_size;)
        text += address(random) + '\n';
    const auto file = folder.put("text", text);
    const auto all = answer_to(folder, Command::addresses, file);
    auto names = folder.names();
    Narrow narrow;
    std::ostream out(&narrow);
    (void)cli::answer(names, {}, file, out);
    CHECK(all.text.starts_with(narrow.str()));
    CHECK(narrow.str().size() < all.text.size() / 4);
}
