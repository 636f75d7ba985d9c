BEGIN { FS = "|" }
NF == 4 {
    split($3, words, " ")
    if (!($4 in groups)) {
        comm = $4
        sub(/^ Proc /, "", comm)
        pid = comm
        sub(/^.*, PID /, "", pid)
        sub(/, PID [0-9]+$/, "", comm)
        groups[$4] = pid " " comm
    }
    group = groups[$4]
    if ($2 == "I") {
        add(group, "drv-ip", words[2]); add(group, "ip-tcp", words[5]); add(group, "tcp-app", words[8])
    } else {
        add(group, "app-tcp", words[2]); add(group, "tcp-ip", words[5]); add(group, "ip-drv", words[8])
    }
}
