#include "cli/simulation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* It says that a simulation made this folder, and lists the files that it wrote, a line each. A line that
 * ends in a slash stands for all files in a folder of the coordinator's or an agent's own: before they
 * run, nobody knows which they will write. Only what is listed is ever removed. */
static const char marker[] = ".hedgerow-simulation";

/* What a simulation writes at the top; anything else there is somebody's own, and stays. */
static const char *const own[] = {"result.json", "model.json", "report.html", "held-out.csv",
                                  "logs",        "agents",     "coordinator", "held-out"};

enum { LIST_BYTES_MAX = 1 << 20 };

static enum status fail(struct simulation *simulation, const char *path)
{
    why_set(&simulation->why, "%s: %s", path, strerror(errno));
    return STATUS_IO;
}

static bool is_empty(const char *path)
{
    const struct dirent *entry;
    bool empty = true;
    DIR *folder = opendir(path);
    while (folder != NULL && empty && (entry = readdir(folder)) != NULL) {
        empty = strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0;
    }
    if (folder != NULL) {
        (void)closedir(folder);
    }
    return empty;
}

static bool is_own(const char *name)
{
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++) {
        if (strcmp(name, own[i]) == 0) {
            return true;
        }
    }
    return false;
}

static bool has_line(const char *list, const char *start, size_t size)
{
    char line[SIMULATION_PATH_BYTES + 3];
    (void)snprintf(line, sizeof line, "\n%.*s\n", (int)size, start);
    return strstr(list, line) != NULL;
}

/* Whether the list has this path below the folder, or all files of its folder. */
static bool is_listed(const char *list, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (strchr(path, '\n') != NULL) {
        return false;
    }
    return has_line(list, path, strlen(path)) ||
           (slash != NULL && has_line(list, path, (size_t)(slash - path) + 1));
}

/* Calls visit for each entry below the folder, following no link; a folder comes after what is in it.
 * `path` is the entry's path below the folder. */
static enum status walk(struct simulation *simulation, void *context,
                        enum status (*visit)(struct simulation *simulation, void *context,
                                             const FTSENT *entry, const char *path))
{
    char root[SIMULATION_PATH_BYTES];
    char *const roots[] = {root, NULL};
    enum status status = STATUS_OK;
    FTSENT *entry;

    (void)snprintf(root, sizeof root, "%s", simulation->out);
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    if (tree == NULL) {
        return fail(simulation, simulation->out);
    }
    while (status == STATUS_OK && (entry = fts_read(tree)) != NULL) {
        if (entry->fts_level == 0 || entry->fts_info == FTS_D ||
            (entry->fts_level == 1 && strcmp(entry->fts_name, marker) == 0)) {
            continue;
        }
        const char *path = entry->fts_path + strlen(root);
        status = visit(simulation, context, entry, path + strspn(path, "/"));
    }
    (void)fts_close(tree);
    return status;
}

/* A file that no list has, where a simulation writes its own. */
static enum status look(struct simulation *simulation, void *context, const FTSENT *entry,
                        const char *path)
{
    const char *list = context;
    char top[SIMULATION_PATH_BYTES];
    (void)snprintf(top, sizeof top, "%.*s", (int)strcspn(path, "/"), path);
    if (entry->fts_info == FTS_DP || !is_own(top) || is_listed(list, path)) {
        return STATUS_OK;
    }
    why_set(&simulation->why,
            "%s was written by no simulation, or by one of an older hedgerow: nothing was touched; "
            "move it away, or name another folder with --out",
            entry->fts_path);
    return STATUS_EXISTS;
}

/* Folders stay while something is in them. */
static enum status clear(struct simulation *simulation, void *context, const FTSENT *entry,
                         const char *path)
{
    const char *list = context;
    char top[SIMULATION_PATH_BYTES];
    (void)snprintf(top, sizeof top, "%.*s", (int)strcspn(path, "/"), path);
    if (!is_own(top)) {
        return STATUS_OK;
    }
    if (entry->fts_info == FTS_DP) {
        return rmdir(entry->fts_accpath) == 0 || errno == ENOTEMPTY || errno == EEXIST
                   ? STATUS_OK
                   : fail(simulation, entry->fts_path);
    }
    return !is_listed(list, path) || unlink(entry->fts_accpath) == 0
               ? STATUS_OK
               : fail(simulation, entry->fts_path);
}

static enum status clean(struct simulation *simulation)
{
    char *list = calloc(1, LIST_BYTES_MAX);
    enum status status = list == NULL ? STATUS_NO_MEMORY : STATUS_OK;
    if (status == STATUS_OK) {
        const ssize_t got = pread(simulation->lock, list + 1, LIST_BYTES_MAX - 3, 0);
        list[0] = '\n';
        list[got > 0 ? got + 1 : 1] = '\0';
        status = walk(simulation, list, look);
    }
    if (status == STATUS_OK) {
        status = walk(simulation, list, clear);
    }
    free(list);
    return status;
}

static enum status note(struct simulation *simulation, void *context, const FTSENT *entry,
                        const char *path)
{
    FILE *list = context;
    char top[SIMULATION_PATH_BYTES];
    (void)simulation;
    (void)snprintf(top, sizeof top, "%.*s", (int)strcspn(path, "/"), path);
    if (entry->fts_info != FTS_DP && is_own(top)) {
        (void)fprintf(list, "%s\n", path);
    }
    return STATUS_OK;
}

enum status simulation_list_files(struct simulation *simulation, bool before)
{
    char *text = NULL;
    size_t size = 0;
    FILE *list = open_memstream(&text, &size);
    if (list == NULL) {
        return STATUS_NO_MEMORY;
    }
    if (before) {
        (void)fputs("result.json\nmodel.json\nreport.html\nlogs/\ncoordinator/state/\n"
                    "coordinator/out/\n",
                    list);
        for (size_t i = 0; i < simulation->agent_count; i++) {
            char name[CHILD_NAME_BYTES];
            simulation_agent_name(simulation, name, i);
            (void)fprintf(list, "agents/%s/state/\n", name);
        }
    }
    enum status status = walk(simulation, list, note);
    if (fclose(list) != 0) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK && (ftruncate(simulation->lock, 0) != 0 ||
                                pwrite(simulation->lock, text, size, 0) != (ssize_t)size)) {
        why_set(&simulation->why, "%s/%s: cannot be written: %s", simulation->out, marker,
                strerror(errno));
        status = STATUS_IO;
    }
    free(text);
    return status;
}

static enum status make(struct simulation *simulation, const char *folder, const char *name)
{
    char path[SIMULATION_PATH_BYTES];
    if (!simulation_path(simulation, path, "%s%s", folder, name)) {
        why_set(&simulation->why, "the path of --out is too long");
        return STATUS_INVALID;
    }
    return mkdir(path, 0700) == 0 || errno == EEXIST ? STATUS_OK : fail(simulation, path);
}

static enum status make_folders(struct simulation *simulation)
{
    static const char *const top[] = {"logs", "agents", "coordinator", "coordinator/state",
                                      "coordinator/out"};
    enum status status = STATUS_OK;
    for (size_t i = 0; i < sizeof top / sizeof top[0] && status == STATUS_OK; i++) {
        status = make(simulation, "", top[i]);
    }
    for (size_t i = 0; i < simulation->agent_count && status == STATUS_OK; i++) {
        char name[CHILD_NAME_BYTES];
        char state[CHILD_NAME_BYTES + 8];
        simulation_agent_name(simulation, name, i);
        status = make(simulation, "agents/", name);
        if (status == STATUS_OK) {
            (void)snprintf(state, sizeof state, "%s/state", name);
            status = make(simulation, "agents/", state);
        }
    }
    return status;
}

/* Two simulations in one folder would clean each other's processes' files away. */
static enum status hold(struct simulation *simulation, const char *mark)
{
    simulation->lock = open(mark, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (simulation->lock < 0) {
        return fail(simulation, mark);
    }
    if (flock(simulation->lock, LOCK_EX | LOCK_NB) != 0) {
        why_set(&simulation->why, "%s: another simulation is under way in it", simulation->out);
        return STATUS_BUSY;
    }
    return STATUS_OK;
}

enum status simulation_folder(struct simulation *simulation)
{
    char mark[SIMULATION_PATH_BYTES];
    struct stat info;

    if (!simulation_path(simulation, mark, "%s", marker)) {
        why_set(&simulation->why, "the path of --out is too long");
        return STATUS_INVALID;
    }
    if (mkdir(simulation->out, 0700) != 0 && errno != EEXIST) {
        why_set(&simulation->why, "%s: cannot be made: %s%s", simulation->out, strerror(errno),
                errno == ENOENT ? "; remedy: make the folder above it" : "");
        return STATUS_IO;
    }
    if (stat(simulation->out, &info) != 0 || !S_ISDIR(info.st_mode)) {
        why_set(&simulation->why, "%s is not a folder", simulation->out);
        return STATUS_EXISTS;
    }
    bool marked = lstat(mark, &info) == 0 && S_ISREG(info.st_mode);
    if (!marked && !is_empty(simulation->out)) {
        why_set(&simulation->why,
                "%s holds files that no simulation made: nothing was touched; name another folder "
                "with --out",
                simulation->out);
        return STATUS_EXISTS;
    }
    enum status status = hold(simulation, mark);
    if (status == STATUS_OK && marked) {
        status = clean(simulation);
    }
    return status == STATUS_OK ? make_folders(simulation) : status;
}
