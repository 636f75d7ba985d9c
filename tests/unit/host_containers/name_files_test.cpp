// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/containers/name_files.h"

#include "host_files.h"

using namespace stapgen;
using namespace stapgen::containers;

namespace {

const auto container_id = id_of('a');
const std::string uid_of_pod = "0f2c4b9a-1d3e-4f5a-8b7c-9d0e1f2a3b4c";

std::string name_in(const HostFiles& files) {
    const auto names = read_names(files.root());
    const auto found = names.find(container_id);
    return found == names.end() ? "none" : found->second.shown();
}

}  // namespace

TEST_CASE("docker: a container's name, and that of one in a pod") {
    HostFiles files;
    const auto file = "var/lib/docker/containers/" + container_id + "/config.v2.json";
    CHECK(name_in(files) == "none");
    files.put(file, R"({"ID":"x","Name":"/web","Config":{"Env":["PASSWORD=secret"],"Labels":{}}})");
    CHECK(name_in(files) == "web");
    files.put(file, R"({"Name":"/k8s_nginx_web-1_default_)" + uid_of_pod + R"(_0","Config":{"Labels":
        {"io.kubernetes.container.name":"nginx","io.kubernetes.pod.name":"web-1","io.kubernetes.pod.namespace":"default",
         "io.kubernetes.pod.uid":")" +
                        uid_of_pod + R"("}}})");
    CHECK(name_in(files) == "default/web-1/nginx");
    CHECK(read_names(files.root()).at(container_id).pod_uid == uid_of_pod);
    files.put(file, R"({"Name":"/k8s_nginx_web-1_default_)" + uid_of_pod + R"(_0"})");
    CHECK(name_in(files) == "default/web-1/nginx");
    for (const std::string bad : {"", "{", "[]", R"({"Name":7})", R"({"Name":"/"})"}) {
        files.put(file, bad);
        CHECK(name_in(files) == "none");
    }
}

TEST_CASE("podman: its list, that of what is removed after its end, and those of users") {
    for (const std::string folder : {"var/lib/containers/storage", "home/ann/.local/share/containers/storage",
                                     "root/.local/share/containers/storage"}) {
        for (const std::string list : {"overlay-containers/containers.json", "vfs-containers/containers.json",
                                       "overlay-containers/volatile-containers.json"}) {
            HostFiles files;
            files.put(folder + '/' + list, R"([{"id":"0","names":[]},{"id":")" + container_id +
                                               R"(","names":["mail"],"image":"i"},{"names":["x"]},7])");
            CHECK(name_in(files) == "mail");
        }
    }
}

TEST_CASE("CRI-O: its list in kubelet's way, and its annotations") {
    HostFiles files;
    files.put("var/lib/containers/storage/overlay-containers/containers.json",
              R"([{"id":")" + container_id + R"(","names":["k8s_db_store-0_prod_)" + uid_of_pod + R"(_1"]}])");
    CHECK(name_in(files) == "prod/store-0/db");
    HostFiles annotated;
    annotated.put("run/containers/storage/overlay-containers/" + container_id + "/userdata/config.json",
                  R"({"annotations":{"io.kubernetes.container.name":"db","io.kubernetes.pod.name":"store-0",
                      "io.kubernetes.pod.namespace":"prod","io.kubernetes.pod.uid":")" +
                      uid_of_pod + R"("}})");
    CHECK(name_in(annotated) == "prod/store-0/db");
}

TEST_CASE("containerd: the annotations of Kubernetes, of a pod's own container, and of nerdctl") {
    const auto bundle = "run/containerd/io.containerd.runtime.v2.task/k8s.io/" + container_id + "/config.json";
    HostFiles files;
    files.put(bundle, R"({"annotations":{"io.kubernetes.cri.container-type":"container",
        "io.kubernetes.cri.container-name":"nginx","io.kubernetes.cri.sandbox-name":"web-1",
        "io.kubernetes.cri.sandbox-namespace":"default","io.kubernetes.cri.sandbox-uid":")" +
                          uid_of_pod + R"("}})");
    CHECK(name_in(files) == "default/web-1/nginx");
    files.put(bundle, R"({"annotations":{"io.kubernetes.cri.container-type":"sandbox",
        "io.kubernetes.cri.sandbox-name":"web-1","io.kubernetes.cri.sandbox-namespace":"default"}})");
    CHECK(name_in(files) == "default/web-1/pause");
    HostFiles nerdctl;
    nerdctl.put("run/containerd/io.containerd.runtime.v2.task/default/" + container_id + "/config.json",
                R"({"annotations":{"nerdctl/name":"cache"}})");
    CHECK(name_in(nerdctl) == "cache");
    HostFiles docker;
    docker.put("run/containerd/io.containerd.runtime.v2.task/moby/" + container_id + "/config.json",
               R"({"annotations":{}})");
    docker.put("var/lib/docker/containers/" + container_id + "/config.v2.json", R"({"Name":"/web"})");
    CHECK(name_in(docker) == "web");
}

TEST_CASE("kubelet's links name a container of every runtime") {
    HostFiles files;
    files.put("var/log/containers/web-1_default_nginx-" + container_id + ".log", "");
    CHECK(name_in(files) == "default/web-1/nginx");
    files.put("var/log/containers/other.log", "");
    files.put("var/log/containers/no-underscores-" + id_of('c') + ".log", "");
    CHECK(read_names(files.root()).size() == 1);
}
