# mawk -v map=System.map -f resolve.awk: in place of each 0x address of dropwatch text, name+0xoffset. What comes after
# the last function of the table has its name, too. awk's numbers have no 64 bits: addresses stay text of 16 digits,
# which sorts as they do; only offsets are numbers.
function hex(text,   i, value) {
    for (i = 1; i <= length(text); i++) value = value * 16 + index("123456789abcdef", substr(text, i, 1))
    return value
}
BEGIN {
    while ((getline line < map) > 0) {
        split(line, part, " ")
        if (part[2] !~ /^[tTwW]$/) continue
        if (count && start[count] == part[1]) continue
        start[++count] = part[1]
        name[count] = part[3]
    }
}
match($0, /0x[0-9a-f]+/) {
    address = substr($0, RSTART + 2, RLENGTH - 2)
    low = 1
    high = count + 1
    while (high - low > 1) {
        middle = int((low + high) / 2)
        if (start[middle] <= address) low = middle
        else high = middle
    }
    offset = hex(substr(address, 9)) - hex(substr(start[low], 9))
    print substr($0, 1, RSTART - 1) name[low] "+" sprintf("0x%x", offset) substr($0, RSTART + RLENGTH)
    next
}
{ print }
