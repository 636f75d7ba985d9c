BEGIN { FS = "\t"; split("drv-ip ip-tcp tcp-app ip-udp udp-app", names, " ") }
$1 == "rx" {
    group = $4 " " $5 " " $6
    for (i = 1; i <= 5; i++) if ($(i + 9) != "-") add(group, names[i], $(i + 9))
}
