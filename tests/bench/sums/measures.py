# SPDX-License-Identifier: GPL-2.0-or-later
# What the three sums of stages in Python have in common: print(counts), counts[group][stage] = {value as text: how often}.
import math


def show(counts):
    for group, stages in counts.items():
        for stage, values in stages.items():
            ordered = sorted((int(value), n) for value, n in values.items())
            n = sum(count for _, count in ordered)
            total = sum(value * count for value, count in ordered)
            mean = total / n
            squares = sum((value - mean) ** 2 * count for value, count in ordered)
            row = [group, stage, n, mean, math.sqrt(squares / (n - 1)) if n > 1 else 0, ordered[0][0], ordered[-1][0]]
            at, before = 0, 0
            for percent in (50, 90, 99, 99.9):
                rank = max(1, math.ceil(n * percent / 100 - 1e-9))
                while before + ordered[at][1] < rank:
                    before += ordered[at][1]
                    at += 1
                row.append(ordered[at][0])
            print(*row, sep="\t")
