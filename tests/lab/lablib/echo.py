"""A UDP server of the host that sends a guest's datagrams back. The guest reaches it at 10.0.2.2."""

import contextlib
import socket


@contextlib.contextmanager
def echo_server(lab):
    """Yield send_back(COUNT), which answers so many datagrams; the file `echo` tells the guest the port."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as server:
        server.bind(("127.0.0.1", 0))
        server.settimeout(300)
        (lab.work / "echo.new").write_text(str(server.getsockname()[1]))
        (lab.work / "echo.new").rename(lab.work / "echo")

        def send_back(count):
            for _ in range(count):
                server.sendto(*server.recvfrom(9999))

        yield send_back
