// Prints the size and path of every file in an arena: sizes ARENA
//
// c++ sizes.cc -o sizes $(pkg-config --cflags --libs densefs)
#include <densefs.h>

#include <cstdio>
#include <memory>
#include <string>

namespace {

struct Close {
    void operator()(DFS_DIR *directory) const { dfs_closedir(directory); }
};

bool list(const std::string &path) {
    std::unique_ptr<DFS_DIR, Close> directory(dfs_opendir(path.c_str()));
    if (!directory) {
        std::perror(path.c_str());
        return false;
    }
    while (const dirent *entry = dfs_readdir(directory.get())) {
        const std::string name = entry->d_name;
        if (name == "." || name == "..") continue;
        const std::string inner = path + "/" + name;
        struct stat found;
        if (dfs_lstat(inner.c_str(), &found) != 0) {
            std::perror(inner.c_str());
            return false;
        }
        if (S_ISDIR(found.st_mode)) {
            if (!list(inner)) return false;
        } else {
            std::printf("%lld %s\n", static_cast<long long>(found.st_size), inner.c_str());
        }
    }
    return true;
}

} // namespace

int main(int count, char **given) {
    if (count != 2) {
        std::fprintf(stderr, "usage: sizes ARENA\n");
        return 2;
    }
    if (dfs_attach(given[1], 0) != 0) {
        std::perror(given[1]);
        return 1;
    }
    const bool done = list(".");
    return dfs_detach() == 0 && done ? 0 : 1;
}
