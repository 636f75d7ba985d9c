# SPDX-License-Identifier: GPL-2.0-or-later
"""The guests of the bench: one that counts instructions, and one whose times are the emulation's."""

from lablib.guest import Guest


class BenchGuest(Guest):
    """A guest with a number of CPUs, whose clock may count instructions."""

    def __init__(self, lab, cpus, counts, net):
        super().__init__(lab.root, lab.run, "", net, cache=lab.cache, real_time=not counts,
                         env={"LAB_SUITE": lab.suite, "LAB_RELEASE": lab.release, "LAB_SYMBOLS": lab.symbols})
        self.cpus = cpus

    def command(self, console):
        words = super().command(console)
        words[words.index("-smp") + 1] = str(self.cpus)
        return words
