/*
 * For the differential test of one side alone, which makes all calls by the C library: what the
 * other side is called there. Calls that would do something a second time do nothing.
 */
#ifndef ALONE_H
#define ALONE_H

#include <dirent.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

typedef DIR DFS_DIR;
static inline void dfs_close(int file) { (void)file; }
static inline void dfs_unlink(const char *path) { (void)path; }
static inline void dfs_rmdir(const char *path) { (void)path; }
#define dfs_fstat fstat
#define dfs_fstatat fstatat
#define dfs_lstat lstat
#define dfs_realpath realpath
#define dfs_nftw nftw
#define dfs_fts_open(paths, how, by) fts_open(paths, (how) | FTS_NOCHDIR, by)
#define dfs_fts_read fts_read
#define dfs_fts_children fts_children
#define dfs_fts_set fts_set
#define dfs_fts_close fts_close
#define dfs_fopen fopen
#define dfs_opendir opendir
#define dfs_readdir readdir
#define dfs_closedir closedir
#define dfs_getcwd getcwd

#endif
