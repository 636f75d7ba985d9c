# SPDX-License-Identifier: GPL-2.0-or-later
"""The virtual-machine lab: Debian roots, qemu guests and scenarios."""
