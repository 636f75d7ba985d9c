#include "base/source.h"

#include <doctest/doctest.h>

#include "base/files.h"
#include "unit/packed.h"

using namespace stapgen::base;

namespace {

constexpr std::string_view kallsyms = "ffffffff81000000 T _text\nffffffff81000100 t helper\n";

}  // namespace

TEST_CASE("a file may be packed in the usual ways") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "kallsyms";
    for (const auto& content :
         {std::string(), std::string(kallsyms), packed::gzip(kallsyms), packed::zstd(kallsyms), packed::xz(kallsyms)}) {
        REQUIRE(replace_file(file, content));
        CHECK(read_unpacked(file, max_kernel_text) == (content.empty() ? content : std::string(kallsyms)));
    }
    auto broken = packed::gzip(kallsyms);
    broken.resize(broken.size() / 2);
    REQUIRE(replace_file(file, broken));
    const auto result = read_unpacked(file, max_kernel_text);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::bad_input);
}

TEST_CASE("no more is unpacked than what was asked for") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "kallsyms";
    REQUIRE(create_file(file, packed::gzip(kallsyms)));
    CHECK(read_unpacked(file, kallsyms.size()) == std::string(kallsyms));
    const auto larger = read_unpacked(file, kallsyms.size() - 1);
    REQUIRE(!larger);
    CHECK(larger.error().what.find("is larger than") != std::string::npos);
}
