BEGIN { FS = " packets dropped at " }
NF == 2 { count[$2] += $1 }
END { for (place in count) printf "%s\t%d\n", place, count[place] }
