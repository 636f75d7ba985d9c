// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "schema/schema.h"
#include "show/json.h"

namespace stapgen::show {

namespace {

using decode::FieldType;
using Json = nlohmann::ordered_json;

Json json_value(FieldType type, const decode::Value& value) {
    if (!value.seen) return nullptr;
    switch (type) {
        case FieldType::text:
            return decode::unescape(value.raw);
        case FieldType::endpoint:
        case FieldType::ip:
            return decode::endpoint_text(value.raw);
        case FieldType::stack: {
            auto frames = Json::array();
            for (const auto address : decode::stack_addresses(value.raw))
                frames.push_back(fmt::format("0x{:x}", address));
            return frames;
        }
        case FieldType::address:
            return fmt::format("0x{:x}", value.address());
        case FieldType::reason:
            return value.number < 0 ? Json(nullptr) : Json(value.number);
        default:
            break;
    }
    return value.number;
}

class EventLines final : public EventWriter {
  public:
    explicit EventLines(std::ostream& out) : EventWriter(out) {}

  private:
    void write(const decode::Record& record) override {
        Json object;
        object["event"] = record.schema->tag;
        const auto& fields = record.schema->fields;
        for (std::size_t i = 0; i < fields.size(); ++i) {
            const auto& [name, type, attribute] = fields[i];
            const auto& value = record.values[i];
            if (!value.seen && schema::is_part(name)) continue;
            if (type == FieldType::time) {
                const auto epoch = epoch_of(value);
                object[name + "_ns"] = epoch ? Json(*epoch) : Json(nullptr);
            } else {
                object[type == FieldType::stage ? name + "_ns" : name] = json_value(type, value);
            }
        }
        put_json(out_, object, -1);
    }
};

}  // namespace

std::unique_ptr<RecordWriter> event_lines(std::ostream& out, const Options& /*options*/) {
    return std::make_unique<EventLines>(out);
}

}  // namespace stapgen::show
