# SPDX-License-Identifier: GPL-2.0-or-later
"""Servers of ClickHouse 18.16, Debian 12's, as shards: each in a folder of its own, on the loopback."""

import os
import pathlib
import socket
import subprocess
import time

CONFIG = """<yandex>
<logger><level>warning</level><log>{folder}/log</log><errorlog>{folder}/errors</errorlog></logger>
<listen_host>127.0.0.1</listen_host><tcp_port>{port}</tcp_port><interserver_http_host>127.0.0.1</interserver_http_host>
<path>{folder}/data/</path><tmp_path>{folder}/tmp/</tmp_path><user_files_path>{folder}/files/</user_files_path>
<users_config>{folder}/users.xml</users_config><default_profile>default</default_profile>
<default_database>default</default_database><mark_cache_size>268435456</mark_cache_size>
<remote_servers><all>{shards}</all></remote_servers>
</yandex>
"""
SHARD = "<shard><replica><host>127.0.0.1</host><port>{port}</port></replica></shard>"
USERS = """<yandex>
<profiles><default><max_memory_usage>4000000000</max_memory_usage><max_threads>2</max_threads>
<insert_distributed_sync>1</insert_distributed_sync></default></profiles>
<users><default><password></password><networks><ip>127.0.0.1</ip></networks><profile>default</profile>
<quota>default</quota></default></users><quotas><default></default></quotas>
</yandex>
"""


class Servers:
    """ROOT: where the packages clickhouse-server and clickhouse-client, and what they need, were unpacked."""

    def __init__(self, root, folder, count, first_port=19017):
        self.root, self.ports = pathlib.Path(root), [first_port + number for number in range(count)]
        libraries = [str(path) for path in (self.root / "usr/lib/x86_64-linux-gnu", self.root / "usr/lib") if path.exists()]
        self.environment = {**os.environ, "LD_LIBRARY_PATH": ":".join(libraries)}
        self.processes = []
        for port in self.ports:
            of_this = folder / f"server-{port}"
            of_this.mkdir()
            shards = "".join(SHARD.format(port=one) for one in self.ports)
            (of_this / "config.xml").write_text(CONFIG.format(folder=of_this, port=port, shards=shards))
            (of_this / "users.xml").write_text(USERS)
            program = next(path for path in self.root.glob("usr/*bin/clickhouse-server"))
            with open(of_this / "said", "wb") as said:
                self.processes.append(subprocess.Popen([program, f"--config-file={of_this}/config.xml"], cwd=of_this,
                                                       env=self.environment, stdout=said, stderr=said))

    def __enter__(self):
        for port in self.ports:
            for _ in range(100):
                with socket.socket() as asked:
                    if asked.connect_ex(("127.0.0.1", port)) == 0:
                        break
                time.sleep(0.3)
        return self

    def __exit__(self, *_):
        for process in self.processes:
            process.terminate()
        for process in self.processes:
            process.wait(60)

    def run(self, sql, shard=0, given=None):
        """Return what the client prints."""
        client = [self.root / "usr/bin/clickhouse-client", "--host", "127.0.0.1", "--port", str(self.ports[shard]),
                  "--query", sql]
        done = subprocess.run(client, stdin=given or subprocess.DEVNULL, capture_output=True, text=True,
                              env=self.environment, check=False)
        if done.returncode:
            raise ValueError(f"{sql}\n{done.stderr}")
        return done.stdout

    def rows(self, sql):
        return [line.split("\t") for line in self.run(sql).splitlines()]
