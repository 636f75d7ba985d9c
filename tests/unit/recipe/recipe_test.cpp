// SPDX-License-Identifier: GPL-2.0-or-later
#include "recipe/recipe.h"

#include <doctest/doctest.h>
#include <fmt/format.h>

#include "base/files.h"
#include "recipe/catalog.h"
#include "recipe/kernels.h"

using namespace stapgen;

namespace {

constexpr const char* good = R"(name = "mine"
summary = "One line"
[record]
tag = "r"
fields = ["time:time", "a-b:stage"]
[[stages]]
name = "a-b"
help = "from a to b"
[[parameters]]
name = "max-packets"
type = "int"
default = 4096
minimum = 64
maximum = 65536
help = "packets"
)";

base::Result<recipe::Recipe> load(const std::string& text) {
    const auto folder = base::PrivateDirectory::create().value();
    REQUIRE(base::create_file(folder.path() / "recipe.toml", text));
    auto loaded = recipe::load_recipe(folder.path(), {});
    if (!loaded) {
        // Without the folder's name, which differs from run to run.
        loaded.error().what.erase(0, folder.path().string().size() + 1);
    }
    return loaded;
}

std::string replaced(std::string text, const std::string& from, const std::string& to) {
    const auto at = text.find(from);
    REQUIRE(at != std::string::npos);
    return text.replace(at, from.size(), to);
}

}  // namespace

TEST_CASE("a recipe is read with its stages and parameters") {
    const auto loaded = load(good).value();
    CHECK(loaded.name == "mine");
    CHECK(loaded.record.fields.size() == 2);
    CHECK(loaded.stages.at(0).name == "a-b");
    CHECK(loaded.parameters.at(0).maximum == 65536);
    CHECK_FALSE(loaded.interval_s);
    CHECK_FALSE(loaded.record.aggregates);
}

TEST_CASE("a recipe may say that its script can aggregate, where there is a stage, and a script") {
    const std::string fields = R"(fields = ["time:time", "a-b:stage"])";
    CHECK(load(replaced(good, fields, fields + "\naggregates = true")).value().record.aggregates);
    const std::string no_stage = "name = \"mine\"\nsummary = \"s\"\n[record]\ntag = \"r\"\naggregates = true\n";
    CHECK(load(no_stage + R"(fields = ["stage:int"])")
              .error()
              .what.ends_with("aggregation needs a record with a field of type stage"));
    CHECK(load("reads = \"network-counters\"\n" + no_stage + R"(fields = ["a:text", "b:text", "c:stage"])")
              .error()
              .what.ends_with("'aggregates' is for a script, and a recipe with 'reads' has none"));
    for (const auto* tag : {"bin", "sum", "split", "slow", "tick"}) {
        const auto taken = load(replaced(good, "tag = \"r\"", fmt::format("tag = \"{}\"", tag)));
        CHECK(taken.error().what.ends_with(fmt::format("'{}' is not a tag", tag)));
    }
}

TEST_CASE("what is wrong with a recipe is said with file, line and column") {
    CHECK(load(replaced(good, "tag = \"r\"", "tag = r")).error().what.starts_with("recipe.toml:4:"));
    CHECK(load("[[[a]]]\n").error().what.starts_with("recipe.toml:1:3: "));
    CHECK(load("[\n").error().what.starts_with("recipe.toml:1:"));
    CHECK(load("n\u00e9 = 1\n").error().what.starts_with("recipe.toml:1:"));
    CHECK(load("\u00e9 = 1\n").error().what.starts_with("recipe.toml:1:"));
    CHECK(load("\u00e9").error().what.starts_with("recipe.toml:1:"));
    CHECK(load(replaced(good, "summary", "sumary")).error().what == "recipe.toml:1:1: the recipe has no 'summary'");
    CHECK(load(replaced(good, "tag =", "colour = 3\ntag =")).error().what ==
          "recipe.toml:4:1: unknown key 'colour' in [record]");
    CHECK(load(replaced(good, "a-b:stage", "a-b:stag")).error().what == "recipe.toml:5:10: 'a-b:stag' is not a field");
    CHECK(load(replaced(good, "default = 4096", "default = 3")).error().what ==
          "recipe.toml:12:11: --max-packets: 3 is not between 64 and 65536");
    CHECK(load(replaced(good, "name = \"a-b\"", "name = \"b-a\"")).error().what ==
          "recipe.toml:7:8: the stage 'b-a' is not a field of [record]");
    CHECK(load(std::string(good) + "[stap]\nmacros = [\"X=1; evil\"]\n").error().what ==
          "recipe.toml:17:10: 'X=1; evil' is not NAME=NUMBER");
}

TEST_CASE("a recipe says by what it can be filtered, and a word that is no filter is refused") {
    using recipe::Filter;
    const auto with = [](const std::string& list) { return load("filters = " + list + "\n" + good); };
    CHECK(with("[\"dev\", \"thread\"]").value().filters == std::set{Filter::thread, Filter::device});
    CHECK(with("[\"packet\", \"sample\"]").value().filters == std::set{Filter::packet, Filter::sample});
    // Of recipes before there was --filter.
    CHECK(with("[\"port\", \"addr\"]").value().filters == std::set{Filter::packet, Filter::sample});
    CHECK(with("[\"addr\"]").value().filters == std::set{Filter::packet});
    CHECK(with("[\"mark\"]").value().filters == std::set{Filter::mark});
    CHECK(load(good).value().filters.empty());
    CHECK(with("[\"thread\", \"packed\"]").error().what == "recipe.toml:1:11: there is no filter 'packed'");
    CHECK(with("[\"thread\", \"packed\"]").error().hint == "did you mean 'packet'?");
    CHECK(with("[\"bandwidth\"]").error().hint == "use thread, packet, sample, dev, mark or container");
    CHECK(with("\"thread\"").error().what == "recipe.toml:1:11: 'filters' must be a list of texts");
}

TEST_CASE("a recipe declares counters of the kernel by prefix and name") {
    const auto with = [](const std::string& name) {
        return load(std::string(good) + "[[counters]]\nname = \"" + name + "\"\nhelp = \"what\"\n");
    };
    const auto counters = with("TcpExt.ListenOverflows").value().counters;
    REQUIRE(counters.size() == 1);
    CHECK(counters[0].name == "TcpExt.ListenOverflows");
    CHECK(counters[0].help == "what");
    for (const char* name : {"", ".", "Tcp", "Tcp.", ".InErrs", "Tcp.In.Errs", "Tcp.In Errs", "../x"}) {
        CAPTURE(name);
        CHECK(with(name).error().what.starts_with("recipe.toml:17:8: '"));
    }
    CHECK(load(std::string(good) + "[[counters]]\nname = \"Tcp.InErrs\"\n").error().what ==
          "recipe.toml:16:1: [[counters]] has no 'help'");
}

TEST_CASE("a recipe says what it costs by the kernel's counters") {
    const auto with = [](const std::string& cost) { return load(std::string(good) + "[cost]\n" + cost); };
    const auto cost = with(
                          "hits = { \"softnet.processed\" = 4.5, \"Ip.OutRequests\" = 3 }\ninstructions = "
                          "1009\nprinting = 503\nsampled = 0.5\n")
                          .value()
                          .cost.value();
    CHECK(cost.hits == std::map<std::string, double>{{"Ip.OutRequests", 3}, {"softnet.processed", 4.5}});
    CHECK(cost.instructions == 1009);
    CHECK(cost.printing == 503);
    CHECK(cost.sampled == 0.5);
    CHECK_FALSE(load(good).value().cost);
    CHECK(with("instructions = 1\n").error().what == "recipe.toml:16:1: [cost] has no 'hits'");
    CHECK(with("hits = { \"x\" = 1 }\n").error().what == "recipe.toml:17:16: 'x' is not a counter name");
    CHECK(with("hits = { \"x.y\" = -1 }\ninstructions = 1\n").error().what ==
          "recipe.toml:17:18: 'x.y' must be a number, 0 or more");
    CHECK(with("hits = { \"x.y\" = nan }\ninstructions = 1\n").error().what.ends_with("must be a number, 0 or more"));
    CHECK(with("hits = { \"x.y\" = 1 }\n").error().what.ends_with("'instructions' must be 1 or more"));
    CHECK(with("hits = { \"x.y\" = 1 }\ninstructions = 1\nsampled = 1.5\n").error().what ==
          "recipe.toml:19:11: 'sampled' must be 0 to 1");
    CHECK(with("hits = { \"x.y\" = 1 }\ninstructions = 1\nsample = 1\n").error().hint == "did you mean 'sampled'?");
}

TEST_CASE("arguments get defaults, and values that a recipe does not allow are refused") {
    const auto mine = load(good).value();
    CHECK(recipe::complete_arguments(mine, {}).value().at("max-packets") == "4096");
    CHECK(recipe::complete_arguments(mine, {{"max-packets", "127"}}).value().at("max-packets") == "127");
    CHECK_FALSE(recipe::complete_arguments(mine, {{"max-packets", "63"}}));
    CHECK_FALSE(recipe::complete_arguments(mine, {{"max-packets", "64]; system(\"id\")"}}));
    CHECK(recipe::complete_arguments(mine, {{"max-packet", "64"}}).error().hint == "did you mean 'max-packets'?");
}

TEST_CASE("a duration and a choice are checked like a number, and a bool that is false by default is a flag") {
    const auto with = [](const std::string& parameter) {
        return load(std::string(good) + "[[parameters]]\nname = \"p\"\nhelp = \"h\"\n" + parameter);
    };
    const auto slow = with("type = \"duration\"\ndefault = \"20ms\"\nminimum = 1000\n").value();
    CHECK(recipe::complete_arguments(slow, {{"p", "1.5s"}}).value().at("p") == "1.5s");
    CHECK(recipe::template_value(slow.parameters.at(1), "1.5s") == "1500000000");
    CHECK(recipe::template_value(load(good).value().parameters.at(0), "0101") == "101");  // octal to SystemTap
    CHECK(recipe::complete_arguments(slow, {{"p", "999ns"}})
              .error()
              .what.starts_with("--p: 999ns is not between 1.00 us"));
    CHECK_FALSE(recipe::complete_arguments(slow, {{"p", "20 parsecs"}}));
    CHECK_FALSE(recipe::complete_arguments(slow, {{"p", "-1s"}}));

    const auto direction = with("type = \"text\"\ndefault = \"both\"\nchoices = [\"rx\", \"both\"]\n").value();
    CHECK(recipe::complete_arguments(direction, {{"p", "rx"}}));
    CHECK(recipe::complete_arguments(direction, {{"p", "boht"}}).error().what == "--p: 'boht' is not one of rx, both");
    CHECK(recipe::complete_arguments(direction, {{"p", "boht"}}).error().hint == "did you mean 'both'?");
    CHECK_FALSE(with("type = \"text\"\ndefault = \"tx\"\nchoices = [\"rx\"]\n"));
    CHECK_FALSE(with("type = \"int\"\ndefault = 1\nchoices = [\"1\"]\n"));

    CHECK(with("type = \"bool\"\ndefault = false\n").value().parameters.at(1).is_flag());
    CHECK_FALSE(with("type = \"bool\"\ndefault = true\n").value().parameters.at(1).is_flag());
}

TEST_CASE("names of functions are checked, because they get into a probe point as they are") {
    const auto loaded =
        load(std::string(good) + "[[parameters]]\nname = \"p\"\nhelp = \"h\"\ntype = \"functions\"\ndefault = \"\"\n");
    const auto& mine = loaded.value();
    const auto given = [&](const std::string& value) { return recipe::complete_arguments(mine, {{"p", value}}); };
    for (const char* value : {"", "tcp_v4_rcv", "tcp_*,ip_rcv?core.isra.0", "ip_rcv", "d,e2", "___sys_recvmsg"}) {
        CAPTURE(value);
        CHECK(given(value));
    }
    for (const char* value :
         {"tcp_v4_rcv\"", "tcp_ack}", "tcp_a{b", "tcp v4", "tcp_v4_rcv\n", "tcp_ack\\", "tcp_ack,", ",tcp_ack",
          "tcp_[ab]", "tcp_ack)", "tcp_ack!", "tcp_ack@net", "tcp_ack%", "tcp_\xc3\xa4"}) {
        CAPTURE(value);
        CHECK(given(value).error().what.ends_with("is not a function name"));
    }
    for (const char* value : {"*", "tcp_ack,*", "t*", "tc?_ack", "*tcp", "?"}) {
        CAPTURE(value);
        CHECK(given(value).error().what.ends_with("would match too many functions"));
    }
    CHECK_FALSE(given(std::string(1025, 'f')));
    CHECK(given(std::string(1024, 'f')));
}

TEST_CASE("fields have attributes where these make sense") {
    const auto with = [](const std::string& field) { return load(replaced(good, "time:time", field)); };
    for (const char* field :
         {"a:text,key", "a:int,key", "a:endpoint,key", "a:stage,cpu", "a:stage,thread", "a:int,depth"})
        CHECK(with(field));
    for (const char* field : {"a:text,", "a:text,cpu", "a:stage,key", "a:text,key,key", "a:int,keys", "a:,key"})
        CHECK(with(field).error().what == fmt::format("recipe.toml:5:10: '{}' is not a field", field));
    CHECK(load(replaced(good, "a-b:stage", "a-b:stage,cpu")).value().stages.at(0).name == "a-b");
}

TEST_CASE("one broken recipe does not take the others away") {
    const auto folder = base::PrivateDirectory::create().value();
    std::filesystem::create_directories(folder.path() / "mine");
    std::filesystem::create_directories(folder.path() / "other");
    REQUIRE(base::create_file(folder.path() / "mine" / "recipe.toml", good));
    REQUIRE(base::create_file(folder.path() / "other" / "recipe.toml", good));
    const auto catalog = recipe::load_catalog({{folder.path()}, {folder.path() / "not-there"}});
    CHECK(catalog.recipes.size() == 1);
    CHECK(catalog.broken.contains("other"));
    CHECK(recipe::find_recipe(catalog, "mine"));
    CHECK(recipe::find_recipe(catalog, "mime").error().hint.starts_with("did you mean 'mine'?"));
    CHECK(recipe::find_recipe(catalog, "other").error().what.find("'mine'") != std::string::npos);
}

TEST_CASE("what the program would trip over later is refused when the recipe is read") {
    CHECK(load(replaced(good, "tag = \"r\"", "tag = \"end\"")).error().what == "recipe.toml:4:7: 'end' is not a tag");
    CHECK(load("name = \"mine\"\nsummary = \"s\"\n[record]\ntag = \"r\"\nfields = []\n").error().what ==
          "recipe.toml:5:10: a record needs at least one field");
    CHECK(load(replaced(good, "time:time", "a-b:int")).error().what == "recipe.toml:5:10: 'a-b' is given twice");
    CHECK(load(replaced(good, "max-packets", "header")).error().what ==
          "recipe.toml:10:8: 'header' is not a parameter name");
    CHECK_FALSE(load(std::string(good) + "[stap]\nmacros = [\"=5\"]\n"));
}

TEST_CASE("an int may stand for a number of its own where it is given without one") {
    const auto with = [](const std::string& type, const std::string& bare) {
        return load(
            fmt::format("{}[[parameters]]\nname = \"paths\"\ntype = \"{}\"\ndefault = {}\nbare = {}\n"
                        "minimum = 0\nmaximum = 9\nhelp = \"h\"\n",
                        good, type, type == "int" ? "0" : "\"\"", bare));
    };
    CHECK(with("int", "5").value().parameters.back().bare_value == "5");
    CHECK_FALSE(with("int", "10"));
    CHECK_FALSE(with("int", "\"five\""));
    CHECK_FALSE(with("text", "5"));
}

TEST_CASE("guru mode is off unless the recipe asks for it") {
    CHECK_FALSE(load(good).value().guru);
    CHECK(load(std::string(good) + "[stap]\nguru = true\n").value().guru);
    CHECK(load(std::string(good) + "[stap]\nguru = \"yes\"\n").error().what ==
          "recipe.toml:17:8: 'guru' must be true or false");
}

TEST_CASE("a recipe that may not be read is named with the reason, and its neighbours are read") {
    const auto folder = base::PrivateDirectory::create().value();
    for (const auto* name : {"mine", "other"}) {
        std::filesystem::create_directory(folder.path() / name);
        REQUIRE(base::create_file(folder.path() / name / "recipe.toml", replaced(good, "mine", name)));
    }
    const auto check = [](const std::filesystem::path& path) -> base::Result<void> {
        if (path.filename() != "other") return {};
        return base::cannot_here("all may write it", "chmod");
    };
    const auto catalog = recipe::load_catalog({{folder.path(), check}});
    REQUIRE(catalog.recipes.size() == 1);
    CHECK(catalog.recipes.front().name == "mine");
    CHECK(catalog.broken.at("other").what == "the recipe 'other' is ignored: all may write it");
    CHECK(catalog.broken.at("other").hint == "chmod");
}

TEST_CASE("what was shown of a recipe in which kernels") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "kernels.toml";
    REQUIRE(base::create_file(file,
                              "[[kernels]]\nrange = \"7.2\"\nmatches = [\"7.2\"]\nstate = \"run\"\n"
                              "[[kernels]]\nrange = \"EL6\"\nmatches = [\"el6\"]\nstate = \"resolved\"\n"
                              "lost.all = \"much\"\nlost.mine = \"IPv6\"\n"));
    const auto mine = recipe::kernels_of("mine", file).value();
    REQUIRE(mine.size() == 2);
    CHECK(mine[0].range == "7.2");
    CHECK(mine[0].state == "run");
    CHECK(mine[0].lost.empty());
    CHECK(mine[1].lost == "IPv6");
    CHECK(recipe::kernels_of("other", file).value()[1].lost == "much");
}

TEST_CASE("kernels.toml knows two states") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto file = folder.path() / "kernels.toml";
    REQUIRE(base::create_file(file, "[[kernels]]\nrange = \"7.2\"\nstate = \"seen\"\n"));
    const auto wrong = recipe::kernels_of("mine", file);
    REQUIRE_FALSE(wrong);
    CHECK(wrong.error().what.find("'state'") != std::string::npos);
    CHECK(wrong.error().what.find(":1:1:") != std::string::npos);
    const auto without = folder.path() / "without.toml";
    REQUIRE(base::create_file(without, "[[kernels]]\nrange = \"7.2\"\nstate = \"run\"\n"));
    CHECK(recipe::kernels_of("mine", without).error().what.find("'matches'") != std::string::npos);
}

namespace {

constexpr const char* reads = R"(name = "mine"
summary = "One line"
reads = "network-counters"
[record]
tag = "r"
fields = ["name:text,key", "of:text,key", "rise:count"]
[[meanings]]
of = "Udp.NoPorts"
help = "nobody listens"
loss = true
[[meanings]]
of = "Udp.*"
help = "of datagrams"
)";

}  // namespace

TEST_CASE("a recipe that reads counters has no script, and says which of its counts are losses") {
    const auto mine = load(reads).value();
    CHECK(mine.source == recipe::Source::network_counters);
    CHECK(load(good).value().source == recipe::Source::script);
    REQUIRE(recipe::meaning_of(mine, "Udp.NoPorts") != nullptr);
    CHECK(recipe::meaning_of(mine, "Udp.NoPorts")->loss);
    CHECK(recipe::meaning_of(mine, "Udp.InErrors")->help == "of datagrams");
    CHECK_FALSE(recipe::meaning_of(mine, "Udp.InErrors")->loss);
    CHECK(recipe::meaning_of(mine, "Tcp.InErrs") == nullptr);
}

TEST_CASE("each star in a meaning stands for any text, and the first meaning that fits is taken") {
    const auto mine =
        load(std::string(reads) + "[[meanings]]\nof = \"*.*drop*s\"\nhelp = \"by name\"\nloss_by_name = true\n")
            .value();
    REQUIRE(recipe::meaning_of(mine, "ethtool.rx_drop_drops") != nullptr);
    CHECK(recipe::meaning_of(mine, "ethtool.rx_drop_drops")->loss_by_name);
    CHECK_FALSE(recipe::meaning_of(mine, "ethtool.rx_drop_drops")->loss);
    CHECK(recipe::meaning_of(mine, "Udp.drops")->help == "of datagrams");
    for (const auto* none : {"ethtool.rx_drop", "drops", "ethtool.rx_dops", ""}) {
        CAPTURE(none);
        CHECK(recipe::meaning_of(mine, none) == nullptr);
    }
    CHECK(load(replaced(reads, "loss = true", "loss = true\nloss_by_name = true")).error().what.find("loss_by_name") !=
          std::string::npos);
}

TEST_CASE("what only a script can do is refused where there is none") {
    CHECK(load(replaced(reads, "network-", "newtork-")).error().what ==
          "recipe.toml:3:9: stapgen cannot read 'newtork-counters'");
    CHECK(load(replaced(reads, "[record]", "filters = [\"port\"]\n[record]")).error().what ==
          "recipe.toml:4:11: 'filters' is for a script, and a recipe with 'reads' has none");
    CHECK(load(std::string(reads) + "[stap]\nmacros = []\n").error().what.find("'stap' is for a script") !=
          std::string::npos);
    CHECK(load(replaced(reads, "of:text,key", "of:int,key")).error().what.find("two texts and a count") !=
          std::string::npos);
    CHECK(load(replaced(reads, ", \"rise:count\"", "")).error().what.find("two texts and a count") !=
          std::string::npos);
    CHECK(load(replaced(reads, "loss = true", "loss = 1")).error().what ==
          "recipe.toml:10:8: 'loss' must be true or false");
}
