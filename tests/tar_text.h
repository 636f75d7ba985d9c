// SPDX-License-Identifier: GPL-2.0-or-later
#pragma once

#include <fmt/format.h>

#include <numeric>
#include <string>

/// Archives for tests, as tar(5) has them.
namespace stapgen::test {

inline std::string tar_entry(const std::string& name, char type, const std::string& content,
                             const std::string& prefix = {}) {
    constexpr std::size_t block = 512;
    std::string header(block, '\0');
    const auto put = [&](std::size_t at, const std::string& text) { header.replace(at, text.size(), text); };
    put(0, name);
    put(100, "0000644");
    put(124, fmt::format("{:011o}", content.size()));
    put(136, "00000000000");
    put(148, "        ");
    put(156, std::string(1, type));
    put(257, std::string("ustar\0"
                         "00",
                         8));
    put(345, prefix);
    const auto sum = std::accumulate(header.begin(), header.end(), 0U,
                                     [](unsigned all, char c) { return all + static_cast<unsigned char>(c); });
    put(148, fmt::format("{:06o}", sum) + '\0');
    return header + content + std::string((block - content.size() % block) % block, '\0');
}

inline std::string tar_file(const std::string& name, const std::string& content) {
    return tar_entry(name, '0', content);
}

inline const std::string tar_end(1024, '\0');

}  // namespace stapgen::test
