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

/* The file says that a simulation made this folder, and lists the files that it wrote, a line each. A
 * line that ends in a slash stands for all files in a folder of the coordinator's or an agent's own:
 * before they run, nobody knows which they will write. Only what is listed is ever removed. */
static const char marker[] = ".hedgerow-simulation";

/* What a simulation writes at the top; anything else there is somebody's own, and stays. */
static const char *const own[] = {"result.json", "model.json", "report.html", "held-out.csv",
                                  "logs",        "agents",     "coordinator", "held-out"};

enum { LIST_BYTES_MAX = 1 << 20, PATH_BELOW_MAX = 256 /* of what is in the folder */ };

static enum status fail(const char *path, struct why *why)
{
    why_set(why, "%s: %s", path, strerror(errno));
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
static enum status walk(const char *out, void *context,
                        enum status (*visit)(void *context, const FTSENT *entry, const char *path,
                                             struct why *why),
                        struct why *why)
{
    char root[SIMULATION_PATH_BYTES];
    char *const roots[] = {root, NULL};
    enum status status = STATUS_OK;
    FTSENT *entry;

    (void)snprintf(root, sizeof root, "%s", out);
    FTS *tree = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    if (tree == NULL) {
        return fail(out, why);
    }
    while (status == STATUS_OK && (entry = fts_read(tree)) != NULL) {
        if (entry->fts_level == 0 || entry->fts_info == FTS_D ||
            (entry->fts_level == 1 && strcmp(entry->fts_name, marker) == 0)) {
            continue;
        }
        const char *path = entry->fts_path + strlen(root);
        status = visit(context, entry, path + strspn(path, "/"), why);
    }
    (void)fts_close(tree);
    return status;
}

/* A file that no list has, where a simulation writes its own. */
static enum status look(void *context, const FTSENT *entry, const char *path, struct why *why)
{
    const char *list = context;
    char top[SIMULATION_PATH_BYTES];
    (void)snprintf(top, sizeof top, "%.*s", (int)strcspn(path, "/"), path);
    if (entry->fts_info == FTS_DP || !is_own(top) || is_listed(list, path)) {
        return STATUS_OK;
    }
    why_set(why,
            "%s was written by no simulation, or by one of an older hedgerow: nothing was touched; "
            "move it away, or name another folder with --out",
            entry->fts_path);
    return STATUS_EXISTS;
}

/* Folders stay while something is in them. */
static enum status clear(void *context, const FTSENT *entry, const char *path, struct why *why)
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
                   : fail(entry->fts_path, why);
    }
    return !is_listed(list, path) || unlink(entry->fts_accpath) == 0 ? STATUS_OK
                                                                     : fail(entry->fts_path, why);
}

/* Visits the files in the folder, with the list of those that an earlier simulation wrote. */
static enum status walk_listed(int lock, const char *out,
                               enum status (*visit)(void *context, const FTSENT *entry,
                                                    const char *path, struct why *why),
                               struct why *why)
{
    char *list = calloc(1, LIST_BYTES_MAX);
    if (list == NULL) {
        return STATUS_NO_MEMORY;
    }
    const ssize_t got = pread(lock, list + 1, LIST_BYTES_MAX - 3, 0);
    list[0] = '\n';
    list[got > 0 ? got + 1 : 1] = '\0';
    enum status status = walk(out, list, visit, why);
    free(list);
    return status;
}

static enum status note(void *context, const FTSENT *entry, const char *path,
                        UNUSED struct why *why)
{
    FILE *list = context;
    char top[SIMULATION_PATH_BYTES];
    (void)snprintf(top, sizeof top, "%.*s", (int)strcspn(path, "/"), path);
    if (entry->fts_info != FTS_DP && is_own(top)) {
        (void)fprintf(list, "%s\n", path);
    }
    return STATUS_OK;
}

enum status simulation_folder_list(int lock, const struct simulation_plan *plan, bool before,
                                   struct why *why)
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
        for (size_t i = 0; i < plan->agent_count; i++) {
            (void)fprintf(list, "agents/%s/state/\n", plan->agent[i].name);
        }
    }
    enum status status = walk(plan->asked.out, list, note, why);
    if (fclose(list) != 0) {
        status = STATUS_NO_MEMORY;
    }
    if (status == STATUS_OK &&
        (ftruncate(lock, 0) != 0 || pwrite(lock, text, size, 0) != (ssize_t)size)) {
        why_set(why, "%s/%s: cannot be written: %s", plan->asked.out, marker, strerror(errno));
        status = STATUS_IO;
    }
    free(text);
    return status;
}

static enum status make_folders(const struct simulation_plan *plan, struct why *why)
{
    static const char *const top[] = {"logs", "agents", "coordinator", "coordinator/state",
                                      "coordinator/out"};
    enum { TOP = sizeof top / sizeof top[0] };
    for (size_t i = 0; i < TOP + 2 * plan->agent_count; i++) {
        char path[SIMULATION_PATH_BYTES];
        if (i < TOP) {
            simulation_path(path, plan->asked.out, "%s", top[i]);
        } else {
            simulation_path(path, plan->asked.out, "agents/%s%s", plan->agent[(i - TOP) / 2].name,
                            (i - TOP) % 2 == 0 ? "" : "/state");
        }
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            return fail(path, why);
        }
    }
    return STATUS_OK;
}

/* Two simulations in one folder would clean each other's processes' files away. */
static enum status hold(int *lock, const char *out, struct why *why)
{
    char mark[SIMULATION_PATH_BYTES];
    simulation_path(mark, out, "%s", marker);
    *lock = open(mark, O_RDWR | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (*lock < 0) {
        return fail(mark, why);
    }
    if (flock(*lock, LOCK_EX | LOCK_NB) != 0) {
        why_set(why, "%s: another simulation is under way in it", out);
        return STATUS_BUSY;
    }
    return STATUS_OK;
}

static enum status cannot_make(const char *out, struct why *why)
{
    why_set(why, "%s: cannot be made: %s%s", out, strerror(errno),
            errno == ENOENT ? "; remedy: make the folder above it" : "");
    return STATUS_IO;
}

/* Whether a folder that is not there could be made. */
static enum status check_above(const char *out, struct why *why)
{
    char above[SIMULATION_PATH_BYTES];
    (void)snprintf(above, sizeof above, "%s", out);
    size_t length = strlen(above);
    while (length > 1 && above[length - 1] == '/') {
        above[--length] = '\0';
    }
    char *slash = strrchr(above, '/');
    (void)snprintf(slash == NULL ? above : slash + 1, 2, "%s", slash == NULL ? "." : "");
    return access(above, W_OK | X_OK) == 0 ? STATUS_OK : cannot_make(out, why);
}

enum status simulation_folder_check(int *lock, const char *out, struct why *why)
{
    char mark[SIMULATION_PATH_BYTES];
    struct stat info;

    *lock = -1;
    if (strlen(out) + PATH_BELOW_MAX > SIMULATION_PATH_BYTES) {
        return why_refuse(why, "the path of --out is too long");
    }
    if (stat(out, &info) != 0) {
        return errno == ENOENT && out[0] != '\0' ? check_above(out, why) : cannot_make(out, why);
    }
    if (!S_ISDIR(info.st_mode)) {
        why_set(why, "%s is not a folder", out);
        return STATUS_EXISTS;
    }
    simulation_path(mark, out, "%s", marker);
    if (lstat(mark, &info) != 0 || !S_ISREG(info.st_mode)) {
        if (is_empty(out)) {
            return STATUS_OK;
        }
        why_set(why,
                "%s holds files that no simulation made: nothing was touched; name another folder "
                "with --out",
                out);
        return STATUS_EXISTS;
    }
    enum status status = hold(lock, out, why);
    return status == STATUS_OK ? walk_listed(*lock, out, look, why) : status;
}

enum status simulation_folder_make(int *lock, const struct simulation_plan *plan, struct why *why)
{
    const char *out = plan->asked.out;
    enum status status = STATUS_OK;
    if (mkdir(out, 0700) != 0 && errno != EEXIST) {
        return cannot_make(out, why);
    }
    if (*lock < 0) { /* somebody else may have made it meanwhile */
        status = simulation_folder_check(lock, out, why);
    }
    if (status == STATUS_OK && *lock < 0) {
        status = hold(lock, out, why);
    }
    if (status == STATUS_OK) {
        status = walk_listed(*lock, out, clear, why);
    }
    return status == STATUS_OK ? make_folders(plan, why) : status;
}
