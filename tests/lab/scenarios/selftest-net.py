DESCRIPTION = "the lab's network card: clients on the host talk to memcached in the guest"
IN_CI = ("trixie",)

NET = True

GUEST = r"""
start_memcached || exit 1
touch ready
wait_for '[ -e done ]' 120 || exit 1
cat "/sys/class/net/$LAB_NIC/statistics/rx_packets" >received
printf 'stats\r\nquit\r\n' | nc 127.0.0.1 11211 >stats
kill $MC_PID
finish
"""


def host(lab):
    lab.wait_for_file("ready")
    lab.chroot(["memcslap", f"--servers=127.0.0.1:{lab.port}", "--concurrency=2",
                "--execute-number=500", "--test=get"])
    (lab.work / "done").touch()


def check(lab):
    assert "STAT cmd_get 1000" in lab.read("stats"), lab.read("stats")
    received = int(lab.read("received"))
    assert received >= 1000, f"only {received} packets came in by the network card"
