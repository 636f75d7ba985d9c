// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <boost/iostreams/copy.hpp>
#include <boost/iostreams/device/array.hpp>
#include <boost/iostreams/device/back_inserter.hpp>
#include <boost/iostreams/filter/gzip.hpp>
#include <boost/iostreams/filter/lzma.hpp>
#include <boost/iostreams/filter/zstd.hpp>
#include <boost/iostreams/filtering_stream.hpp>
#include <string>
#include <string_view>

/// Packs what the program unpacks.
namespace packed {

template <class Compressor>
std::string by(const Compressor& compressor, std::string_view bytes) {
    std::string out;
    boost::iostreams::filtering_istream stream;
    stream.push(compressor);
    stream.push(boost::iostreams::array_source(bytes.data(), bytes.size()));
    boost::iostreams::copy(stream, boost::iostreams::back_inserter(out));
    return out;
}

inline std::string gzip(std::string_view bytes) {
    return by(boost::iostreams::gzip_compressor(), bytes);
}
inline std::string xz(std::string_view bytes) {
    return by(boost::iostreams::lzma_compressor(), bytes);
}
inline std::string zstd(std::string_view bytes) {
    return by(boost::iostreams::zstd_compressor(), bytes);
}

}  // namespace packed
