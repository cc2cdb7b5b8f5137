/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * io.h: the system calls of the library, each turned into a TAMIS_E* code and a sentence.
 *
 * The only place that reads errno and the only caller of mmap and friends.  Every call names what
 * it worked on (`what`, a path for the sentence).  In the test build a hook may fail any call
 * before it is made: tests count the calls of an operation and fail each in turn.
 *
 * map.c has mappings, clock.c clocks, pauses and barriers, boot.c the number of the boot,
 * lock_holder.c who holds a lock, text.c the files of /proc, standard.c the descriptors 0 to 2,
 * io.c the rest.
 */
#pragma once

#include <errno.h>
#include <sys/types.h>

#include "base/base.h"

struct tamis__file_info {
    uint64_t bytes;
    uint64_t allocated_bytes; /* what the file takes on the disk */
    bool is_regular;
    bool is_directory;
    uint32_t mode;         /* permission bits, 07777 */
    uint32_t owner, group; /* as the system numbers them */
    uint64_t device, inode;
    uint64_t links;                 /* number of names; 0 once the file was removed */
    int64_t written_ns, changed_ns; /* when its content, and when anything of it, was changed */
};

/* Flags as in open(2); O_CLOEXEC and O_NOFOLLOW are always added.  *fd is never 0, 1 or 2
 * (standard.c).  Beneath a directory (dir_fd not AT_FDCWD) nothing leads out of it: no symbolic
 * link, no "..". */
int tamis__open(int dir_fd, const char *name, int flags, unsigned mode, const char *what, int *fd);
/* Does the file exist?  1, 0 or an error. */
int tamis__exists(int dir_fd, const char *name, const char *what);
void tamis__close(int fd);
int tamis__file_info(int fd, const char *what, struct tamis__file_info *info);
/* The same by its name.  TAMIS_ENOTFOUND without a sentence. */
int tamis__named_info(int dir_fd, const char *name, const char *what,
                      struct tamis__file_info *info);

/* Sets the time of the last write.  Only the owner of the file may do that. */
int tamis__set_written(int fd, int64_t ns, const char *what);

/* Reads all bytes or fails; a file that ends early is TAMIS_ECORRUPT. */
int tamis__read_at(int fd, void *buffer, size_t bytes, uint64_t offset, const char *what);
int tamis__write_at(int fd, const void *buffer, size_t bytes, uint64_t offset, const char *what);

/* Reads or writes all bytes of a hint in a file.  Returns false, and sets no sentence, if that
 * fails: the caller goes on without the hint. */
bool tamis__read_hint(int fd, void *buffer, size_t bytes, uint64_t offset);
bool tamis__write_hint(int fd, const void *buffer, size_t bytes, uint64_t offset);

/* Copies bytes of one file to the same place of another, by the kernel (which may share the blocks)
 * where it can. */
int tamis__copy_range(int from, int to, uint64_t offset, uint64_t bytes, const char *what);

/* Reserves blocks for the whole of a new file.  The sentence of TAMIS_ENOSPACE has both numbers. */
int tamis__allocate(int fd, uint64_t bytes, const char *what);
/* Reserves blocks for `bytes` more bytes of a file of ours, from `from` on.  The sentence of
 * TAMIS_ENOSPACE says how much is lacking, and `mend`. */
int tamis__reserve(int fd, uint64_t from, uint64_t bytes, const char *what, const char *mend);
/* Reserves the blocks that an existing file lacks, and never writes a byte of it.  Returns 0 too if
 * the file system cannot do that. */
int tamis__fill_holes(int fd, uint64_t bytes, const char *what);
/* Makes a file that is `from` bytes long, or longer, at least `to` long, with blocks of its own.
 * Any number of processes may do so at one time, and write behind `from` once one is through. */
int tamis__extend(int fd, uint64_t from, uint64_t to, const char *what);
/* Gets the type of the file system, f_type of statfs(2). */
int tamis__file_system_type(int fd, const char *what, uint32_t *type);
/* Gets the bytes that are free on the file system, for this user. */
int tamis__disk_room(int fd, const char *what, uint64_t *bytes);
/* Fails, as tamis__allocate() does, if the file system of the directory lacks room for `bytes`
 * bytes. */
int tamis__check_room(int dir_fd, uint64_t bytes, const char *what);
int tamis__sync_file(int fd, const char *what); /* a directory too */
/* Syncs many files that `what` names together.  Returns 0, or the error of one: then others may not
 * be on the disk either. */
int tamis__sync_files(const int *fds, size_t count, const char *what);
int tamis__sync_data(int fd, const char *what); /* fdatasync(2): for bytes that overwrite others */
/* Makes the kernel begin to write this range to the disk, without waiting. */
void tamis__start_writing(int fd, uint64_t offset, uint64_t bytes);
/* Writes this range to the disk, and waits for it.  It is not durable before the file is synced. */
int tamis__write_out(int fd, uint64_t offset, uint64_t bytes, const char *what);

int tamis__make_path(const char *path); /* like mkdir -p, and durable; 1 if the last one is new */
/* Renames a file; one that has the new name already is replaced. */
int tamis__rename(int old_dir_fd, const char *old_name, int new_dir_fd, const char *new_name,
                  const char *what);
/* Gives a file a second name. */
int tamis__link(int dir_fd, const char *old_name, const char *new_name, const char *what);
int tamis__unlink(int dir_fd, const char *name, const char *what);           /* 0 if not there */
int tamis__remove_directory(int dir_fd, const char *name, const char *what); /* 0 if not there */
/* Is the open file the one that the path names?  1, 0 or an error. */
int tamis__same_file(int fd, const char *path);
/* Gets the absolute form of a path that exists; the caller frees it. */
int tamis__absolute_path(const char *path, char **absolute);

/* flock(2), repeated after signals.  A lock belongs to the descriptor that was opened. */
enum tamis__lock { TAMIS__LOCK_SHARED, TAMIS__LOCK_EXCLUSIVE };
int tamis__lock(int fd, enum tamis__lock lock, const char *what);
/* Returns 1 if the lock was free and is now ours, 0 if another holder keeps us out. */
int tamis__try_lock(int fd, enum tamis__lock lock, const char *what);
void tamis__unlock(int fd);
/* Returns the process that has locked the file with flock(2), if possible another one than this; 0
 * if it is unknown. */
int64_t tamis__lock_holder(int fd);

/* The next calls lock a single byte, which need not be there (fcntl F_OFD_SETLK).  These locks
 * too belong to the descriptor, and end with the life of the processes that have it, as the
 * kernel knows it. */
/* Returns 1 if the byte was free and is now ours, 0 if not. */
int tamis__lock_byte(int fd, uint64_t offset, const char *what);
/* The same, but the lock is shared with others.  The descriptor must be open for reading. */
int tamis__share_byte(int fd, uint64_t offset, const char *what);
void tamis__unlock_byte(int fd, uint64_t offset);
/* Has another descriptor locked the byte?  1, 0 or an error. */
int tamis__byte_is_locked(int fd, uint64_t offset, const char *what);

/* Lets others run: at once, and after some rounds of waiting for the same thing for 100 us. */
void tamis__wait_a_little(unsigned round);

/* Maps a file from its start, watched (guard.h); large mappings begin on a 2 MiB boundary. */
int tamis__map(int fd, uint64_t bytes, bool writable, const char *what, void **map);
/* The same from a multiple of the page size on. */
int tamis__map_part(int fd, uint64_t offset, uint64_t bytes, bool writable, const char *what,
                    void **map);
void tamis__unmap(void *map, uint64_t bytes);
/* Ask after the last look at the mapping: TAMIS_ECORRUPT if a page could not be had (guard.h). */
int tamis__map_check(const void *map, const char *what);
/*
 * A hint that a pass over these bytes comes: it brings them into the page cache as single pages, in
 * few large reads.  The kernel's own readahead would bring folios of up to 2 MiB, which are written
 * back whole for each bit that is set in them (docs/decisions/0015-small-folios.md).
 */
void tamis__want_map(void *at, uint64_t bytes);
void tamis__want_file(int fd, uint64_t offset, uint64_t bytes);
/* A hint that the synced bytes of the file need not stay in the page cache. */
void tamis__forget_file(int fd);

/* Drops the page-table entries of the whole pages in a range of a file's mapping. */
void tamis__release_map(void *at, uint64_t bytes);
int tamis__sync_map(void *map, uint64_t bytes, const char *what);

/* Lets the system use large pages for this memory, if it has some. */
void tamis__advise_large(void *at, size_t bytes);

/* Reads up to `bytes` - 1 bytes from the start of a file of the system, and closes them
 * with a NUL. */
int tamis__read_text(const char *path, char *text, size_t bytes);
/* Calls fn for each line of a file of the system, without its newline, until it returns other than
 * 0. Returns that, 0 or an error.  A line of more than 4095 bytes is left out. */
typedef int tamis__line_fn(void *context, const char *line);
int tamis__each_line(const char *path, tamis__line_fn *fn, void *context);
/* Number of processors that this process may run on, at least 1. */
unsigned tamis__processors(void);

/* Calls fn for each name of a directory but "." and "..", until it returns other than 0. */
typedef int tamis__name_fn(void *context, const char *name);
int tamis__each_name(int dir_fd, const char *what, tamis__name_fn *fn, void *context);

/* The kernel's random number of this boot, /proc/sys/kernel/random/boot_id, as 16 bytes. */
#define TAMIS__BOOT_ID_BYTES 16u
/* Gets the kernel's number of this boot, which is read once a process.  Returns false, and zeros,
 * if it is not known. */
bool tamis__boot_id(uint8_t id[TAMIS__BOOT_ID_BYTES]);

int64_t tamis__now_ns(void);
int64_t tamis__steady_ns(void); /* to some ms; never set back */
/* The clock of windows: CLOCK_REALTIME to some ms, which costs a few ns.  A test may
 * set another clock. */
int64_t tamis__clock_ns(void);
void tamis__pause_us(unsigned us);

/* Does the kernel offer what tamis__barrier() needs?  Asks once a process, and
 * again after fork(). */
bool tamis__barrier_prepare(void);
/* A full memory barrier in every thread of the process, or in this thread alone
 * if not `everywhere`. */
void tamis__barrier(bool everywhere);
void tamis__random_bytes(void *buffer, size_t bytes);

/* Sets the sentence and returns the code for an error number that another
 * library (LMDB) reports. */
int tamis__fail_errno(int error_number, const char *verb, const char *what);

#ifdef TAMIS_TEST_POINTS
/* Called before each system call above with its verb; returns an errno to fail with, 0 to go on. */
extern int (*tamis__io_hook)(const char *verb, const char *what);
/* If set, openat2(2) is not used, as on a kernel without it. */
extern bool tamis__io_no_openat2;
#endif

/* Takes those of the descriptors 0 to 2 that are closed, so that no file of ours gets their
 * numbers. Call before any other library opens a file (LMDB).  Returns 0 or the error number. */
int tamis__fill_standard(void);
/* Has that library got one all the same?  A second descriptor of the file that writes synchronously
 * (O_DSYNC) counts too. */
bool tamis__is_at_standard(int fd);

/* ---- Inside store/os/ ------------------------------------------------------------------------ */

/* Each wrapper of a system call asks this first, so that a test can make any of them fail.  Returns
 * the error number to fail with, and sets errno to it as the call would; or returns 0. */
static inline int tamis__may_fail(const char *verb, const char *what)
{
#ifdef TAMIS_TEST_POINTS
    return tamis__io_hook ? (errno = tamis__io_hook(verb, what)) : 0;
#else
    (void)verb;
    (void)what;
    return 0;
#endif
}

/* Moves an open file away from descriptor 0, 1 or 2 (standard.c).  Returns 0 or the error number.
 */
int tamis__leave_standard(int *fd);
