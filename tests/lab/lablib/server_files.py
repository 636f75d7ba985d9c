# SPDX-License-Identifier: GPL-2.0-or-later
"""What servers are told to do: those of the scenario request-servers, and nginx elsewhere."""

BACKEND_MS, FAST_MS, SLEEP_MS, HOLD_MS = 9, 3, 11, 7

# An HTTP server that says what each request has done: its client's port, the path, ns.
PYTHON = f"""
import http.server, socket, sys, threading, time

LOCK = threading.Lock()

def queued_ns():
    with open("/proc/thread-self/schedstat") as times:
        return int(times.read().split()[1])

class Handler(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    def setup(self):
        super().setup()
        self.queued = queued_ns()
    def do_GET(self):
        begin = time.monotonic_ns()
        took = 0
        if self.path == "/slow":
            time.sleep({BACKEND_MS} / 1000)
        elif self.path == "/fast":
            time.sleep({FAST_MS} / 1000)
        elif self.path == "/sleep":
            time.sleep({SLEEP_MS} / 1000)
        elif self.path == "/lock":
            with LOCK:
                took = time.monotonic_ns() - begin
                time.sleep({HOLD_MS} / 1000)
        elif self.path == "/run":
            end = time.thread_time_ns() + 7_000_000
            while time.thread_time_ns() < end:
                pass
            queued = queued_ns()
            took, self.queued = queued - self.queued, queued
        elif self.path == "/ask":
            with socket.create_connection(("127.0.0.1", 8090)) as asked:
                begin = time.monotonic_ns()
                asked.sendall(b"GET /slow HTTP/1.0\\r\\n\\r\\n")
                while asked.recv(65536):
                    pass
                took = time.monotonic_ns() - begin
        body = b"x" * 101
        head = f"HTTP/1.1 200 OK\\r\\nContent-Length: {{len(body)}}\\r\\nConnection: {{'close' if self.close_connection else 'keep-alive'}}\\r\\n\\r\\n"
        self.wfile.write(head.encode() + body)
        print(self.client_address[1], self.path, took, flush=True)
    def log_message(self, *_):
        pass

class Server(http.server.ThreadingHTTPServer):
    request_queue_size = 64
server = Server(("127.0.0.1", int(sys.argv[1])), Handler)
server.serve_forever()
"""
ASYNCIO = f"""
import asyncio, sys, time

async def handle(reader, writer):
    while line := await reader.readline():
        while (await reader.readline()).strip():
            pass
        path = line.split()[1].decode()
        if path == "/sleep":
            await asyncio.sleep({SLEEP_MS} / 1000)
        elif path == "/ask":
            begin = time.monotonic_ns()
            answer, asked = await asyncio.open_connection("127.0.0.1", 8090)
            asked.write(b"GET /slow HTTP/1.0\\r\\n\\r\\n")
            await answer.read()
            asked.close()
            print(writer.get_extra_info("peername")[1], "/asyncio-ask-4", time.monotonic_ns() - begin, flush=True)
        writer.write(b"HTTP/1.0 200 OK\\r\\nConnection: keep-alive\\r\\nContent-Length: 3\\r\\n\\r\\nyes")
        await writer.drain()
    writer.close()

async def main():
    async with await asyncio.start_server(handle, "127.0.0.1", int(sys.argv[1])) as server:
        await server.serve_forever()

asyncio.run(main())
"""
# What a script of PHP does, and how it says in ns how long that took.
PHP = {
    "sleep": f"usleep({SLEEP_MS}000); $took = hrtime(true) - $begin;",
    "lock": f"$file = fopen('/tmp/www/lock', 'c'); flock($file, LOCK_EX); $took = hrtime(true) - $begin; usleep({HOLD_MS}000);",
    "run": f"do $took = cpu_ns() - $cpu; while ($took < {HOLD_MS}_000_000);",
}
PHP_SCRIPT = """<?php
function cpu_ns() {
    $used = getrusage();
    return (($used['ru_utime.tv_sec'] + $used['ru_stime.tv_sec']) * 1_000_000 + $used['ru_utime.tv_usec'] + $used['ru_stime.tv_usec']) * 1000;
}
$begin = hrtime(true);
$cpu = cpu_ns();
%s
header('Took: ' . getmypid() . ":$took");
echo 'done';
"""
PHP_FPM = """
[global]
error_log = /dev/stderr
[tcp]
listen = 127.0.0.1:9000
user = root
pm = static
pm.max_children = 3
[unix]
listen = /tmp/php.sock
user = root
pm = static
pm.max_children = 3
"""
# What any nginx of the lab is told first.
NGINX_HEAD = """
daemon off;
user root;
worker_processes 1;
error_log stderr;
pid /tmp/nginx.pid;
events {}
"""
NGINX = f"""{NGINX_HEAD}http {{
    log_format times '$remote_port $uri $request_time $upstream_response_time $upstream_http_took';
    access_log /lab/work/nginx.log times;
    keepalive_requests 1000000;
    upstream kept {{ server 127.0.0.1:8090; keepalive 8; }}
    server {{
        listen 8080;
        root /tmp/www;
        location = /each {{ proxy_pass http://127.0.0.1:8090/slow; }}
        location = /fast {{ proxy_pass http://127.0.0.1:8090/fast; }}
        location = /disk {{ aio threads; directio 512; output_buffers 1 128k; }}
        location /tcp/ {{ fastcgi_pass 127.0.0.1:9000; include fastcgi; }}
        location /unix/ {{ fastcgi_pass unix:/tmp/php.sock; include fastcgi; }}
        location = /kept {{ proxy_pass http://kept/slow; proxy_http_version 1.1; proxy_set_header Connection ""; }}
    }}
}}
"""
FASTCGI = """
fastcgi_param SCRIPT_FILENAME /tmp/www$uri.php;
fastcgi_param REQUEST_METHOD $request_method;
"""
CADDY = """
{
    admin off
    auto_https off
}
http://:8081 {
    reverse_proxy 127.0.0.1:8091
}
"""
POSTGRES = """
listen_addresses = '127.0.0.1'
unix_socket_directories = ''
fsync = on
jit = off
autovacuum = off
timezone = GMT
log_timezone = GMT
track_wal_io_timing = on
log_min_duration_statement = 0
log_lock_waits = on
deadlock_timeout = 3ms
log_line_prefix = '%r '
logging_collector = off
"""
FILES = {"server.py": PYTHON, "asynchronous.py": ASYNCIO, "nginx.conf": NGINX, "fastcgi": FASTCGI, "fpm.conf": PHP_FPM,
         "Caddyfile": CADDY, **{f"{name}.php": PHP_SCRIPT % does for name, does in PHP.items()}}
