// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/containers/cgroup_path.h"

#include "host_files.h"

using namespace stapgen;
using namespace stapgen::containers;

namespace {

const auto id = id_of('a'), other = id_of('b');
const std::string uid = "0f2c4b9a-1d3e-4f5a-8b7c-9d0e1f2a3b4c", uid_in_slice = "0f2c4b9a_1d3e_4f5a_8b7c_9d0e1f2a3b4c";

/// Of the innermost container: "runtime id-without-repeats pod".
std::string told(const std::string& path) {
    const auto places = places_in(path);
    if (places.empty()) return "none";
    const auto& place = places.back();
    CHECK(path.starts_with(place.path));
    return place.runtime + "|" + (place.id == id ? "ID" : place.id) + "|" + place.pod;
}

}  // namespace

TEST_CASE("docker's cgroups, by systemd and by cgroupfs, of version 1, rootless and with a parent of its own") {
    CHECK(told("/system.slice/docker-" + id + ".scope") == "docker|ID|");
    CHECK(told("/docker/" + id) == "docker|ID|");
    CHECK(told("/user.slice/user-1000.slice/user@1000.service/user.slice/docker-" + id + ".scope") == "docker|ID|");
    CHECK(told("/batch.slice/docker-" + id + ".scope/init.scope") == "docker|ID|");
    CHECK(told("/actions_job/" + id) == "|ID|");
}

TEST_CASE("podman's cgroups: what watches a container is none, and a pod has its own") {
    CHECK(told("/machine.slice/libpod-" + id + ".scope/container") == "podman|ID|");
    CHECK(told("/machine.slice/libpod-" + id + ".scope") == "podman|ID|");
    CHECK(told("/machine.slice/libpod-conmon-" + id + ".scope") == "none");
    CHECK(told("/libpod_parent/libpod-" + id) == "podman|ID|");
    CHECK(told("/libpod_parent/conmon") == "none");
    CHECK(told("/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-" + id + ".scope/container") ==
          "podman|ID|");
    CHECK(told("/machine.slice/machine-libpod_pod_" + other + ".slice/libpod-" + id + ".scope/container") ==
          "podman|ID|" + other);
    CHECK(told("/libpod_parent/" + other) == "none");
    CHECK(pod_cgroup_in("/machine.slice/machine-libpod_pod_" + other + ".slice/libpod-" + id + ".scope") ==
          "/machine.slice/machine-libpod_pod_" + other + ".slice");
    CHECK(pod_cgroup_in("/libpod_parent/" + other + "/libpod-" + id) == "/libpod_parent/" + other);
}

TEST_CASE("Kubernetes: each kind of pod, each runtime, by systemd and by cgroupfs") {
    for (const std::string kind : {"", "-burstable", "-besteffort"}) {
        const auto pod =
            "/kubepods.slice/kubepods" + kind + ".slice/kubepods" + kind + "-pod" + uid_in_slice + ".slice";
        CHECK(told(pod + "/cri-containerd-" + id + ".scope") == "containerd|ID|" + uid);
        CHECK(told(pod + "/crio-" + id + ".scope") == "cri-o|ID|" + uid);
        CHECK(told(pod + "/crio-" + id + ".scope/container") == "cri-o|ID|" + uid);
        CHECK(told(pod + "/crio-conmon-" + id + ".scope") == "none");
        CHECK(told(pod + "/docker-" + id + ".scope") == "docker|ID|" + uid);
        CHECK(pod_cgroup_in(pod + "/crio-" + id + ".scope/container") == pod);
        CHECK(told("/system.slice/containerd.service/kubepods" + kind + "-pod" + uid_in_slice +
                   ".slice:cri-containerd:" + id) == "containerd|ID|" + uid);
    }
    for (const std::string kind : {"", "/burstable", "/besteffort"}) {
        CHECK(told("/kubepods" + kind + "/pod" + uid + "/" + id) == "|ID|" + uid);
        CHECK(told("/kubepods" + kind + "/pod" + uid + "/crio-" + id) == "cri-o|ID|" + uid);
        CHECK(pod_cgroup_in("/kubepods" + kind + "/pod" + uid + "/" + id) == "/kubepods" + kind + "/pod" + uid);
    }
    // A static pod, whose uid is a hash; a node that is a container itself (kind), with kubelet's own folder.
    const std::string hash(32, '7');
    CHECK(told("/kubepods.slice/kubepods-pod" + hash + ".slice/cri-containerd-" + id + ".scope") ==
          "containerd|ID|" + hash);
    const auto node = "/system.slice/docker-" + other +
                      ".scope/kubelet.slice/kubelet-kubepods.slice/"
                      "kubelet-kubepods-besteffort.slice/kubelet-kubepods-besteffort-pod" +
                      uid_in_slice + ".slice";
    const auto nested = places_in(node + "/cri-containerd-" + id + ".scope");
    REQUIRE(nested.size() == 2);
    CHECK(nested[0] == Place{"docker", other, "", "/system.slice/docker-" + other + ".scope"});
    CHECK(nested[1] == Place{"containerd", id, uid, node + "/cri-containerd-" + id + ".scope"});
}

TEST_CASE("nspawn and LXC, which have names") {
    CHECK(told("/machine.slice/machine-web\\x2d1.scope/payload") == "nspawn|web-1|");
    CHECK(told("/machine.slice/systemd-nspawn@build.service/payload/system.slice") == "nspawn|build|");
    CHECK(told("/lxc.payload.mail") == "lxc|mail|");
    CHECK(told("/lxc/mail") == "lxc|mail|");
    CHECK(told("/lxc.monitor.mail") == "none");
}

TEST_CASE("what is no container") {
    for (const std::string path : {"/", "", "/system.slice/ssh.service", "/user.slice/user-0.slice/session-1.scope",
                                   "/system.slice/docker.service", "/system.slice/docker-short.scope", "/init.scope",
                                   "/kubepods.slice/kubepods-burstable.slice", "/kubepods/podnot-a-uid/",
                                   "/system.slice/system-postgresql.slice", "/../../system.slice"})
        CHECK(told(path) == "none");
    CHECK(told("/system.slice/docker-" + std::string(64, 'g') + ".scope") == "none");
    CHECK(pod_cgroup_in("/system.slice/podman.service").empty());
}

TEST_CASE("one cgroup is below another by whole names") {
    CHECK(is_below("/a/b", "/a"));
    CHECK(is_below("/a", "/a"));
    CHECK(is_below("/a", "/"));
    CHECK(!is_below("/ab", "/a"));
    CHECK(!is_below("/a", "/a/b"));
}
