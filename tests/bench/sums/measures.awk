# What the sums of stages in awk have in common. It has no sort and no exact counts in bounded memory: percentiles are
# the middle of bins, 256 to a doubling.
function add(group, stage, value,    key, bin) {
    key = group "\t" stage
    if (!(key in n)) { least[key] = most[key] = first[key] = value + 0; at_least[key] = 1e9; at_most[key] = 0 }
    n[key]++
    distance = value - first[key]
    sum[key] += distance
    squares[key] += distance * distance
    if (value < least[key]) least[key] = value + 0
    if (value > most[key]) most[key] = value + 0
    bin = int(log(value + 1) * per_e)
    count[key, bin]++
    if (bin < at_least[key]) at_least[key] = bin
    if (bin > at_most[key]) at_most[key] = bin
}
function percentile(key, percent,    rank, bin, before, value) {
    rank = n[key] * percent / 100 - 1e-9
    for (bin = at_least[key]; before < rank; bin++) before += count[key, bin]
    value = (exp((bin - 1) / per_e) + exp(bin / per_e)) / 2 - 1
    return value < least[key] ? least[key] : value > most[key] ? most[key] : int(value + 0.5)
}
function show(    key, mean, variance) {
    for (key in n) {
        mean = sum[key] / n[key]
        variance = n[key] > 1 ? (squares[key] - sum[key] * mean) / (n[key] - 1) : 0
        printf "%s\t%d\t%.9f\t%.9f\t%d\t%d\t%d\t%d\t%d\t%d\n", key, n[key], mean + first[key],
               sqrt(variance > 0 ? variance : 0), least[key], most[key], percentile(key, 50), percentile(key, 90),
               percentile(key, 99), percentile(key, 99.9)
    }
}
BEGIN { per_e = 256 / log(2) }
END { show() }
