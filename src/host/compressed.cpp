#include <fmt/format.h>

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>

#include "base/files.h"
#include "host/symbol_table.h"

namespace stapgen::host {

namespace io = boost::iostreams;

base::Result<std::string> read_maybe_compressed(const std::filesystem::path& path) {
    auto content = base::read_file(path);
    if (!content) return content;
    io::filtering_istream stream;
    if (content->starts_with("\x1f\x8b")) {
        stream.push(io::gzip_decompressor());
    } else if (content->starts_with("\xfd"
                                    "7zXZ")) {
        stream.push(io::lzma_decompressor());
    } else if (content->starts_with("\x28\xb5\x2f\xfd")) {
        stream.push(io::zstd_decompressor());
    } else {
        return content;
    }
    stream.push(io::array_source(content->data(), content->size()));
    std::string unpacked;
    try {
        io::copy(stream, io::back_inserter(unpacked));
    } catch (const std::exception& error) {
        return base::bad_input(fmt::format("cannot unpack {}: {}", path.string(), error.what()),
                               "the file is damaged or was cut off; make it again");
    }
    return unpacked;
}

}  // namespace stapgen::host
