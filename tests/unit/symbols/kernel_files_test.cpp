// SPDX-License-Identifier: GPL-2.0-or-later
#include <fmt/format.h>

#include "fake_kernel.h"
#include "symbols/files/kernel_image.h"
#include "symbols/files/module_file.h"
#include "symbols/kernel_names.h"

using namespace stapgen;
using namespace stapgen::symbols;

// KernelNames on the files of the kernel that is built with the tests.

namespace {

constexpr std::int64_t boot_kaslr_offset = 0x1c000000;

std::uint64_t moved(std::string_view name) {
    return fake_kernel::address_of(name) + boot_kaslr_offset;
}

}  // namespace

TEST_CASE("a vmlinux gives names, file and line under the KASLR offset of a boot") {
    auto names = KernelNames::open({{fake_kernel::vmlinux}, {}, boot_kaslr_offset, {}}, {});
    REQUIRE(names);
    REQUIRE(names->open_lines());
    const auto place = moved("place_after_call");
    const auto name = names->find(place, AddressKind::return_address);
    REQUIRE(name.symbol);
    CHECK(name.symbol->name == "place_inlined");  // a label: it has a symbol, and is nearer
    const auto frames = names->source(place, AddressKind::return_address);
    REQUIRE(frames.size() == 1);
    CHECK(frames[0].function == "fake_rcv");
    CHECK(frames[0].file == "net/fake_core.c");
    CHECK(names->source(moved("place_inlined"), AddressKind::exact).size() == 3);
    CHECK(names->source(place - boot_kaslr_offset, AddressKind::exact).empty());
}

TEST_CASE("a vmlinux of another build than the recording is refused, one of the same is not") {
    const auto image = fake_kernel::kernel_image(fake_kernel::vmlinux);
    REQUIRE(image);
    REQUIRE_FALSE(image->build_id().empty());
    LogKernel log;
    log.release = "6.1.0-56-amd64";
    log.build_id = image->build_id();
    CHECK(KernelNames::open({{fake_kernel::vmlinux}, {}, boot_kaslr_offset, {}}, log));
    log.build_id[0] = log.build_id[0] == '0' ? '1' : '0';
    const auto other = KernelNames::open({{fake_kernel::vmlinux}, {}, boot_kaslr_offset, {}}, log);
    REQUIRE_FALSE(other);
    CHECK(other.error().what.find("of another kernel than the log: its build-id is") != std::string::npos);
    CHECK(other.error().hint.find("6.1.0-56-amd64") != std::string::npos);
}

TEST_CASE("without a build-id of the log a kernel is refused by its release: that of -r, else that of the map's name") {
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto content = base::read_file(fake_kernel::system_map);
    REQUIRE(content);
    const auto same = folder->path() / "System.map-6.12.117-fake", other = folder->path() / "System.map-6.1.0-56-amd64";
    REQUIRE(base::create_file(same, *content));
    REQUIRE(base::create_file(other, *content));
    CHECK(KernelNames::open({{same, fake_kernel::vmlinux}, {}, boot_kaslr_offset, {}}, {}));
    CHECK(KernelNames::open({{other, fake_kernel::vmlinux}, {}, boot_kaslr_offset, "6.12.117-fake"}, {}));
    const auto by_map = KernelNames::open({{other, fake_kernel::vmlinux}, {}, boot_kaslr_offset, {}}, {});
    REQUIRE_FALSE(by_map);
    CHECK(by_map.error().what == fmt::format("{} is Linux 6.12.117-fake, {} is of 6.1.0-56-amd64",
                                             fake_kernel::vmlinux.string(), other.string()));
    const auto by_log = KernelNames::open({{same, fake_kernel::vmlinux}, {}, boot_kaslr_offset, "6.1.0-56-amd64"}, {});
    REQUIRE_FALSE(by_log);
    CHECK(by_log.error().what.ends_with("is Linux 6.12.117-fake, the log is of 6.1.0-56-amd64"));
}

TEST_CASE("a module's file names its functions where the list of modules says it was") {
    const auto file = read_module_file(fake_kernel::module);
    REQUIRE(file);
    const auto folder = base::PrivateDirectory::create();
    REQUIRE(folder);
    const auto modules = folder->path() / "modules";
    REQUIRE(base::create_file(modules, fmt::format("{} 16384 0 - Live 0xffffffffc0a31000\n", file->name)));
    const auto& function = file->functions.front();
    const auto address = 0xffffffffc0a31000 + function.offset;
    for (const auto& given : {fake_kernel::module, fake_kernel::module.parent_path()}) {
        const auto names =
            KernelNames::open({{fake_kernel::system_map, given}, modules, boot_kaslr_offset, file->release}, {});
        REQUIRE(names);
        const auto name = names->find(address, AddressKind::exact);
        REQUIRE_MESSAGE(name.symbol, given.string());
        CHECK(name.symbol->name == function.name);
        CHECK(name.symbol->offset == 0);
        CHECK(name.symbol->module == file->name);
    }
    const auto other =
        KernelNames::open({{fake_kernel::system_map, fake_kernel::module}, modules, boot_kaslr_offset, "2.6.32"}, {});
    REQUIRE(other);
    CHECK_FALSE(other->find(address, AddressKind::exact).symbol);
    CHECK(to_string(other->find(address, AddressKind::exact)).starts_with("module or unknown (" + file->name + "+"));
}
