// SPDX-License-Identifier: GPL-2.0-or-later
// Start of the guest: arguments, the folder for saves, and the few engine interfaces that concern
// the program as a whole.
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "config.h"
#include "doomtype.h"
#include "i_endoom.h"
#include "i_system.h"
#include "m_argv.h"
#include "m_misc.h"
#include "net_gui.h"

#include "platform.h"

void D_DoomMain(void);

// Makes `path` and the folders above it. False if that is not possible.
static boolean make_folders(char *path)
{
    for (char *slash = strchr(path + 1, '/'); slash != NULL; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        boolean made = mkdir(path, 0700) == 0 || errno == EEXIST;
        *slash = '/';
        if (!made) {
            return false;
        }
    }
    return true;
}

char *platform_save_folder(const char *application)
{
    const char *given = getenv("NEURODOOM_SAVEDIR");
    const char *data = getenv("XDG_DATA_HOME");
    const char *home = getenv("HOME");
    char *path;

    if (given != NULL && given[0] != '\0') {
        path = M_StringJoin(given, "/", NULL);
    } else if (data != NULL && data[0] == '/') {
        path = M_StringJoin(data, "/", application, "/", NULL);
    } else if (home != NULL && home[0] != '\0') {
        path = M_StringJoin(home, "/.local/share/", application, "/", NULL);
    } else {
        return NULL;
    }
    if (make_folders(path)) {
        return path;
    }
    // Whoever names a folder relies on it. Without the usual one a game can still be played.
    static boolean told;
    if (given != NULL && given[0] != '\0') {
        I_Error("NEURODOOM_SAVEDIR: cannot make %s: %s", path, strerror(errno));
    } else if (!told) {
        fprintf(stderr, "Cannot make %s: %s. Settings go beside the program.\n", path, strerror(errno));
        told = true;
    }
    free(path);
    return NULL;
}

void platform_timed_demo_ended(int gametics)
{
    page->info.timed_demo_tics = (uint32_t)gametics;
}

// The engine's last screen of coloured text belongs to a DOS prompt.
void I_Endoom(byte *text)
{
    (void)text;
}

// The engine asks this of its window for waiting players: there is no network to wait for.
void NET_WaitForLaunch(void)
{
    I_Error("Network games are not possible: the machine has no network");
}

int main(int argc, char **argv)
{
    // Whoever reads the text through a pipe sees it when it happens.
    setvbuf(stdout, NULL, _IOLBF, BUFSIZ);

    myargc = argc;
    myargv = calloc((size_t)argc + 1, sizeof *myargv);
    if (myargv == NULL) {
        I_Error("Out of memory");
    }
    for (int i = 0; i < argc; i++) {
        boolean two_dashes = strncmp(argv[i], "--", 2) == 0 && isalpha((unsigned char)argv[i][2]);
        myargv[i] = M_StringDuplicate(argv[i] + (two_dashes ? 1 : 0));
    }
    if (M_ParmExists("-version")) {
        puts(PACKAGE_STRING);
        return 0;
    }
    platform_open();
    fingerprints_open();
    M_FindResponseFile();
    M_SetExeDir();
    D_DoomMain();
    return 0;
}
