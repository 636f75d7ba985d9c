// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/containers/wanted.h"

#include "host/containers/owner_names.h"
#include "host_files.h"

using namespace stapgen;
using namespace stapgen::containers;

namespace {

const auto web_id = "0123456789ab" + std::string(52, '1'), db_id = "0123ffff" + std::string(56, '2');
const std::string pod = "/kubepods.slice/kubepods-pod0f2c4b9a_1d3e_4f5a_8b7c_9d0e1f2a3b4c.slice";
const auto nginx_id = id_of('3'), pause_id = id_of('4');

/// Two containers of docker, one of which has the host's network; a pod of two; and an ssh server.
struct Host : HostFiles {
    std::uint64_t web, db, ssh, in_web, pod_id;
    Host() {
        web = cgroup("/system.slice/docker-" + web_id + ".scope");
        in_web = cgroup("/system.slice/docker-" + web_id + ".scope/worker");
        db = cgroup("/system.slice/docker-" + db_id + ".scope");
        ssh = cgroup("/system.slice/ssh.service");
        pod_id = cgroup(pod);
        cgroup(pod + "/cri-containerd-" + nginx_id + ".scope");
        cgroup(pod + "/cri-containerd-" + pause_id + ".scope");
        process(1, "0::/init.scope\n", host_netns);
        process(70, "0::/system.slice/ssh.service\n", host_netns);
        process(501, "0::/system.slice/docker-" + web_id + ".scope\n", red_netns, "501\t1");
        process(503, "0::/system.slice/docker-" + web_id + ".scope/worker\n", red_netns, "503\t17");
        process(601, "0::/system.slice/docker-" + db_id + ".scope\n", host_netns, "601\t1");
        process(701, "0::" + pod + "/cri-containerd-" + nginx_id + ".scope\n", blue_netns, "701\t1");
        process(702, "0::" + pod + "/cri-containerd-" + pause_id + ".scope\n", blue_netns, "702\t1");
        put("var/lib/docker/containers/" + web_id + "/config.v2.json", R"({"Name":"/web"})");
        put("var/lib/docker/containers/" + db_id + "/config.v2.json", R"({"Name":"/db"})");
        put("var/log/containers/shop-7_prod_nginx-" + nginx_id + ".log", "");
    }
};

using Numbers = std::vector<std::uint64_t>;

}  // namespace

TEST_CASE("a container by its name, its id, or the beginning of it") {
    const Host host;
    const auto machine = look_at(host.root());
    for (const auto& typed : {std::string("web"), web_id, web_id.substr(0, 12), std::string("01234")}) {
        const auto wanted = container_named(machine, typed).value();
        CHECK(wanted.cgroups == Numbers{host.web});
        CHECK(wanted.netns == Numbers{red_netns});
        CHECK(wanted.hints.empty());
    }
    CHECK(container_named(machine, "0123").error().what == "--container 0123: there are 2 of that name");
    CHECK(container_named(machine, "0123").error().hint ==
          "name one by its id: web (docker 0123456789ab), db (docker 0123ffff2222)");
    CHECK(container_named(machine, "wbe").error().what == "--container wbe: no such container runs here");
    CHECK(container_named(machine, "wbe").error().hint.starts_with("did you mean 'web'?"));
    CHECK(!container_named(machine, ""));
    CHECK(!container_named(machine, "012"));
    CHECK(container_named(machine, "prod/shop-7/nginx").value().netns == Numbers{blue_netns});
    CHECK(container_named(machine, "shop-7/nginx"));
    CHECK(container_named(Machine(), "web").error().hint.starts_with("no cgroup here looks like a container's"));
}

TEST_CASE("one that has the host's network is told by its cgroup alone") {
    const Host host;
    const auto wanted = container_named(look_at(host.root()), "db").value();
    CHECK(wanted.cgroups == Numbers{host.db});
    CHECK(wanted.netns.empty());
    REQUIRE(wanted.hints.size() == 1);
    CHECK(wanted.hints.front().starts_with("--container db uses the host's network: "));
}

TEST_CASE("a pod is all of its containers") {
    const Host host;
    const auto machine = look_at(host.root());
    for (const std::string typed : {"shop-7", "prod/shop-7", "0f2c4b9a-1d3e-4f5a-8b7c-9d0e1f2a3b4c"}) {
        const auto wanted = pod_named(machine, typed).value();
        CHECK(wanted.cgroups == Numbers{host.pod_id});
        CHECK(wanted.netns == Numbers{blue_netns});
    }
    CHECK(pod_named(machine, "shop").error().what == "--pod shop: no such pod runs here");
    host.put("var/log/containers/shop-7_test_nginx-" + db_id + ".log", "");
    CHECK(pod_named(look_at(host.root()), "shop-7").error().what == "--pod shop-7: there are 2 of that name");
}

TEST_CASE("a cgroup by its path") {
    const Host host;
    const auto machine = look_at(host.root());
    for (const std::string typed :
         {"/system.slice/ssh.service", "system.slice/ssh.service/", "/sys/fs/cgroup/system.slice/ssh.service"}) {
        const auto wanted = cgroup_named(host.root(), machine, typed).value();
        CHECK(wanted.cgroups == Numbers{host.ssh});
        CHECK(wanted.netns.empty());
    }
    CHECK(cgroup_named(host.root(), machine, "/system.slice/shh.service").error().hint ==
          "did you mean '/system.slice/ssh.service'?");
}

TEST_CASE("cgroups of version 1: a container is told by its network namespace, where that is its own") {
    HostFiles files;
    const auto cgroups = [](const std::string& id) {
        return "12:pids:/docker/" + id + "\n4:memory:/docker/" + id + "\n1:name=systemd:/docker/" + id + "\n";
    };
    files.process(1, "12:pids:/\n1:name=systemd:/init.scope\n", host_netns);
    files.process(501, cgroups(web_id), red_netns);
    files.process(601, cgroups(db_id), host_netns);
    files.put("var/lib/docker/containers/" + web_id + "/config.v2.json", R"({"Name":"/web"})");
    const auto machine = look_at(files.root());
    const auto wanted = container_named(machine, "web").value();
    CHECK(wanted.cgroups.empty());
    CHECK(wanted.netns == Numbers{red_netns});
    CHECK(container_named(machine, db_id).error().kind == base::ErrorKind::cannot_here);
    CHECK(cgroup_named(files.root(), machine, "/docker").error().kind == base::ErrorKind::cannot_here);
    CHECK(machine.netns_name(red_netns) == "web");
}

TEST_CASE("cgroups of both versions: the id is that of version 2, wherever it is mounted") {
    HostFiles files;
    files.put("sys/fs/cgroup/unified/cgroup.controllers", "");
    std::filesystem::create_directories(files.root() / "sys/fs/cgroup/unified/docker" / web_id);
    files.process(501, "4:memory:/docker/" + web_id + "\n0::/docker/" + web_id + "\n", red_netns);
    const auto wanted = container_named(look_at(files.root()), web_id).value();
    CHECK(wanted.cgroups == Numbers{inode_of(files.root() / "sys/fs/cgroup/unified/docker" / web_id).value()});
}

TEST_CASE("a network namespace by a process, a name, a path or its inode") {
    const Host host;
    host.put("run/netns/red", "");
    const auto red = inode_of(host.root() / "run/netns/red").value();
    CHECK(netns_named(host.root(), "501").value() == red_netns);
    CHECK(netns_named(host.root(), "red").value() == red);
    CHECK(netns_named(host.root(), "/proc/501/ns/net").value() == red_netns);
    CHECK(netns_named(host.root(), "4026532999").value() == 4026532999);
    CHECK(netns_named(host.root(), "502").error().what == "--netns: there is no process 502");
    CHECK(netns_named(host.root(), "rde").error().hint == "did you mean 'red'?");
    CHECK(netns_named(host.root(), "").error().what == "--netns: there is no network namespace ''");
    CHECK(!netns_named(host.root(), "/proc/501/status"));
}

TEST_CASE("a thread as it is called inside of its container") {
    const Host host;
    const auto machine = look_at(host.root());
    const auto in = [&](const std::string& name, std::int64_t id, bool whole) {
        return task_in(host.root(), container_named(machine, name).value().containers, id, whole);
    };
    CHECK(in("web", 17, false).value() == 503);
    CHECK(in("web", 1, true).value() == 501);
    CHECK(in("db", 1, false).value() == 601);
    CHECK(in("web", 2, false).error().what == "thread 2 is not in web (docker 0123456789ab)");
    const auto in_pod = pod_named(machine, "shop-7").value();
    CHECK(task_in(host.root(), in_pod.containers, 1, true).error().what.starts_with("process 1 is twice in "));
}

TEST_CASE("names of namespaces, cgroups and containers") {
    const Host host;
    host.put("run/netns/yellow", "");
    host.put("run/netns/cni-4f2a", "");
    const auto yellow = inode_of(host.root() / "run/netns/yellow").value();
    const auto cni = inode_of(host.root() / "run/netns/cni-4f2a").value();
    const auto machine = look_at(host.root());
    CHECK(machine.netns_name(yellow) == "yellow");
    CHECK(machine.netns_name(cni) == "cni-4f2a");
    CHECK(machine.netns_name(host_netns) == "host");
    CHECK(machine.netns_name(red_netns) == "web");
    CHECK(machine.netns_name(blue_netns) == "prod/shop-7");
    CHECK(machine.netns_name(4026532999) == "netns:4026532999");
    CHECK(machine.netns_name(0) == "-");
    CHECK(machine.cgroup_name(host.ssh) == "/system.slice/ssh.service");
    CHECK(machine.cgroup_name(1) == "cgroup:1");
    CHECK(machine.container_name(host.in_web, red_netns) == "web");
    CHECK(machine.container_name(host.ssh, host_netns) == "/system.slice/ssh.service");
    CHECK(machine.container_name(0, blue_netns) == "prod/shop-7");
    CHECK(machine.container_name(host.pod_id, blue_netns) == pod);
}

TEST_CASE("names are kept of what was there at the beginning, or when it was first seen") {
    const Host host;
    OwnerNames names(host.root());
    CHECK(names.names().at(fmt::format("netns:{}", red_netns)) == "web");
    CHECK(names.names().at(fmt::format("container:{}/{}", host.in_web, red_netns)) == "web");
    std::filesystem::remove_all(host.root() / "proc/501");
    std::filesystem::remove_all(host.root() / "proc/503");
    const auto later = host.cgroup("/system.slice/later.service");
    const auto late_key = fmt::format("cgroup:{}", later);
    names.observe("cgroup", fmt::to_string(later));
    names.observe("netns", "4026532999");
    names.look();
    CHECK(names.names().at(fmt::format("netns:{}", red_netns)) == "web");
    CHECK(names.names().at(late_key) == "/system.slice/later.service");
    CHECK(!names.names().contains("netns:4026532999"));
}

TEST_CASE("a container whose file comes during the run has its name at the end") {
    const Host host;
    const auto id = id_of('5');
    const auto inode = host.cgroup("/system.slice/docker-" + id + ".scope");
    host.process(801, "0::/system.slice/docker-" + id + ".scope\n", red_netns, "801\t1");
    const auto key = fmt::format("container:{}/{}", inode, red_netns);
    OwnerNames names(host.root());
    CHECK(names.names().at(key) == "555555555555");
    host.put("var/lib/docker/containers/" + id + "/config.v2.json", R"({"Name":"/late"})");
    names.look();
    CHECK(names.names().at(key) == "late");
}

TEST_CASE("what has no name is a number that says of what") {
    const NamesByValue known{{"netns:4026532201", "red"}, {"cgroup:17", "/a"}, {"container:19/4026532201", "web"}};
    const auto called = [&](std::string_view field, std::string_view value) {
        return owner_name(field, value,
                          [&](const std::string& key) -> const std::string* {
                              const auto found = known.find(key);
                              return found == known.end() ? nullptr : &found->second;
                          })
            .value_or("as it is");
    };
    CHECK(called("netns", "4026532201") == "red");
    CHECK(called("netns", "4026532999") == "netns:4026532999");
    CHECK(called("netns", "0") == "-");
    CHECK(called("cgroup", "17") == "/a");
    CHECK(called("cgroup", "18") == "cgroup:18");
    CHECK(called("container", "19/4026532201") == "web");
    CHECK(called("container", "17/4026532201") == "/a");
    CHECK(called("container", "0/4026532201") == "red");
    CHECK(called("container", "0/0") == "-");
    CHECK(called("container", "18/0") == "cgroup:18");
    CHECK(called("netns", "red") == "as it is");
    CHECK(called("container", "19") == "as it is");
    CHECK(called("comm", "17") == "as it is");
}
