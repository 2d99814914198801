#include "cli/simulation.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

/* Its presence says: this folder was made by a simulation, which may clean it. */
static const char marker[] = ".hedgerow-simulation";

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

/* Removes all below the folder, following no link; the folder and its marker stay. */
static enum status clean(struct simulation *simulation, const char *path)
{
    char root[SIMULATION_PATH_BYTES];
    char *const roots[] = {root, NULL};
    enum status status = STATUS_OK;
    FTSENT *entry;

    (void)snprintf(root, sizeof root, "%s", path);
    FTS *walk = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, NULL);
    if (walk == NULL) {
        return fail(simulation, path);
    }
    while (status == STATUS_OK && (entry = fts_read(walk)) != NULL) {
        if (entry->fts_level == 0 || entry->fts_info == FTS_D ||
            (entry->fts_level == 1 && strcmp(entry->fts_name, marker) == 0)) {
            continue;
        }
        int removed =
            entry->fts_info == FTS_DP ? rmdir(entry->fts_accpath) : unlink(entry->fts_accpath);
        if (removed != 0) {
            status = fail(simulation, entry->fts_path);
        }
    }
    (void)fts_close(walk);
    return status;
}

static enum status make(struct simulation *simulation, const char *folder, const char *name)
{
    char path[SIMULATION_PATH_BYTES];
    if (!simulation_path(simulation, path, "%s%s", folder, name)) {
        why_set(&simulation->why, "the path of --out is too long");
        return STATUS_INVALID;
    }
    return mkdir(path, 0700) == 0 ? STATUS_OK : fail(simulation, path);
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
    simulation->lock = open(mark, O_WRONLY | O_CREAT | O_NOFOLLOW | O_CLOEXEC, 0600);
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
        status = clean(simulation, simulation->out);
    }
    return status == STATUS_OK ? make_folders(simulation) : status;
}
