#include <doctest/doctest.h>

#include <nlohmann/json.hpp>

#include "has.h"
#include "report/model/account_text.h"
#include "written.h"

using namespace stapgen;

namespace {

analyze::Origin at(const std::string& host, const std::string& port) {
    return {host, "6.12", {"stapgen", "rx-latency", "--port", port}, {{"port", port}}};
}

analyze::Summary filtered(std::vector<analyze::Origin> origins) {
    analyze::Summary summary;
    summary.recipe = "rx-latency";
    summary.origins = std::move(origins);
    summary.accounting.seen = summary.accounting.filtered = 307;
    summary.accounting.closed = true;
    return summary;
}

std::string head_and_account(const analyze::Summary& summary) {
    return written("table", {summary});
}

}  // namespace

TEST_CASE("the head of a report says where it was measured and how, and the account by what was filtered") {
    const auto text = head_and_account(filtered({at("web17", "80")}));
    CHECK(text.starts_with("rx-latency\non web17, Linux 6.12: stapgen rx-latency --port 80\n\n"));
    CHECK(has(text, "307 seen = 0 reported + 307 filtered (--port 80) + 0 incomplete + 0 lost\n"));
    CHECK(head_and_account(filtered({})).starts_with("rx-latency\n\n"));
    CHECK(has(head_and_account(filtered({})), "307 filtered + 0"));
}

TEST_CASE("of several measurements each host is reported once, and each of their filters") {
    const auto summary = filtered({at("web17", "80"), at("web18", "81"), at("web17", "80")});
    CHECK(report::hosts_of(summary) == std::vector<std::string>{"web17, Linux 6.12", "web18, Linux 6.12"});
    CHECK(report::origin_lines(summary).size() == 2);
    CHECK(report::filters_text(summary) == "--port 80 or --port 81");
    std::vector<analyze::Origin> many;
    for (int i = 0; i < 10; ++i)
        many.push_back(at("web" + std::to_string(i), "80"));
    const auto lines = report::origin_lines(filtered(many));
    REQUIRE(lines.size() == 5);
    CHECK(lines.back() == "and 6 more");
}

TEST_CASE("a host's name brings no control character") {
    CHECK(report::origin_lines(filtered({at("web\x1b[2J", "80")})).front().starts_with("on web\\x1b[2J, Linux"));
}

TEST_CASE("the document says the same for programs") {
    const auto out = written("json", {filtered({at("web17", "80"), {}})});
    const auto origins = nlohmann::json::parse(out).at("origins");
    CHECK(origins.at(0) == nlohmann::json{{"host", "web17"},
                                          {"kernel", "6.12"},
                                          {"command", {"stapgen", "rx-latency", "--port", "80"}},
                                          {"filters", {{"port", "80"}}}});
    CHECK(origins.at(1).at("host").is_null());
    CHECK(origins.at(1).at("filters") == nlohmann::json::object());
}
