"""The guests of the bench: one that counts instructions, and one whose times are the emulation's."""

from lablib.guest import Guest, free_port

# With one CPU and a clock of one nanosecond per instruction, the guest's clock counts instructions, whatever the host
# does meanwhile. An idle guest does not sleep: its clock leaps to the next timer.
ICOUNT = ["-icount", "shift=0,sleep=off"]
# The guest's ports that the host reaches.
PORTS = {"ask": 7001, "bulk": 7002, "memcached": 11211}


class BenchGuest(Guest):
    """A guest with a number of CPUs, whose clock may count instructions; ports has the host's port of each traffic."""

    def __init__(self, lab, cpus, counts, net):
        super().__init__(lab.root, lab.run, "", net, cache=lab.cache,
                         env={"LAB_SUITE": lab.suite, "LAB_RELEASE": lab.release, "LAB_SYMBOLS": lab.symbols})
        self.cpus, self.counts = cpus, counts
        self.ports = {"memcached": self.port, "ask": free_port(), "bulk": free_port()} if net else {}

    def command(self, console):
        words = super().command(console)
        words[words.index("-smp") + 1] = str(self.cpus)
        if self.ports:
            forwards = [f"hostfwd=tcp:127.0.0.1:{self.ports[what]}-:{PORTS[what]}" for what in ("ask", "bulk")]
            words[words.index("-netdev") + 1] += "," + ",".join(forwards)
        if self.counts:
            words[words.index("-accel") + 1] = "tcg,thread=single"
            words += ICOUNT
        return words
