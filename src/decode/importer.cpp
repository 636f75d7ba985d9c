#include "decode/importer.h"

#include <cstring>

#include "base/text.h"

namespace stapgen::decode {

std::size_t Importer::take(std::string_view lines, Sink& sink) {
    std::size_t taken = 0;
    while (taken < lines.size()) {
        const char* const at = lines.data() + taken;
        const auto* const end = static_cast<const char*>(std::memchr(at, '\n', lines.size() - taken));
        if (end == nullptr) break;
        std::string_view text(at, static_cast<std::size_t>(end - at));
        const auto length = text.size() + 1;
        if (text.ends_with('\r')) text.remove_suffix(1);
        // None of them but ftrace ends a line with it; HTML does, whose tags would be a part of the last field.
        const bool is_tagged = text.ends_with('>') && !text.ends_with(": <stack trace>");
        if (is_tagged || (text.empty() ? !begun_ : !line(text, sink))) break;
        taken += length;
        ++line_number_;
    }
    return taken;
}

void Importer::begin(Sink& sink) {
    if (begun_) return;
    begun_ = true;
    sink.line(HeaderLine{&header_});
}

Schema make_schema(std::string_view tag, std::initializer_list<Fields> fields) {
    Schema schema{std::string(tag), 0, {}};
    for (const auto& [type, names] : fields) {
        for (const auto name : base::words(names))
            schema.fields.push_back({std::string(name), type});
    }
    return schema;
}

Header make_header(std::string_view recipe, std::vector<Schema> schemas) {
    Header header;
    header.recipe = recipe;
    for (auto& schema : schemas) {
        schema.index = header.schemas.size();
        header.schemas.push_back(std::move(schema));
    }
    return header;
}

}  // namespace stapgen::decode
