/* owned.h - files and folders that nobody else may change: who owns them, who may write them, and no links. */

#ifndef BASE_OWNED_H
#define BASE_OWNED_H

#include "base/status.h"
#include "base/why.h"

#include <sys/stat.h>

/**
 * Judges from a file's or folder's description who could change it.
 *
 * about  in   as stat, lstat or fstat gave it
 * path   in   its name, for the message
 * why    out  who else may write it, and the chmod or chown that mends it
 *
 * Fails with STATUS_INVALID when its owner is neither the account that runs nor root, or when its group or
 * everybody may write it. For root too: another account's file would let that account command root.
 */
MUST_USE enum status owned_judge(const struct stat *about, const char *path, struct why *why);

/**
 * Opens a state file, which O_CREAT in flags makes with mode 0600. Never through a link, never a device.
 *
 * file   out  the descriptor, -1 after a failure
 * flags  in   of open(2), without O_TRUNC: the file is judged after it is opened
 *
 * Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID (a symbolic link, more than one name, not a regular file,
 * or what owned_judge refuses).
 * Ensures that nothing of what it refuses has been changed.
 */
MUST_USE enum status owned_open(int *file, const char *path, int flags, struct why *why);

/**
 * Judges a folder that a program keeps its state in. A link to a folder is followed; the folder is judged.
 *
 * about  out  the folder
 *
 * Fails with STATUS_NOT_FOUND, STATUS_IO, STATUS_INVALID (not a folder, or what owned_judge refuses).
 */
MUST_USE enum status owned_folder(struct stat *about, const char *path, struct why *why);

/**
 * Judges a file that tells a program what to do - settings, policy, key, job, list - and the folders in which its name
 * and the file itself stand, as ssh does with its own. In a folder with the sticky bit, as /tmp, others cannot replace
 * it. A file that is not there is not judged: the reader of it says so.
 *
 * Fails with STATUS_INVALID (what owned_judge refuses, of file or folder), STATUS_IO, STATUS_NO_MEMORY.
 */
MUST_USE enum status owned_source(const char *path, struct why *why);

#endif
