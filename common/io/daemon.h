/* daemon.h - what both daemons do before their machine runs: speak to the operator, harden the
 * process, open the random source. */

#ifndef IO_DAEMON_H
#define IO_DAEMON_H

#include "base/log.h"
#include "base/random.h"
#include "base/status.h"
#include "base/why.h"
#include "config/options.h"
#include "config/settings.h"
#include "crypto/random.h"
#include "io/log_sink.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

struct daemon {
    struct log_sink sink;
    struct log unlimited; /* straight to the sink */
    struct log_limit limit;
    struct log
        limited; /* every level: this many lines of an event, so that nobody fills a site's disk */
    struct log_rate rate;
    struct log log; /* warnings and errors besides: one line per event and peer in some seconds */
    struct random_source *source;
    struct random drawn; /* cryptographic, unless a test or `simulate --seed` has replaced it */
    pthread_mutex_t drawing;
    struct random random; /* the same for any thread: one draws at a time */
};

/**
 * Hardens the process, starts the log on standard error and opens the random source.
 *
 * memory_bytes_max  in  of the process; 0: no limit
 *
 * Fails with STATUS_IO, STATUS_NO_RANDOM, STATUS_INVALID (the limit leaves no room); why says it.
 */
MUST_USE enum status daemon_start(struct daemon *daemon, const struct log_settings *log,
                                  uint64_t memory_bytes_max, struct why *why);
void daemon_stop(struct daemon *daemon);

/** After the loop that heard of signals, before results are made and written: from now on a first SIGTERM or SIGINT is answered
 * in the log, and one that comes STOP_AGAIN_MS later or more ends the program at once, as a crash would. Where no thread is to be
 * had, signals stay held back. */
void daemon_let_hurry(const struct daemon *daemon);

/** Prints "program: sentence" to standard error and returns the exit code that fits the status. */
int daemon_complain(const char *program, enum status status, const struct why *why);

/** The same for a daemon that runs: the sentence goes to its log, if that was started. The daemon is stopped. Returns
 * exit_code where status is STATUS_OK. */
int daemon_end(struct daemon *daemon, const char *program, int exit_code, enum status status,
               const struct why *why);

/** Prints "program: sentence" and where to find help; returns the exit code of a wrong command
 * line. */
int daemon_usage(const char *program, const char *sentence);

struct arguments; /* each program's own: what the options of its commands point into */

#define DAEMON_SEED "--simulate-seed" /* the last option of its command; only variants have it */

/* A command takes its own options and refuses the others'. */
struct daemon_command {
    const char *name;
    const char *action; /* the second word, where it takes one; else NULL */
    int (*run)(const struct arguments *arguments);
    struct option option[6]; /* those after the last one are zeroed */
};

struct daemon_program {
    const char *name;
    const char *help;
    const char *usage; /* which words are commands */
    const struct daemon_command *command;
    size_t command_count;
};

/** Reads a command line and runs its command, or prints help or version where it asks for them anywhere. Returns the
 * exit code. */
int daemon_main(const struct daemon_program *program, const struct arguments *arguments, int count,
                char **argument);

/**
 * Puts a generator with a seed in the random source's place, in the variant that `hedgerow simulate --seed` runs.
 *
 * simulated  in  the settings are ones that simulate wrote
 * drawn      in  for the log: "the noise comes"
 *
 * Fails with STATUS_REFUSED.
 */
MUST_USE enum status daemon_seed(struct daemon *daemon, bool simulated, const char *drawn,
                                 uint64_t seed, struct why *why);

/** Prints a line of `check`: question, PASSED or FAILED, and why says what; empties why for the next line. Returns
 * whether status is STATUS_OK. */
bool daemon_report(const char *question, enum status status, struct why *why);

/** Reports a limit that daemon_start would refuse; one that it takes needs no line. What a program takes before it starts is to
 * be taken before: the numerical library's buffers. Returns whether it takes it. */
bool daemon_check_memory(uint64_t memory_bytes_max);

/** Prints a line of `check` that decides nothing: question, "note" and a sentence. */
void daemon_note(const char *question, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/** The same with "WARNING" in place of "note". */
void daemon_warn(const char *question, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* A file that `init` writes: its text is malloc'd, and freed by daemon_init. */
struct daemon_file {
    const char *name;
    char *text;
};

/** Writes files into a folder, which is made when missing (0700), and says what to do next. Nothing is written where one
 * of them is there already. Returns the exit code. */
int daemon_init(const char *program, const char *folder, struct daemon_file *file, size_t count,
                const char *next);

#endif
