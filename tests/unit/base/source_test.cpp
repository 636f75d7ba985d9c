#include "base/source.h"

#include <doctest/doctest.h>

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "base/files.h"

using namespace stapgen::base;

namespace {

constexpr std::string_view kallsyms = "ffffffff81000000 T _text\nffffffff81000100 t helper\n";

template <class Filter>
std::string packed(Filter filter) {
    std::string out;
    boost::iostreams::filtering_istream stream;
    stream.push(filter);
    stream.push(boost::iostreams::array_source(kallsyms.data(), kallsyms.size()));
    boost::iostreams::copy(stream, boost::iostreams::back_inserter(out));
    return out;
}

}  // namespace

TEST_CASE("a file may be packed in the usual ways") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "kallsyms";
    for (const auto& content :
         {std::string(), std::string(kallsyms), packed(boost::iostreams::gzip_compressor()),
          packed(boost::iostreams::zstd_compressor()), packed(boost::iostreams::lzma_compressor())}) {
        REQUIRE(replace_file(file, content));
        CHECK(read_unpacked(file, max_kernel_text) == (content.empty() ? content : std::string(kallsyms)));
    }
    auto broken = packed(boost::iostreams::gzip_compressor());
    broken.resize(broken.size() / 2);
    REQUIRE(replace_file(file, broken));
    const auto result = read_unpacked(file, max_kernel_text);
    REQUIRE_FALSE(result);
    CHECK(result.error().kind == ErrorKind::bad_input);
}

TEST_CASE("no more is unpacked than what was asked for") {
    const auto folder = PrivateDirectory::create();
    const auto file = folder->path() / "kallsyms";
    REQUIRE(create_file(file, packed(boost::iostreams::gzip_compressor())));
    CHECK(read_unpacked(file, kallsyms.size()) == std::string(kallsyms));
    const auto larger = read_unpacked(file, kallsyms.size() - 1);
    REQUIRE(!larger);
    CHECK(larger.error().what.find("is larger than") != std::string::npos);
}
