// SPDX-License-Identifier: GPL-2.0-or-later
// Addresses that several threads name get the answers that one gives them: to the byte and in the same order, wherever
// the text is cut, from a file and from a pipe.

#include <doctest/doctest.h>
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

#include "base/files.h"
#include "cli/commands/annotate.h"
#include "cli/commands/answers.h"
#include "property/pieces/texts.h"
#include "symbols/kernel_names.h"

using namespace stapgen;
using pieces::below;
using pieces::Random;

namespace {

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

/// Words of all kinds, with all that stands between words: short and very long lines, of other systems, too. Names may
/// contradict the map: `with_names`.
std::string random_text(Random& random, bool with_names) {
    static const std::array<std::string_view, 8> between{" ", "\n", "\r\n", "\t", "  ", "\n\n", ", ", "> "};
    static const std::array<std::string_view, 8> others{"dropped", "at",   "RIP", "consume_skb",
                                                        "0x",      "ffff", "_",   "f5+0x3"};
    const auto lines_are_long = below(random, 4) == 0;
    std::string text;
    for (std::int64_t words = below(random, 3000); words > 0; --words) {
        const auto other = static_cast<std::size_t>(below(random, with_names && below(random, 99) == 0 ? 8 : 7));
        text += below(random, 5) > 0 ? address(random) : others[other];
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

Answer answer_to(const Folder& folder, Command command, const std::filesystem::path& file, const cli::Blocks& blocks) {
    auto names = folder.names();
    std::ostringstream out;
    const auto outcome = command == Command::annotate
                             ? cli::annotate(names, file, out, blocks)
                             : cli::answer(names, {.is_json = command == Command::json}, file, out, blocks);
    return {out.str(), outcome.has_value()};
}

cli::Blocks random_blocks(Random& random) {
    return {static_cast<std::size_t>(2 + below(random, 4)), static_cast<std::size_t>(1 + below(random, 5000))};
}

}  // namespace

TEST_CASE("several threads give the answers of one") {
    Folder folder;
    Random random(20261125);
    std::size_t named = 0;
    for (int round = 0; round < 60; ++round) {
        const bool with_names = round % 3 == 0;
        const auto text = random_text(random, with_names);
        const auto file = folder.put("text", text);
        const auto blocks = random_blocks(random);
        CAPTURE(round);
        CAPTURE(blocks.cores);
        CAPTURE(blocks.size);
        for (const auto command : {Command::addresses, Command::json, Command::annotate}) {
            const auto expected = answer_to(folder, command, file, {.cores = 1, .size = blocks.size});
            named += expected.text.find("f7") != std::string::npos ? 1 : 0;
            CHECK((answer_to(folder, command, file, blocks) == expected));
            // From the block on in which a name contradicts the map, a text is copied as it is.
            if (with_names) continue;
            CHECK((answer_to(folder, command, file, {.cores = 1, .size = text.size() + 1}) == expected));
        }
    }
    CHECK(named > 100);
}

TEST_CASE("a pipe, filled in any pieces, is answered as one filled at once") {
    Folder folder;
    Random random(1009);
    const auto pipe = folder.pipe();
    const auto piped = [&](Command command, std::string_view text, Random cuts, std::int64_t most,
                           const cli::Blocks& blocks) {
        std::jthread writer([&pipe, text, cuts, most]() mutable {
            std::ofstream to(pipe);
            for (std::size_t at = 0; at < text.size();) {
                const auto size = std::min(text.size() - at, static_cast<std::size_t>(1 + below(cuts, most)));
                to.write(text.data() + at, static_cast<std::streamsize>(size)).flush();
                at += size;
            }
        });
        return answer_to(folder, command, pipe, blocks);
    };
    for (int round = 0; round < 20; ++round) {
        const auto text = random_text(random, false);
        const auto command = round % 2 == 0 ? Command::addresses : Command::annotate;
        const auto whole = piped(command, text, random, 10'000'000, {.cores = 1, .size = 1U << 20U});
        CAPTURE(round);
        CHECK((piped(command, text, random, 3000, random_blocks(random)) == whole));
        // The map is checked against all drops of a file, but only against the first of a pipe.
        if (command == Command::annotate) continue;
        CHECK((answer_to(folder, command, folder.put("text", text), {.cores = 1, .size = 4096}) == whole));
    }
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
    for (Random random(31); text.size() < 200'000;)
        text += address(random) + '\n';
    const auto file = folder.put("text", text);
    const auto all = answer_to(folder, Command::addresses, file, {.cores = 1});
    for (const std::size_t cores : {1, 4}) {
        auto names = folder.names();
        Narrow narrow;
        std::ostream out(&narrow);
        (void)cli::answer(names, {}, file, out, {.cores = cores, .size = 100});
        CHECK(all.text.starts_with(narrow.str()));
        CHECK(narrow.str().size() < 2000);
    }
}
