"""The guests of the bench: one that counts instructions, and one whose times are the emulation's."""

from lablib.guest import Guest

# With one CPU and a clock of one nanosecond per instruction, the guest's clock counts instructions, whatever the host
# does meanwhile. An idle guest does not sleep: its clock leaps to the next timer.
ICOUNT = ["-icount", "shift=0,sleep=off"]


class CountingGuest(Guest):
    """A guest whose clock counts instructions."""

    def command(self, console):
        words = super().command(console)
        words[words.index("-accel") + 1] = "tcg,thread=single"
        words[words.index("-smp") + 1] = "1"
        return words + ICOUNT


class TimedGuest(Guest):
    """A guest with CPUS processors."""

    cpus = 2

    def command(self, console):
        words = super().command(console)
        words[words.index("-smp") + 1] = str(self.cpus)
        return words
