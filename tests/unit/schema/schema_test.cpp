// SPDX-License-Identifier: GPL-2.0-or-later
#include "schema/schema.h"

#include <doctest/doctest.h>

#include <filesystem>
#include <regex>

#include "base/files.h"
#include "base/text.h"
#include "schema/bins.h"

using namespace stapgen::schema;

TEST_CASE("a header line is read and written with every type and attribute") {
    const auto names = type_names();
    std::string text = "4\tmine,aggregated,silent\tm";
    for (const auto type : stapgen::base::split(names, ' ')) {
        const auto name = type.substr(0, type.size() - (type.ends_with(',') ? 1 : 0));
        text += "\tof-" + std::string(name) + ":" + std::string(name);
    }
    const auto header = parse_header(text);
    REQUIRE(header);
    CHECK(header->version == 4);
    CHECK(header->recipe == "mine");
    CHECK(header->aggregated);
    CHECK(header->silent);
    REQUIRE(header->schemas.size() == 1);
    const auto& schema = header->schemas.front();
    CHECK(schema.tag == "m");
    CHECK(schema.fields.size() == 18);
    CHECK(schema.fields[schema.find("of-int").value()].type == FieldType::integer);
    CHECK(schema.find(Attribute::depth) == schema.find("of-int,depth"));
    CHECK(schema.fields[schema.find("of-stage,thread").value()].attribute == Attribute::thread);
    CHECK(header->line() == "stapgen\t" + text);
}

TEST_CASE("a header without a schema that makes sense is none") {
    for (const char* text : {"",
                             "4",
                             "4\tmine",
                             "4\tmine\tm",
                             "4\tmine\tm\t",
                             "4\tmine\tm\ta",
                             "4\tmine\tm\ta:",
                             "4\tmine\tm\t:int",
                             "4\tmine\tm\ta:float",
                             "4\tmine\tm\ta:time,key",
                             "4\tmine\tm\ta:int,",
                             "4\tmine\tm\ta:int\ta:text",
                             "4\tmine\tm\ta:int\t",
                             "4\tmine\ttick\ta:int",
                             "4\tmine\tslow\ta:int",
                             "4\t\tm\ta:int",
                             "4\tmine\t\ta:int",
                             "4\tmine,silent\tm\ta:int",
                             "4\tmine,aggregated,x\tm\ta:int",
                             "4\tmine,aggregated,silent,x\tm\ta:int",
                             "0\tmine\tm\ta:int",
                             "-4\tmine\tm\ta:int",
                             "four\tmine\tm\ta:int",
                             "99999999999\tmine\tm\ta:int",
                             "4\tmi\x01ne\tm\ta:int",
                             "4\tmine\tm\x01\ta:int",
                             "4\tmine\tm\ta\x01:int"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_header(text));
    }
    CHECK(parse_header("4\tmine\tm\ta:int"));
}

TEST_CASE("words and commas of version 4 are a tag and a name in older recordings") {
    CHECK(parse_header("3\tmine,aggregated\tslow\ta:int").value().recipe == "mine,aggregated");
    CHECK_FALSE(parse_header("3\tmine\ttick\ta:int"));
}

TEST_CASE("of a newer version only the version is read") {
    const auto header = parse_header("6\twhat\tever").value();
    CHECK(header.version == 6);
    CHECK(header.schemas.empty());
}

TEST_CASE("a part is of a stage that stands before it") {
    CHECK(divided_stage("app-tcp.nagle") == "app-tcp");
    CHECK(cause_of("app-tcp.nagle") == "nagle");
    CHECK(divided_stage("app-tcp").empty());
    CHECK(divides_total({"app-tcp.nagle", FieldType::stage}));
    CHECK(parse_header("5\tmine\tm\ta:stage\ta.b:stage"));
    for (const auto* text : {"5\tmine\tm\ta.b:stage\ta:stage", "5\tmine\tm\tc:stage\ta.b:stage",
                             "5\tmine\tm\ta:int\ta.b:stage", "5\tmine\tm\ta:stage\ta.b:value"}) {
        CAPTURE(text);
        CHECK_FALSE(parse_header(text));
    }
}

TEST_CASE("what makes a total, and what has a row in a report") {
    CHECK(divides_total({"rx", FieldType::stage}));
    CHECK_FALSE(divides_total({"total", FieldType::stage}));
    CHECK_FALSE(divides_total({"events", FieldType::value}));
    CHECK(has_statistics({"total", FieldType::stage}));
    CHECK(has_statistics({"events", FieldType::value}));
    CHECK_FALSE(has_statistics({"bytes", FieldType::integer}));
    CHECK(find_direction({"net", 0, {{"pid"}, {"way", FieldType::text}}}) == 1);
    CHECK_FALSE(find_direction({"net", 0, {{"way"}}}));
}

TEST_CASE("the kernel's side has the same bins") {
    std::string code;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(SOURCE_DIR "/tapsets")) {
        if (entry.is_regular_file()) code += stapgen::base::read_file(entry.path()).value();
    }
    std::smatch all, totals, largest;
    REQUIRE(std::regex_search(code, all, std::regex(R"(STAPGEN_BINS = (\d+) \* (\d+))")));
    REQUIRE(std::regex_search(code, totals, std::regex(R"(STAPGEN_TOTALS = (\d+) \* (\d+))")));
    REQUIRE(std::regex_search(code, largest, std::regex(R"(define STAPGEN_LARGEST \(\(1LL << (\d+)\) - 1\))")));
    CHECK(std::stoi(all[2]) == bins::per_doubling);
    CHECK(std::stoi(all[1]) * std::stoi(all[2]) == bins::count);
    CHECK(std::stoi(totals[2]) == bins::split_per_doubling);
    CHECK(std::stoi(totals[1]) * std::stoi(totals[2]) <= bins::split_count);
    CHECK((std::int64_t{1} << std::stoi(largest[1])) - 1 == bins::largest);
}
