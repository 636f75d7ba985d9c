// SPDX-License-Identifier: GPL-2.0-or-later
#include <bpf/btf.h>
#include <doctest/doctest.h>

#include <memory>
#include <random>

#include "base/files.h"
#include "symbols/files/kernel_image.h"

using namespace stapgen;
using symbols::Btf;

namespace {

std::span<const std::byte> bytes_of(std::string_view text) {
    return std::as_bytes(std::span(text));
}

std::string real() {
    const auto bytes = base::read_file(TEST_DATA "/btf-6.12.117-excerpt");
    REQUIRE(bytes);
    return *bytes;
}

/// What libbpf writes.
class Written {
  public:
    void add_enum(const char* name) { REQUIRE(btf__add_enum(types_.get(), name, 4) > 0); }
    void add_value(const std::string& name, std::int64_t value) {
        REQUIRE(btf__add_enum_value(types_.get(), name.c_str(), value) == 0);
    }
    void swap_bytes() {
        const auto other = btf__endianness(types_.get()) == BTF_BIG_ENDIAN ? BTF_LITTLE_ENDIAN : BTF_BIG_ENDIAN;
        REQUIRE(btf__set_endianness(types_.get(), other) == 0);
    }
    std::string bytes() const {
        std::uint32_t size = 0;
        const auto* data = static_cast<const char*>(btf__raw_data(types_.get(), &size));
        return {data, size};
    }

  private:
    std::unique_ptr<btf, void (*)(btf*)> types_{btf__new_empty(), btf__free};
};

}  // namespace

TEST_CASE("an enumeration of a kernel's type information keeps its order and its values") {
    const auto types = Btf::parse(bytes_of(real()));
    REQUIRE(types);
    const auto reasons = types->enumeration("skb_drop_reason");
    REQUIRE(reasons.size() == 106);
    CHECK(reasons[3].name == "SKB_DROP_REASON_NO_SOCKET");
    CHECK(reasons[3].value == 3);
    CHECK(reasons.back().name == "SKB_DROP_REASON_SUBSYS_MASK");
    CHECK(reasons.back().value == 0xffff0000);
    CHECK(types->enumeration("skb_drop_reason_subsys").size() == 5);
    CHECK(types->enumeration("skb_drop_reaso").empty());
    CHECK(types->enumeration("skb_drop_reason_").empty());
    CHECK(types->enumeration("").empty());
}

TEST_CASE("an enumeration that is only declared does not hide the one that lists names") {
    Written written;
    written.add_enum("e");
    written.add_enum("e");
    written.add_value("SEVEN", 7);
    const auto types = Btf::parse(bytes_of(written.bytes()));
    REQUIRE(types);
    const auto found = types->enumeration("e");
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "SEVEN");
    CHECK(found[0].value == 7);
}

TEST_CASE("type information of a machine with the other byte order is read") {
    Written written;
    written.add_enum("e");
    written.add_value("A", 0x01020307);
    written.swap_bytes();
    const auto types = Btf::parse(bytes_of(written.bytes()));
    REQUIRE(types);
    const auto found = types->enumeration("e");
    REQUIRE(found.size() == 1);
    CHECK(found[0].name == "A");
    CHECK(found[0].value == 0x01020307);
}

TEST_CASE("a name without end is cut") {
    Written written;
    written.add_enum("e");
    written.add_value(std::string(1009, 'N'), 1);
    const auto types = Btf::parse(bytes_of(written.bytes()));
    REQUIRE(types);
    CHECK(types->enumeration("e").at(0).name == std::string(128, 'N'));
}

TEST_CASE("type information cut short at any byte is an error with a remedy") {
    const auto whole = real();
    for (std::size_t size = 0; size < whole.size(); ++size) {
        // In memory of its own, so that a read behind its end is found.
        const std::vector<char> part(whole.begin(), whole.begin() + static_cast<std::ptrdiff_t>(size));
        const auto types = Btf::parse(std::as_bytes(std::span(part)));
        REQUIRE_FALSE(types);
        CHECK(types.error().kind == base::ErrorKind::bad_input);
        CHECK_FALSE(types.error().hint.empty());
    }
}

TEST_CASE("damaged type information is an error or gives what is left, never more names than fit into it") {
    const auto whole = real();
    std::mt19937 random(6121117);
    std::size_t readable = 0, damaged = 0;
    for (int round = 0; round < 20011; ++round) {
        auto copy = std::make_unique<std::string>(whole);
        for (auto changes = 1 + random() % 7; changes > 0; --changes) {
            // Half of them in the header and the first types, where they hurt most.
            const auto range = random() % 2 == 0 ? 64 : copy->size();
            (*copy)[random() % range] = static_cast<char>(random());
        }
        const auto types = Btf::parse(bytes_of(*copy));
        types ? ++readable : ++damaged;
        if (types) CHECK(types->enumeration("skb_drop_reason").size() <= whole.size() / sizeof(struct btf_enum));
    }
    CHECK(readable > 1009);
    CHECK(damaged > 1009);
}
