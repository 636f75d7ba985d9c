// SPDX-License-Identifier: GPL-2.0-or-later
#include <doctest/doctest.h>

#include <algorithm>

#include "base/files.h"
#include "fakes/system/fake_system.h"
#include "host/workarounds.h"

using namespace stapgen;
using namespace stapgen::host;

namespace fs = std::filesystem;

namespace {

Target split_headers() {
    Target target;
    target.release = "6.12";
    target.source = "/usr/src/common";
    return target;
}

/// As Debian's linux-headers-*-common, shortened.
FakeSystem debian() {
    FakeSystem system;
    const fs::path tree = "/usr/src/common";
    system.files = {
        {tree / "include/trace/define_trace.h", "#define DEFINE_EVENT(template, name, proto, args)\n"},
        {tree / "include/trace/events/net.h",
         "TRACE_EVENT(net_dev_start_xmit,\n\n\tTP_PROTO(x)\nDEFINE_EVENT(net_dev_template, netif_receive_skb,\n"},
        {tree / "include/trace/events/skb.h", "TRACE_EVENT(kfree_skb,\n\n\tTP_PROTO(struct sk_buff *skb)\n"},
        {tree / "include/trace/events/sched.h",
         "DECLARE_TRACE(sched_switch, TP_PROTO(bool preempt), TP_ARGS(preempt))\n"},
        {tree / "include/trace/events/README", "TRACE_EVENT(kfree_skb,"},
        {tree / "include/ras/ras_event.h", "TRACE_EVENT(mc_event,\n"},
        {tree / "include/linux/skbuff.h", "struct sk_buff;"},
    };
    return system;
}

}  // namespace

TEST_CASE("a header may define a tracepoint whose name is the first or a middle argument in it") {
    CHECK(may_define("TRACE_EVENT(kfree_skb,\n", "kfree_skb"));
    CHECK(may_define("TRACE_EVENT(\n\tkfree_skb , ", "kfree_skb"));
    CHECK(may_define("DEFINE_EVENT(net_dev_template, netif_rx,\n", "netif_rx"));
    CHECK(may_define("DEFINE_EVENT(softirq, \\\n\tsoftirq_raise, \\\n", "softirq_raise"));
    CHECK_FALSE(may_define("DEFINE_EVENT(net_dev_template, netif_rx_entry,\n", "netif_rx"));
    CHECK_FALSE(may_define("TRACE_EVENT(old_kfree_skb,\n", "kfree_skb"));
    CHECK_FALSE(may_define("/* see kfree_skb, too */", "kfree_skb"));
    CHECK_FALSE(may_define("kfree_skb", "kfree_skb"));
    CHECK_FALSE(may_define("", "kfree_skb"));
}

TEST_CASE("stap is shown the headers of the tracepoints that are needed, and the compiler all of them") {
    const auto folder = base::PrivateDirectory::create();
    const auto system = debian();
    const std::set<std::string> needed{"kfree_skb", "netif_receive_skb"};
    const auto planned = provide_trace_headers(system, split_headers(), needed, folder->path(), Making::planned);
    CHECK(fs::is_empty(folder->path()));
    const auto workaround = provide_trace_headers(system, split_headers(), needed, folder->path());
    REQUIRE(workaround);
    REQUIRE(*workaround);
    CHECK((*planned)->flags == (*workaround)->flags);
    CHECK((*planned)->mounts[2].source == (*workaround)->mounts[2].source);
    const auto all = folder->path() / "trace-headers/all";
    CHECK((*workaround)->flags == "-I" + all.string());
    CHECK((*workaround)->line.find("stap sees 2 of this kernel's 5 headers") != std::string::npos);

    // First where everything is found, then what hides it: the other way round the first would show the second.
    const auto& mounts = (*workaround)->mounts;
    REQUIRE(mounts.size() == 4);
    CHECK(mounts[0].source == "/usr/src/common/include/trace");
    CHECK(mounts[0].target == all / "trace");
    CHECK(mounts[1].target == all / "ras");
    CHECK(mounts[2].target == mounts[0].source);
    CHECK(mounts[3].target == "/usr/src/common/include/ras");
    CHECK(std::all_of(mounts.begin(), mounts.end(), [](const BindMount& mount) { return mount.optional; }));
    CHECK(fs::is_directory(mounts[0].target));
    CHECK(fs::is_empty(mounts[3].source));

    std::vector<std::string> shown;
    for (const auto& entry : fs::recursive_directory_iterator(mounts[2].source)) {
        if (!entry.is_symlink()) continue;
        shown.push_back(entry.path().filename().string());
        CHECK(fs::read_symlink(entry.path()) == all / "trace/events" / shown.back());
    }
    std::sort(shown.begin(), shown.end());
    CHECK(shown == std::vector<std::string>{"net.h", "skb.h"});
}

TEST_CASE(
    "the compiler's flag does not depend on which headers are shown, and the same ones are shown from one folder") {
    const auto folder = base::PrivateDirectory::create();
    const auto system = debian();
    const auto one = provide_trace_headers(system, split_headers(), {"kfree_skb"}, folder->path());
    const auto other = provide_trace_headers(system, split_headers(), {"sched_switch"}, folder->path());
    const auto again = provide_trace_headers(system, split_headers(), {"kfree_skb"}, folder->path());
    const auto none = provide_trace_headers(system, split_headers(), {}, folder->path());
    CHECK((*one)->flags == (*other)->flags);
    CHECK((*one)->flags == (*none)->flags);
    CHECK((*one)->mounts[2].source != (*other)->mounts[2].source);
    CHECK((*one)->mounts[2].source == (*again)->mounts[2].source);
}

TEST_CASE("stap sees all headers where one tracepoint is not found, nothing may be mounted or the path is no flag") {
    const auto folder = base::PrivateDirectory::create();
    auto system = debian();
    CHECK_FALSE(*provide_trace_headers(system, split_headers(), {"kfree_skb", "local_timer_entry"}, folder->path()));
    CHECK_FALSE(*provide_trace_headers(system, {}, {"kfree_skb"}, folder->path()));
    CHECK_FALSE(*provide_trace_headers(system, split_headers(), {"kfree_skb"}, folder->path() / "a b"));
    system.root = false;
    CHECK(*provide_trace_headers(system, split_headers(), {"kfree_skb"}, folder->path()));
    system.files["/proc/sys/user/max_user_namespaces"] = "0\n";
    CHECK_FALSE(*provide_trace_headers(system, split_headers(), {"kfree_skb"}, folder->path()));
}
