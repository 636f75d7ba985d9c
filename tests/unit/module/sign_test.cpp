// SPDX-License-Identifier: GPL-2.0-or-later
#include "module/sign.h"

#include <doctest/doctest.h>
#include <unistd.h>

#include <filesystem>

#include "base/text.h"
#include "fakes/system/fake_system.h"
#include "launch/module_file.h"
#include "module/make.h"

using namespace stapgen;
using namespace stapgen::module;

namespace {

namespace fs = std::filesystem;

/// What MODULE_WITH_PARAMETERS says of itself.
Asked what_it_is() {
    const auto info = launch::read_module_info(MODULE_WITH_PARAMETERS).value();
    return {info.release, info.architecture, info.recipe_hash};
}

/// The same module with another text of the same length, or a shorter one, in the place of `text`.
fs::path changed(const fs::path& file, const std::string& text, std::string to) {
    auto content = base::read_file(MODULE_WITH_PARAMETERS).value();
    to.resize(text.size());
    for (auto at = content.find(text); at != std::string::npos; at = content.find(text, at + 1))
        content.replace(at, text.size(), to);
    REQUIRE(base::create_file(file, content));
    return file;
}

}  // namespace

TEST_CASE("a signer is a key and a certificate") {
    const auto signer = parse_signer("pkcs11:token=a,b,cert.pem").value();
    CHECK(signer.key == "pkcs11:token=a,b");
    CHECK(signer.certificate == "cert.pem");
    for (const auto* wrong : {"", "key", ",cert", "key,"}) {
        const auto refused = parse_signer(wrong);
        REQUIRE_FALSE(refused);
        CHECK(refused.error().hint == "for example --sign mok.key,mok.pem");
    }
}

TEST_CASE("the target's own sign-file signs, else any kernel's, with the hash that the kernel's options name") {
    const auto folder = base::PrivateDirectory::create().value();
    const Signer signer{(folder.path() / "key").string(), (folder.path() / "cert").string()};
    host::FakeSystem system;
    host::Target target;
    target.build = "/lib/modules/6.1.0/build";
    auto refused = signing_argv(system, target, signer);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what == "--sign: the kernel's sign-file is not installed");

    const std::string other = "/usr/lib/linux-kbuild-6.12/scripts/sign-file",
                      own = "/lib/modules/6.1.0/build/scripts/sign-file";
    system.files[other] = "";
    system.programs[other] = other;
    refused = signing_argv(system, target, signer);
    REQUIRE_FALSE(refused);
    CHECK(refused.error().what.starts_with("--sign: cannot read " + signer.key));
    REQUIRE(base::create_file(signer.key, ""));
    REQUIRE(base::create_file(signer.certificate, ""));
    using Argv = std::vector<std::string>;
    CHECK(signing_argv(system, target, signer).value() == Argv{other, "sha256", signer.key, signer.certificate});
    system.programs[own] = own;
    system.files["/lib/modules/6.1.0/build/.config"] = "#\nCONFIG_MODULE_SIG_HASH=\"sha512\"\n";
    CHECK(signing_argv(system, target, signer).value() == Argv{own, "sha512", signer.key, signer.certificate});
}

TEST_CASE("what is signed is a copy under a name of its own, and what a failed sign-file says is in the message") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto before = base::read_file(MODULE_WITH_PARAMETERS).value();
    const auto asked = what_it_is();
    const auto first =
        sign({"/bin/true", "sha256"}, MODULE_WITH_PARAMETERS, asked, Name::at_random, folder.path()).value();
    const auto second = sign({"/bin/true"}, MODULE_WITH_PARAMETERS, asked, Name::at_random, folder.path()).value();
    const auto running =
        sign({"/bin/true"}, MODULE_WITH_PARAMETERS, asked, Name::of_this_process, folder.path()).value();
    CHECK(first != second);
    CHECK(running.stem() == launch::loaded_name("stap_0123456789abcdef", ::getpid()));
    for (const auto& file : {first, second, running})
        CHECK(launch::read_module_info(file).value().name == file.stem());
    CHECK(base::read_file(MODULE_WITH_PARAMETERS).value() == before);

    const auto failed =
        sign({"/bin/ls", "--no-such-option"}, MODULE_WITH_PARAMETERS, asked, Name::at_random, folder.path());
    REQUIRE_FALSE(failed);
    CHECK(failed.error().what.find("sign-file failed") != std::string::npos);
    CHECK(failed.error().what.find("no-such-option") != std::string::npos);
    CHECK_FALSE(sign({"/bin/true"}, "/no/such/module.ko", asked, Name::at_random, folder.path()));
}

TEST_CASE("what is signed says of itself that it is what was asked for") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto refused = [&](const fs::path& module, const Asked& asked) {
        const auto made = sign({"/bin/true"}, module, asked, Name::at_random, folder.path());
        return made ? std::string() : made.error().what;
    };
    auto other = what_it_is();
    other.release = "6.12.0-evil";
    CHECK(refused(MODULE_WITH_PARAMETERS, other) ==
          "not signed: the module is for Linux 0.0.0-nowhere, not 6.12.0-evil");
    other = what_it_is();
    other.architecture = "m68k";
    CHECK(refused(MODULE_WITH_PARAMETERS, other).starts_with("not signed: the module is for "));
    other = what_it_is();
    other.recipe_hash = "f00d";
    CHECK(refused(MODULE_WITH_PARAMETERS, other) == "not signed: the module is of another recipe, or of other options");
    const auto evil = changed(folder.path() / "evil.ko", "systemtap-generated probe", "evil");
    CHECK(refused(evil, what_it_is()) == "not signed: the module was not made by SystemTap");
    const auto is_signed = folder.path() / "signed.ko";
    REQUIRE(base::create_file(is_signed,
                              base::read_file(MODULE_WITH_PARAMETERS).value() + "~Module signature appended~\n"));
    CHECK(refused(is_signed, what_it_is()) == "not signed: the module has a signature");
}

TEST_CASE("a module's name is no path, whoever asks for it") {
    const auto folder = base::PrivateDirectory::create().value();
    const auto place = folder.path() / "made";
    for (const std::string name : {"/tmp/aaaaaaaaaaaaaaaa", "../../../aaaaaaaaaaaa", "stap 01234567 abcdef"}) {
        const auto file = changed(folder.path() / "x.ko", "stap_0123456789abcdef", name);
        CHECK_FALSE(launch::read_module_info(file));
        CHECK_FALSE(launch::make_loadable(file));
        std::filesystem::create_directory(place);
        CHECK_FALSE(sign({"/bin/true"}, file, what_it_is(), Name::at_random, place));
        CHECK(std::filesystem::is_empty(place));
        std::filesystem::remove(file);
    }
    const auto file = changed(folder.path() / "y.ko", "0.0.0-nowhere", "../somewhere");
    CHECK_FALSE(launch::read_module_info(file));
}

TEST_CASE("a PIN that all could read is refused") {
    CHECK_FALSE(parse_signer("pkcs11:token=a?pin-value=1234,cert.pem"));
}

TEST_CASE("the doctor is asked of a module what its file says, and of none that SystemTap did not make") {
    host::FakeSystem system;
    auto module = launch::make_loadable(MODULE_WITH_PARAMETERS).value();
    const auto question = question_of(system, module, "x.ko").value();
    REQUIRE(question.module);
    CHECK(question.module->file == "x.ko");
    CHECK(question.module->name == "stap_0123456789abcdef");
    CHECK(question.module->recipe == "x");
    CHECK(question.module->release == "0.0.0-nowhere");
    CHECK_FALSE(question.is_signed);
    CHECK_FALSE(question.to_compile);
    module.info.is_signed = true;
    system.programs["modinfo"] = "/sbin/modinfo";
    system.output[{"/sbin/modinfo", "-F", "signer", module.path.string()}] = "our key\n";
    CHECK(question_of(system, module, "x.ko")->signer == "our key");
    module.info.systemtap = false;
    CHECK(question_of(system, module, "x.ko").error().what == "x.ko was not made by SystemTap");
}
