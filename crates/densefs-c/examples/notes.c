/*
 * Appends a line to a file in an arena, and prints the file: notes ARENA TEXT
 *
 * cc notes.c -o notes $(pkg-config --cflags --libs densefs)
 */
#include <densefs.h>

#include <stdio.h>

static int failed(const char *what)
{
    perror(what);
    return 1;
}

int main(int count, char **given)
{
    char line[256];
    FILE *notes;

    if (count != 3) {
        fprintf(stderr, "usage: notes ARENA TEXT\n");
        return 2;
    }
    if (dfs_attach(given[1], 0) != 0)
        return failed(given[1]);
    notes = dfs_fopen("/notes", "a+");
    if (notes == NULL || fprintf(notes, "%s\n", given[2]) < 0)
        return failed("/notes");
    rewind(notes);
    while (fgets(line, sizeof line, notes) != NULL)
        fputs(line, stdout);
    if (fclose(notes) != 0)
        return failed("/notes");
    return dfs_detach() == 0 ? 0 : failed("dfs_detach");
}
