#include "recipe/kernels.h"

#include <fmt/format.h>
#include <toml++/toml.h>

#include "base/files.h"

namespace stapgen::recipe {

base::Result<std::vector<KernelRange>> kernels_of(const std::string& recipe, const std::filesystem::path& file) {
    const auto wrong = [&file](const toml::source_position& where, std::string_view what) {
        return base::bad_input(fmt::format("{}:{}:{}: {}", file.string(), where.line, where.column, what),
                               "see the comment at the top of the kernels.toml that came with stapgen");
    };
    auto text = base::read_file(file);
    if (!text) return tl::make_unexpected(text.error());
    toml::table root;
    try {
        root = toml::parse(*text);
    } catch (const toml::parse_error& error) {
        return wrong(error.source().begin, error.description());
    }
    const auto* rows = root["kernels"].as_array();
    if (rows == nullptr || !rows->is_array_of_tables()) return wrong({1, 1}, "there are no [[kernels]]");
    std::vector<KernelRange> ranges;
    for (const auto& item : *rows) {
        const auto& row = *item.as_table();
        KernelRange range{row["range"].value_or(std::string{}), row["state"].value_or(std::string{}), {}};
        if (range.range.empty()) return wrong(row.source().begin, "'range' is missing");
        if (range.state != "run" && range.state != "resolved") {
            return wrong(row.source().begin, "'state' is neither \"run\" nor \"resolved\"");
        }
        const auto lost = row["lost"];
        range.lost = lost[recipe].value_or(lost["all"].value_or(std::string{}));
        ranges.push_back(std::move(range));
    }
    return ranges;
}

}  // namespace stapgen::recipe
