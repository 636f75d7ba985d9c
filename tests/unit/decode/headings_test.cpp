// SPDX-License-Identifier: GPL-2.0-or-later
#include "decode/headings.h"

#include <doctest/doctest.h>

#include <string>
#include <utility>

using namespace stapgen::decode;

namespace {

/// "HOST|COMMAND"; "-": no prompt.
std::string prompt_of(std::string_view line) {
    const auto read = read_prompt(line);
    return read ? std::string(read->host) + "|" + std::string(read->command) : "-";
}

/// The name, a sign before it where it is decorated ("=") or a word alone ("."); "-": no heading.
std::string heading_of(std::string_view line) {
    const auto read = read_heading(line);
    return !read ? "-" : (read->is_decorated ? "=" : read->is_word ? "." : "") + read->name;
}

}  // namespace

TEST_CASE("a prompt names its host, or nobody") {
    const std::pair<const char*, const char*> prompts[]{
        {"[root@n1 ~]# netstat -s", "n1|netstat -s"},
        {"root@n1:~# netstat -s", "n1|netstat -s"},
        {"root@n1:/proc/net# netstat -s", "n1|netstat -s"},
        {"(venv) [joe@n1.example.com src]$ netstat -s", "n1.example.com|netstat -s"},
        {"joe@n1 ~/src (main) $ netstat -s", "n1|netstat -s"},
        {"joe@n1 ~ % netstat -s", "n1|netstat -s"},
        {"n1:~ # netstat -s", "n1|netstat -s"},
        {"n1# netstat -s", "n1|netstat -s"},
        {"> [root@n1 ~]# netstat -s", "n1|netstat -s"},
        {"[root@n1 ~]#", "n1|"},
        {"$ netstat -s", "|netstat -s"},
        {"> $ netstat -s", "|netstat -s"},
        {"sh-5.1# netstat -s", "|netstat -s"},
        {"bash-4.2$ netstat -s", "|netstat -s"},
        {"root@localhost:~# netstat -s", "|netstat -s"},
        {"/ # netstat -s", "|netstat -s"},
        {"~ # netstat -s", "|netstat -s"},
        {"Udp:", "-"},
        {"rx_drops: 5 # mine", "-"},
        {"this costs 5 $ and more", "-"},
        {"3 drops at icmp_rcv+12d", "-"},
        {"", "-"}};
    for (const auto& [line, expected] : prompts) {
        CAPTURE(line);
        CHECK(prompt_of(line) == expected);
    }
}

TEST_CASE("a heading's name is what says whose the lines are, and not when they were taken") {
    const std::pair<const char*, const char*> headings[]{{">>>>> node1.example", "=node1.example"},
                                                         {"=== node1, before the test ===", "=node1"},
                                                         {"--- after 10 s ---", "="},
                                                         {"===== Tue Nov 17 00:26:51 UTC 2020 =====", "="},
                                                         {"## Node 2", "=Node 2"},
                                                         {"n1 | CHANGED | rc=0 >>", "=n1"},
                                                         {"ok: [n1] => {", "=n1"},
                                                         {"==> n1.txt <==", "=n1.txt"},
                                                         {"==> before.txt <==", "="},
                                                         {"**Client:**", "=Client"},
                                                         {"> **Client:**", "=Client"},
                                                         {"Client:", "Client"},
                                                         {"Actual results:", ""},
                                                         {"After 5 minutes:", ""},
                                                         {"node1", ".node1"},
                                                         {"# node1", ".node1"},
                                                         {"10.0.0.1", ".10.0.0.1"},
                                                         {"----------------", "="},
                                                         {"node", "-"},
                                                         {"5.15.0-91-generic", "-"},
                                                         {"# iperf3 -c n2", "-"},
                                                         {"    Client:", "-"},
                                                         {"> some text of a mail", "-"},
                                                         {"here is what my own machine says:", "-"},
                                                         {"", "-"}};
    for (const auto& [line, expected] : headings) {
        CAPTURE(line);
        CHECK(heading_of(line) == expected);
    }
    CHECK(read_heading("== eth0 ==")->text == "eth0");
}
