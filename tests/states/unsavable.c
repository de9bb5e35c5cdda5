// SPDX-License-Identifier: MIT
// A program that has what cannot be saved, by the number of its argument, and then runs on.
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

int main(int argc, char **argv)
{
    int ends[2], file = open("/tmp/shared", O_RDWR | O_CREAT, 0600);
    switch (argc > 1 ? atoi(argv[1]) : 0) {
    case 1: pipe(ends); break;
    case 2: socketpair(AF_UNIX, SOCK_STREAM, 0, ends); break;
    case 3: epoll_create1(0); break;
    case 4:
        ftruncate(file, 4096);
        mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
        break;
    case 5: mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0); break;
    case 6:
        if (fork() == 0) { // until this one ends: a sleep would be over at once, for the clock is virtual
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            pause();
        }
        break;
    case 7: execve(argv[0], (char *[]){argv[0], "8", NULL}, (char *[]){NULL}); break;
    case 8: break; // nothing any more
    case 9: unlink("/tmp/shared"); break;
    }
    for (volatile unsigned i = 0; i < 400000000; i++)
        ;
    return 0;
}
