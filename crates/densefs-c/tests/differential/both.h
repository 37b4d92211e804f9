/* What the two files of the differential test share: both answers to a call, and the call. */
#ifndef BOTH_H
#define BOTH_H

#ifdef ALONE
#include "alone.h"
#else
#include "densefs.h"
#endif

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/stat.h>

enum { LINUX = 0, DENSE = 1, SLOTS = 6 };

/* What a call returned on each side, its errno if it failed, and what it found. */
extern long answer[2];
extern int why[2];
extern char text[2][8192];
/* The call, as it would stand in a program. */
extern char call[1024];
/* Open descriptors, each on both sides; -1 if there is none. */
extern int slots[SLOTS][2];
/* What absolute paths begin with: nothing where the tree is at the root. */
extern const char *top;

/* Starts a sequence of random calls, which the seed determines. */
void begin(uint64_t seed);

/* Makes a random call on both sides; it may also make none. */
void one_call(void);

/* Make one of the random calls that are in these files, with these arguments if it needs them. */
void call_on_attributes(const char *path, mode_t mode);
void call_on_descriptors(void);
void call_of_library(const char *path, const char *other);

#ifdef ALONE
/* Makes a call, whose answer is that of both sides. */
#define BOTH(linux_call, dense_call)                                                               \
    do {                                                                                           \
        errno = 0;                                                                                 \
        answer[LINUX] = answer[DENSE] = (long)(linux_call);                                        \
        why[LINUX] = why[DENSE] = answer[LINUX] < 0 ? errno : 0;                                   \
    } while (0)
#else
/* Makes a call on both sides. */
#define BOTH(linux_call, dense_call)                                                               \
    do {                                                                                           \
        errno = 0;                                                                                 \
        answer[LINUX] = (long)(linux_call);                                                        \
        why[LINUX] = answer[LINUX] < 0 ? errno : 0;                                                \
        errno = 0;                                                                                 \
        answer[DENSE] = (long)(dense_call);                                                        \
        why[DENSE] = answer[DENSE] < 0 ? errno : 0;                                                \
    } while (0)
#endif

#define PICK(list) ((list)[below(sizeof(list) / sizeof((list)[0]))])

unsigned below(unsigned most);
int chance(unsigned percent);
/* Writes the call. */
void say(const char *format, ...);
const char *some_path(char *into);
/* A slot's descriptors, or some that are not open; returns the slot, or -1. */
int some_slot(int on[2]);
int some_directory(int on[2]);
/* Keeps the descriptors that both sides have answered with. */
void keep(void);
void write_stat(int side, const struct stat *found);
/* Writes the times that a call was to set, of both files, if it was to set them to a time. */
static inline void write_times(const struct stat stat[2], const struct timespec times[2]) {
    for (int side = 0; side < 2; side++) {
        int length = 0;
        /* To follow a link is to access it. */
        if (answer[side] != 0 || S_ISLNK(stat[side].st_mode)) return;
        if (times[0].tv_nsec >= 0 && times[0].tv_nsec < 1000000000)
            length = sprintf(text[side], "atime %ld.%ld ", (long)stat[side].st_atim.tv_sec,
                             stat[side].st_atim.tv_nsec);
        if (times[1].tv_nsec >= 0 && times[1].tv_nsec < 1000000000)
            sprintf(text[side] + length, "mtime %ld.%ld", (long)stat[side].st_mtim.tv_sec,
                    stat[side].st_mtim.tv_nsec);
    }
}
/* Sorts the words that are separated by this character, and separates them by lines. */
void sort_words(char *words, size_t size, char between);
int is_special(int directory, const char *path);

#endif
