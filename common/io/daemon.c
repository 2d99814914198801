#include "io/daemon.h"

#include "base/check.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/near.h"
#include "base/text.h"
#include "io/clock.h"
#include "io/driver.h"
#include "io/process.h"
#include "io/variant.h"

#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { REPORT_INDENT = 21 };      /* of a sentence of `check`, after the question and the answer */
enum { REPEAT_PERIOD_MS = 9000 }; /* less than the endpoint's own, whose counts must pass */

static void write_limited(void *self, const struct log_entry *entry)
{
    struct daemon *daemon = self;
    log_limit_write(&daemon->limit, clock_now_ms(), entry);
}

static void write_once(void *self, const struct log_entry *entry)
{
    struct daemon *daemon = self;
    if (entry->level < LOG_WARN || entry->field_count > 0) { /* each one says something else */
        write_limited(self, entry);
    } else {
        log_rate_event(&daemon->rate, clock_now_ms(), entry->level, entry->event, entry->peer,
                       entry->text);
    }
}

static sigset_t stop_signals(void)
{
    sigset_t stops;
    (void)sigemptyset(&stops);
    (void)sigaddset(&stops, SIGTERM);
    (void)sigaddset(&stops, SIGINT);
    return stops;
}

/* Before the first thread, which inherits it. A signal that comes before a loop hears of it waits for that loop; one
 * that comes after the loop's end changes nothing: a result is being written, and the exit code is known. */
static enum status hold_signals(struct why *why)
{
    const sigset_t held = stop_signals();
    if (sigprocmask(SIG_BLOCK, &held, NULL) != 0) {
        return why_fail(why, STATUS_IO, "signals cannot be held back: %s", strerror(errno));
    }
    return STATUS_OK;
}

static enum status draw_in_turn(void *self, void *out, size_t bytes)
{
    struct daemon *daemon = self;
    CHECK(pthread_mutex_lock(&daemon->drawing) == 0);
    const enum status status = random_fill(&daemon->drawn, out, bytes);
    CHECK(pthread_mutex_unlock(&daemon->drawing) == 0);
    return status;
}

enum { MEMORY_UNIT_BYTES = 1024 * 1024 };

enum status daemon_start(struct daemon *daemon, const struct log_settings *log,
                         uint64_t memory_bytes_max, struct why *why)
{
    memset(daemon, 0, sizeof *daemon);
    daemon->unlimited = log_sink_init(&daemon->sink, STDERR_FILENO, log->format, log->level);
    log_limit_init(&daemon->limit, &daemon->unlimited);
    daemon->limited = (struct log){.write = write_limited, .self = daemon, .level = log->level};
    log_rate_init(&daemon->rate, &daemon->limited, REPEAT_PERIOD_MS);
    daemon->log = (struct log){.write = write_once, .self = daemon, .level = log->level};
    enum status status = hold_signals(why);
    if (status == STATUS_OK) {
        status = process_harden(memory_bytes_max / MEMORY_UNIT_BYTES, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    daemon->source = random_source_new();
    if (daemon->source == NULL) {
        return why_fail(why, STATUS_NO_RANDOM,
                        "the operating system's random source cannot be opened");
    }
    daemon->drawn = random_source_interface(daemon->source);
    if (pthread_mutex_init(&daemon->drawing, NULL) != 0) {
        why_set(why, "no memory for a lock");
        random_source_free(daemon->source);
        daemon->source = NULL;
        return STATUS_NO_MEMORY;
    }
    daemon->random = (struct random){.fill = draw_in_turn, .self = daemon};
    return STATUS_OK;
}

void daemon_stop(struct daemon *daemon)
{
    if (daemon->log.write != NULL) {
        log_rate_flush(&daemon->rate, INT64_MAX); /* the counts that are still owed */
        log_limit_flush(&daemon->limit, clock_now_ms());
    }
    if (daemon->source != NULL) {
        (void)pthread_mutex_destroy(&daemon->drawing);
    }
    random_source_free(daemon->source);
    memset(daemon, 0, sizeof *daemon);
}

static const char *sentence_of(enum status status, const struct why *why)
{
    return why->text[0] != '\0' ? why->text : status_text(status);
}

int daemon_complain(const char *program, enum status status, const struct why *why)
{
    (void)fprintf(stderr, "%s: %s\n", program, sentence_of(status, why));
    return (int)exit_code_of(status);
}

int daemon_end(struct daemon *daemon, const char *program, int exit_code, enum status status,
               const struct why *why)
{
    if (status != STATUS_OK && daemon->log.write == NULL) {
        exit_code = daemon_complain(program, status, why);
    } else if (status != STATUS_OK) {
        exit_code = (int)exit_code_of(status);
        log_event(&daemon->log, LOG_ERROR, "ended", NULL, "ended with exit code %d: %s", exit_code,
                  sentence_of(status, why));
    }
    daemon_stop(daemon);
    return exit_code;
}

enum status daemon_seed(struct daemon *daemon, bool simulated, const char *drawn, uint64_t seed,
                        struct why *why)
{
    if (program_variant.random == NULL || !simulated) {
        return why_fail(why, STATUS_REFUSED, DAEMON_SEED ": only `hedgerow simulate` may use it");
    }
    daemon->drawn = program_variant.random(seed);
    log_event(&daemon->log, LOG_WARN, "not-private", NULL, "NOT PRIVATE: %s from a seed", drawn);
    return STATUS_OK;
}

int daemon_usage(const char *program, const char *sentence)
{
    (void)fprintf(stderr, "%s: %s; try `%s --help`\n", program, sentence, program);
    return EXIT_CODE_USAGE;
}

static bool prints_help(const struct daemon_program *program, int count, char *const *argument)
{
    for (int i = 1; i < count; i++) {
        if (strcmp(argument[i], "--help") == 0 || strcmp(argument[i], "-h") == 0) {
            (void)printf("%s\nExit codes:\n" EXIT_CODE_HELP, program->help);
            return true;
        }
        if (strcmp(argument[i], "--version") == 0) {
            (void)printf("%s %s\n", program->name, HEDGEROW_VERSION);
            return true;
        }
    }
    return false;
}

/* With the nearest word: after the first of two that stand together it is the second that was mistyped. */
static int refuse_command(const struct daemon_program *program, int count, char *const *argument)
{
    char hint[NEAR_HINT_BYTES];
    struct why why = {""};
    struct near first = near_to((struct slice){"", 0});
    struct near second = first;
    if (count > 1) {
        first = near_to((struct slice){argument[1], strlen(argument[1])});
    }
    if (count > 2) {
        second = near_to((struct slice){argument[2], strlen(argument[2])});
    }
    bool is_second = false;
    for (size_t i = 0; i < program->command_count; i++) {
        const struct daemon_command *command = &program->command[i];
        near_offer(&first, command->name);
        if (count > 2 && command->action != NULL && strcmp(argument[1], command->name) == 0) {
            is_second = true;
            near_offer(&second, command->action);
        }
    }
    why_set(&why, "%s%s", program->usage, near_hint(hint, is_second ? &second : &first));
    return daemon_usage(program->name, why.text);
}

/* How many options a command has: a program that draws from no seed does not know the one that asks for it. */
static size_t count_options(const struct daemon_command *command)
{
    size_t count = 0;
    while (count < sizeof command->option / sizeof command->option[0] &&
           (command->option[count].name != NULL || command->option[count].what != NULL)) {
        count++;
    }
    const bool is_seed = count > 0 && command->option[count - 1].name != NULL &&
                         strcmp(command->option[count - 1].name, DAEMON_SEED) == 0;
    return is_seed && program_variant.random == NULL ? count - 1 : count;
}

int daemon_main(const struct daemon_program *program, const struct arguments *arguments, int count,
                char **argument)
{
    struct why why = {""};
    if (prints_help(program, count, argument)) {
        return text_end_output(program->name, EXIT_CODE_OK);
    }
    for (size_t i = 0; i < program->command_count; i++) {
        const struct daemon_command *command = &program->command[i];
        const int words = command->action == NULL ? 2 : 3;
        if (count < words || strcmp(argument[1], command->name) != 0 ||
            (command->action != NULL && strcmp(argument[2], command->action) != 0)) {
            continue;
        }
        return options_read(command->option, count_options(command), count - words,
                            argument + words, &why) == STATUS_OK
                   ? text_end_output(program->name, command->run(arguments))
                   : daemon_usage(program->name, why.text);
    }
    return refuse_command(program, count, argument);
}

bool daemon_report(const char *question, enum status status, struct why *why)
{
    const bool good = status == STATUS_OK;
    const int used = printf("%-12s %s", question, good ? "PASSED" : "FAILED") + 2;
    if (good && why->text[0] == '\0') {
        (void)putchar('\n');
    } else {
        (void)fputs("  ", stdout);
        text_wrap(stdout, used, REPORT_INDENT, "%s", sentence_of(status, why));
    }
    why->text[0] = '\0';
    return good;
}

bool daemon_check_memory(uint64_t memory_bytes_max)
{
    struct why why = {{0}};
    const enum status status = process_judge_memory(memory_bytes_max / MEMORY_UNIT_BYTES, &why);
    return status == STATUS_OK || daemon_report("memory", status, &why);
}

__attribute__((format(printf, 3, 0))) static void remark(const char *question, const char *kind,
                                                         const char *format, va_list arguments)
{
    char text[WRAP_BYTES];
    (void)vsnprintf(text, sizeof text, format, arguments);
    const int used = printf("%-12s %-7s ", question, kind);
    text_wrap(stdout, used, REPORT_INDENT, "%s", text);
}

void daemon_note(const char *question, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(question, "note", format, arguments);
    va_end(arguments);
}

void daemon_warn(const char *question, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    remark(question, "WARNING", format, arguments);
    va_end(arguments);
}

enum { PATH_BYTES = 4096 };

static enum status path_of(char path[static PATH_BYTES], const char *folder, const char *name,
                           struct why *why)
{
    const int size = snprintf(path, PATH_BYTES, "%s/%s", folder, name);
    if (size < 0 || size >= PATH_BYTES) {
        return why_refuse(why, "%s: the path is too long", folder);
    }
    return STATUS_OK;
}

/* Half a set of files would look like a whole one. */
static enum status check_free(const char *folder, const struct daemon_file *file, size_t count,
                              struct why *why)
{
    char path[PATH_BYTES];
    struct stat about;
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = path_of(path, folder, file[i].name, why);
        if (status == STATUS_OK && lstat(path, &about) == 0) {
            status = why_fail(why, STATUS_EXISTS,
                              "%s exists already; choose another folder, or move the file", path);
        }
    }
    return status;
}

static enum status write_files(const char *folder, const struct daemon_file *file, size_t count,
                               struct why *why)
{
    char path[PATH_BYTES];
    enum status status = STATUS_OK;
    for (size_t i = 0; i < count && status == STATUS_OK; i++) {
        status = file[i].text == NULL ? STATUS_NO_MEMORY : path_of(path, folder, file[i].name, why);
        if (status == STATUS_OK) {
            status = file_create(path, (struct slice){file[i].text, strlen(file[i].text)},
                                 FILE_PUBLIC, why);
        }
        if (status == STATUS_OK) {
            (void)printf("wrote %s\n", path);
        }
    }
    return status;
}

int daemon_init(const char *program, const char *folder, struct daemon_file *file, size_t count,
                const char *next)
{
    struct why why = {""};
    enum status status = STATUS_OK;
    if (mkdir(folder, 0700) != 0 && errno != EEXIST) {
        status =
            why_fail(&why, STATUS_IO, "the folder %s cannot be made: %s", folder, strerror(errno));
    }
    if (status == STATUS_OK) {
        status = check_free(folder, file, count, &why);
    }
    if (status == STATUS_OK) {
        status = write_files(folder, file, count, &why);
    }
    for (size_t i = 0; i < count; i++) {
        free(file[i].text);
    }
    if (status != STATUS_OK) {
        return daemon_complain(program, status, &why);
    }
    (void)fputs(next, stdout);
    return EXIT_CODE_OK;
}

/* After the loop's end nobody reads signals: daemon_start holds them back, so that none of them ends the program while it writes a
 * result. This thread reads them then. It answers the first one, and a later one ends the program at once. */

struct hurry {
    struct log_sink sink; /* the daemon's own is gone before this thread is */
    struct log log;
};

static void *hear(void *self)
{
    const struct hurry *hurry = self;
    const sigset_t asked = stop_signals();
    int64_t since_ms = INT64_MAX;
    for (;;) {
        const int number = sigwaitinfo(&asked, NULL);
        const int64_t now_ms = clock_now_ms();
        if (number > 0 && since_ms == INT64_MAX) {
            since_ms = now_ms;
            log_event(&hurry->log, LOG_INFO, "stopping", NULL,
                      "asked to stop; results are being made first: ask again to stop at once");
        } else if (number > 0 && now_ms - since_ms >= STOP_AGAIN_MS) {
            log_event(&hurry->log, LOG_WARN, "stopped", NULL,
                      "asked again, and stopped before results were written: the next start makes "
                      "them from the journal");
            _exit(number == SIGINT ? EXIT_CODE_INTERRUPTED : EXIT_CODE_OK);
        }
    }
    return NULL;
}

void daemon_let_hurry(const struct daemon *daemon)
{
    pthread_t thread;
    struct hurry *hurry = malloc(sizeof *hurry);
    if (hurry == NULL) {
        return; /* signals stay held back */
    }
    hurry->sink = daemon->sink;
    hurry->log = daemon->unlimited;
    hurry->log.self = &hurry->sink;
    if (pthread_create(&thread, NULL, hear, hurry) != 0) {
        free(hurry);
    } else {
        (void)pthread_detach(thread);
    }
}
