// SPDX-License-Identifier: GPL-2.0-or-later
// flood receive PORT: counts datagrams until one of 1 byte comes, and the time from the first to the last.
// flood send PORT N BYTES: sends N to it as fast as it can.
#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

int main(int argc, char** argv) {
    if (argc < 3) return 2;
    const int receives = !strcmp(argv[1], "receive");
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(atoi(argv[2]))};
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const int socket_fd = socket(AF_INET, SOCK_DGRAM, 0);
    static char data[2048];
    if (receives) {
        if (bind(socket_fd, (struct sockaddr*)&address, sizeof address)) return 1;
        printf("ready %d %s\n", getpid(), argv[2]);
        fflush(stdout);
        long received = 0;
        struct timespec first = {0}, last = {0};
        while (recv(socket_fd, data, sizeof data, 0) > 1) {
            clock_gettime(CLOCK_MONOTONIC, &last);
            if (!received++) first = last;
        }
        printf("us=%ld\nreceived=%ld\n", (last.tv_sec - first.tv_sec) * 1000000 + (last.tv_nsec - first.tv_nsec) / 1000,
               received);
        return 0;
    }
    if (argc != 5 || connect(socket_fd, (struct sockaddr*)&address, sizeof address)) return 1;
    const long count = atol(argv[3]), size = atol(argv[4]);
    for (long i = 0; i < count; ++i)
        if (send(socket_fd, data, size, 0) != size) return 1;
    // Until one arrives: the receiver's buffer may be full.
    while (send(socket_fd, data, 1, 0) == 1)
        usleep(100000);
    return 0;
}
