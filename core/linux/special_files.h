// SPDX-License-Identifier: MIT
// The files that a guest sees without a grant: a few of /dev, its own part of /proc, and the folders that
// lead to grants. Paths are canonical: absolute, without links, "." or "..", "" for "/".
#ifndef CORE_SPECIAL_FILES_H
#define CORE_SPECIAL_FILES_H

#include "files.h"

// Whether special files lie at or below the folder, or around it, so that a grant there is not all there is.
bool special_below(const char *folder);
// Whether the path belongs to the special files even if a grant covers it.
bool special_covers(const char *path);
// Whether the guest sees something at the path.
bool special_exists(struct files *f, const char *path);
// Whether the path is a link of /proc to a folder that has a name: that, canonical, goes to target.
bool special_folder_link(struct files *f, const char *path, char target[PATH_MAX]);
// Character devices that are open to the guest in granted folders too.
bool special_device_allowed(dev_t device);
// 0 if the guest may have what the host's descriptor, one of O_PATH, too, stands for, of which fstat says *s,
// and which was found in a granted folder on the device grant. -EACCES: it is another device, or of /proc,
// /sys and their like.
int special_check_granted(int host, const struct stat *s, dev_t grant);

// The inode number that a virtual folder shows.
uint64_t special_virtual_inode(const char *path);

// As files_open, files_lookup and files_readlink. -ENOENT if there is nothing. folder: it has to be one;
// follow: what a link leads to.
int special_open(struct files *f, const char *path, int flags, struct descriptor *out);
int special_lookup(struct files *f, const char *path, bool folder, bool follow, struct files_object *object);
int64_t special_readlink(struct files *f, const char *path, char *text, size_t size);

#endif
