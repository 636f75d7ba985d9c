// SPDX-License-Identifier: GPL-2.0-or-later
// The parts of the C library that a program that is linked statically cannot have: it loads plug-ins (NSS, conversions,
// libraries), and those of the machine at hand belong to another C library. The linker warns of each, and
// its options make a warning fail.
#include <netdb.h>
#include <pwd.h>

#include <cerrno>
#include <clocale>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>

extern "C" {

/// Nothing can be loaded: who asks does without.
void* __wrap_dlopen(const char*, int) {
    return nullptr;
}

/// Names of hosts are looked up by plug-ins. An address needs none: it is not asked for here.
int __wrap_getaddrinfo(const char*, const char*, const addrinfo*, addrinfo**) {
    return EAI_FAIL;
}
void __wrap_freeaddrinfo(addrinfo*) {}
hostent* __wrap_gethostbyname(const char*) {
    return nullptr;
}

/// Names of networks and protocols, which libpcap looks up: there are none.
int __wrap_getnetbyname_r(const char*, netent*, char*, std::size_t, netent** found, int*) {
    *found = nullptr;
    return ENOENT;
}
int __wrap_getprotobyname_r(const char*, protoent*, char*, std::size_t, protoent** found) {
    *found = nullptr;
    return ENOENT;
}

/// Users of /etc/passwd alone.
passwd* getpwuid(uid_t uid) {
    const std::unique_ptr<FILE, int (*)(FILE*)> file(std::fopen("/etc/passwd", "re"), std::fclose);
    if (!file) return nullptr;
    for (;;) {
        auto* const user = ::fgetpwent(file.get());
        if (user == nullptr || user->pw_uid == uid) return user;
    }
}

/// UTF-8 is built in, other encodings are plug-ins: where one is asked for it stays with ASCII.
char* __real_setlocale(int category, const char* name);
char* __wrap_setlocale(int category, const char* name) {
    std::string_view asked = name == nullptr ? "" : name;
    for (const char* variable : {"LC_ALL", "LC_CTYPE", "LANG"}) {
        const char* const value = std::getenv(variable);
        if (asked.empty() && name != nullptr && value != nullptr) asked = value;
    }
    const bool is_utf8 = asked.ends_with("UTF-8") || asked.ends_with("utf8");
    return __real_setlocale(category, name == nullptr || is_utf8 ? name : "C");
}
}
