// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <set>
#include <string>

#include "between/joined_recording.h"
#include "kinds/latency/waits.h"
#include "recipe/catalog.h"
#include "schema/schema.h"

using namespace stapgen;

TEST_CASE(
    "each part of the shipped recipes and of joined requests has its wait, and each wait is a part or a stage of "
    "theirs") {
    std::set<std::string> parts, stages;
    const auto add = [&](const schema::Field& field) {
        if (field.type == schema::FieldType::stage)
            (schema::divided_stage(field.name).empty() ? stages : parts).insert(field.name);
    };
    for (const auto& recipe : recipe::load_catalog({{SOURCE_DIR "/templates"}}).recipes) {
        for (const auto& field : recipe.record.fields)
            add(field);
        for (const auto& parameter : recipe.parameters)
            for (const auto& field : parameter.fields)
                add(field);
    }
    REQUIRE_FALSE(stages.empty());
    auto joined = between::joined_header;
    joined.remove_prefix(joined.find('\t') + 1);
    const auto header = schema::parse_header(joined).value();
    for (const auto& field : header.schemas.front().fields)
        add(field);
    for (const auto& part : parts) {
        CAPTURE(part);
        CHECK(kinds::latency::wait_of(part) != nullptr);
    }
    for (const auto& wait : kinds::latency::known_waits()) {
        for (const auto& name : wait.names()) {
            CAPTURE(name);
            CHECK((wait.cause.empty() ? stages : parts).contains(name));
        }
    }
}
