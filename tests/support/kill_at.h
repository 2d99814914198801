/* kill_at.h - ends a program by SIGKILL at one chosen step of its driver, for tests of what is left
 * then. Only the -killed variants of the programs are built with it. */

#ifndef SUPPORT_KILL_AT_H
#define SUPPORT_KILL_AT_H

/**
 * A driver's observer. HEDGEROW_KILL_AT="commit-after:2" in the environment: the process dies at
 * the second commit-after. HEDGEROW_STEPS=FILE: every step reached is appended to the file, a line
 * each, in the same form; a step that kills is the last line.
 *
 * self   in  not used
 * step   in  as io/driver.h names them
 * count  in  how often this step has been reached, from 1
 */
void kill_at_observe(void *self, const char *step, unsigned count);

#endif
