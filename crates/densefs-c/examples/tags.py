"""Tags a file in an arena by an extended attribute, and prints all of its tags.

usage: tags.py ARENA FILE NAME VALUE
"""

import ctypes
import os
import sys

dfs = ctypes.CDLL("libdensefs.so.0", use_errno=True)
dfs.dfs_listxattr.restype = ctypes.c_ssize_t
dfs.dfs_getxattr.restype = ctypes.c_ssize_t


def check(result, path):
    """The result of a call, or the exception that its errno stands for."""
    if result < 0:
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), os.fsdecode(path))
    return result


def main():
    if len(sys.argv) != 5:
        sys.exit("usage: tags.py ARENA FILE NAME VALUE")
    arena, path, name, value = map(os.fsencode, sys.argv[1:])
    check(dfs.dfs_attach(arena, 0), arena)
    size = ctypes.c_size_t(len(value))
    check(dfs.dfs_setxattr(path, b"user." + name, value, size, 0), path)
    names = ctypes.create_string_buffer(65536)
    length = check(dfs.dfs_listxattr(path, names, ctypes.c_size_t(len(names))), path)
    for tag in sorted(names.raw[:length].split(b"\0")[:-1]):
        content = ctypes.create_string_buffer(65536)
        room = ctypes.c_size_t(len(content))
        length = check(dfs.dfs_getxattr(path, tag, content, room), path)
        print(os.fsdecode(tag), os.fsdecode(content.raw[:length]))
    check(dfs.dfs_detach(), arena)


main()
