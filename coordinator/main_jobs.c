/* `hedgerow-coordinator submit`, `jobs`, `status`, `result` and `cancel`: the queue, while the coordinator runs or not. All
 * that passes between them and it are files in the queue's folder. */

#include "base/decimal.h"
#include "base/exit_code.h"
#include "base/file.h"
#include "base/wrap.h"
#include "config/config.h"
#include "coordinator/main.h"
#include "coordinator/main_queue.h"
#include "io/daemon.h"
#include "json/json_text.h"

#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define PROGRAM "hedgerow-coordinator"

enum { LOOK_MS = 200, CANCEL_LOOKS = 10, RESULT_BYTES_MAX = 1 << 30 };

/* Reads the settings, answers for the queue and does one thing with it. */
static int with_queue(const struct arguments *arguments,
                      enum status (*act)(struct office *office, const struct arguments *arguments,
                                         int *exit_code, struct why *why))
{
    struct office office = {0};
    struct why why = {{0}};
    int exit_code = EXIT_CODE_OK;
    enum status status = office_read_settings(&office, arguments->config, &why);
    if (status == STATUS_OK) {
        status = queue_open(&office, &why);
    }
    if (status == STATUS_OK) {
        status = act(&office, arguments, &exit_code, &why);
    }
    office_free(&office);
    (void)fflush(stdout);
    return status == STATUS_OK ? exit_code : daemon_complain(PROGRAM, status, &why);
}

static enum status number_of(uint32_t *number, const struct arguments *arguments, struct why *why)
{
    char *rest = NULL;
    const unsigned long value = strtoul(arguments->job, &rest, 10);
    if (arguments->job[0] < '1' || arguments->job[0] > '9' || *rest != '\0' || value > 999999999) {
        return why_refuse(why, "\"%s\" is no job's number: `" PROGRAM " jobs` lists them",
                          arguments->job);
    }
    *number = (uint32_t)value;
    return STATUS_OK;
}

static enum status look_at(struct queue_job *job, const struct office *office,
                           const struct arguments *arguments, struct why *why)
{
    uint32_t number = 0;
    enum status status = number_of(&number, arguments, why);
    return status == STATUS_OK ? queue_look(job, office, number, why) : status;
}

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

static json_t *job_json(const struct office *office, const struct queue_job *job)
{
    char folder[QUEUE_PATH_BYTES];
    queue_path(folder, office, job->number, "out");
    return json_pack(
        "{s:I, s:s, s:s, s:I, s:I, s:f, s:f, s:f, s:f, s:s, s:o, s:o, s:o, s:s}", "number",
        (json_int_t)job->number, "job", job->name, "state", queue_state_name(job->state), "rounds",
        (json_int_t)job->rounds, "rounds_planned", (json_int_t)job->planned, "epsilon",
        (double)job->spent.epsilon_micro * 1e-6, "epsilon_planned",
        (double)job->price.epsilon_micro * 1e-6, "delta", (double)job->spent.delta_atto * 1e-18,
        "delta_planned", (double)job->price.delta_atto * 1e-18, "submitted", job->submitted,
        "cancel", text_or_null(job->cancel), "ended", text_or_null(job->ended), "because",
        text_or_null(job->because), "results", folder);
}

/* Takes json. */
static enum status print_json(json_t *json)
{
    const enum status status =
        json == NULL                                                              ? STATUS_NO_MEMORY
        : json_dumpf(json, stdout, JSON_INDENT(2) | JSON_REAL_PRECISION(15)) == 0 ? STATUS_OK
                                                                                  : STATUS_IO;
    (void)putchar('\n');
    json_decref(json);
    return status;
}

static void print_row(const struct queue_job *job)
{
    char epsilon[DECIMAL_TEXT_BYTES];
    char rounds[2 * DECIMAL_TEXT_BYTES];
    decimal_format(epsilon, sizeof epsilon, job->spent.epsilon_micro, EPSILON_DECIMALS);
    (void)snprintf(rounds, sizeof rounds, "%" PRIu32 "/%" PRIu32, job->rounds, job->planned);
    (void)printf("%6" PRIu32 "  %-9s  %9s  %8s  %s\n", job->number, queue_state_name(job->state),
                 rounds, epsilon, job->name[0] != '\0' ? job->name : job->because);
}

/* One job whose files cannot be read keeps nobody from the others. */
static void pass_over(const struct queue_job *job, enum status status, const struct why *why,
                      int *exit_code)
{
    (void)fprintf(stderr, PROGRAM ": job %" PRIu32 " is passed over: %s\n", job->number,
                  why->text[0] != '\0' ? why->text : status_text(status));
    *exit_code = EXIT_CODE_INPUT;
}

static enum status list(struct office *office, const struct arguments *arguments, int *exit_code,
                        struct why *why)
{
    struct queue_list list;
    json_t *all = arguments->json ? json_array() : NULL;
    enum status status = queue_list(&list, office, why);
    if (status == STATUS_OK && !arguments->json) {
        (void)printf("%6s  %-9s  %9s  %8s  %s\n", "number", "state", "rounds", "epsilon", "job");
    }
    for (size_t i = 0; i < list.count && status == STATUS_OK; i++) {
        struct queue_job job;
        struct why wrong = {{0}};
        const enum status one = queue_look(&job, office, list.number[i], &wrong);
        if (one == STATUS_NO_MEMORY) {
            status = one;
        } else if (one != STATUS_OK) {
            pass_over(&job, one, &wrong, exit_code);
        } else if (arguments->json) {
            json_add(&all, job_json(office, &job));
        } else {
            print_row(&job);
        }
    }
    queue_list_free(&list);
    if (status == STATUS_OK && arguments->json) {
        return print_json(json_pack("{s:o}", "jobs", all));
    }
    json_decref(all);
    return status;
}

static void print_price(const char *what, const struct price *price)
{
    char epsilon[DECIMAL_TEXT_BYTES];
    char delta[DECIMAL_TEXT_BYTES];
    decimal_format(epsilon, sizeof epsilon, price->epsilon_micro, EPSILON_DECIMALS);
    decimal_format(delta, sizeof delta, price->delta_atto, DELTA_DECIMALS);
    (void)printf("%-10s epsilon %s%s%s\n", what, epsilon, price->delta_atto > 0 ? ", delta " : "",
                 price->delta_atto > 0 ? delta : "");
}

static void print_job(const struct office *office, const struct queue_job *job)
{
    char folder[QUEUE_PATH_BYTES];
    (void)printf("%-10s %" PRIu32 " \"%s\"\n", "job", job->number, job->name);
    (void)printf("%-10s %s\n", "state", queue_state_name(job->state));
    (void)printf("%-10s %s\n", "submitted", job->submitted);
    if (job->cancel[0] != '\0') {
        (void)printf("%-10s %s\n", "cancel", job->cancel);
    }
    if (job->ended[0] != '\0') {
        (void)printf("%-10s %s\n", "ended", job->ended);
    }
    (void)printf("%-10s %" PRIu32 " of %" PRIu32 "\n", "rounds", job->rounds, job->planned);
    print_price("paid", &job->spent);
    print_price("planned", &job->price);
    if (job->because[0] != '\0') {
        (void)printf("%-10s ", "because");
        wrap_print(stdout, 11, 11, "%s", job->because);
    }
    if (job->filed && job->state != QUEUE_WAITING) {
        queue_path(folder, office, job->number, "out");
        (void)printf("%-10s %s\n", "results", folder);
    }
}

static enum status tell(struct office *office, const struct arguments *arguments,
                        UNUSED int *exit_code, struct why *why)
{
    struct queue_job job;
    enum status status = look_at(&job, office, arguments, why);
    if (status == STATUS_OK && arguments->json) {
        return print_json(job_json(office, &job));
    }
    if (status == STATUS_OK) {
        print_job(office, &job);
    }
    return status;
}

/* Waits for the coordinator to file a job, and tells how it ended. */
static enum status wait_for(const struct office *office, const struct arguments *arguments,
                            uint32_t number, int *exit_code, struct why *why)
{
    struct queue_job job;
    while (!queue_holds(office, number, "end") && queue_holds(office, number, "")) {
        (void)poll(NULL, 0, LOOK_MS);
    }
    enum status status = queue_look(&job, office, number, why);
    if (status == STATUS_OK) {
        *exit_code = job.state == QUEUE_DONE ? EXIT_CODE_OK : EXIT_CODE_JOB_FAILED;
        if (arguments->json) {
            return print_json(job_json(office, &job));
        }
        print_job(office, &job);
    }
    return status;
}

static enum status submit(struct office *office, const struct arguments *arguments, int *exit_code,
                          struct why *why)
{
    uint32_t number = 0;
    (void)snprintf(office->settings.job, SETTINGS_PATH_BYTES, "%s", arguments->job);
    enum status status = strlen(arguments->job) < SETTINGS_PATH_BYTES
                             ? office_read_job(office, why)
                             : why_refuse(why, "the job's path is too long");
    if (status == STATUS_OK) {
        status = office_judge(office, why);
    }
    if (status == STATUS_OK) {
        status = queue_add(&number, office, (struct slice){office->text, office->text_size}, why);
    }
    if (status != STATUS_OK) {
        return status;
    }
    if (!arguments->json) {
        (void)printf("job %" PRIu32 " \"%s\"\n", number, office->job.name);
        (void)fflush(stdout);
    }
    if (arguments->wait) {
        return wait_for(office, arguments, number, exit_code, why);
    }
    struct queue_job job;
    status = arguments->json ? queue_look(&job, office, number, why) : STATUS_OK;
    return status == STATUS_OK && arguments->json ? print_json(job_json(office, &job)) : status;
}

/* A running coordinator files the job within a second or two; else it goes on waiting for one. */
static enum status tell_cancelled(const struct office *office, uint32_t number, struct why *why)
{
    struct queue_job job;
    for (int i = 0; i < CANCEL_LOOKS && !queue_holds(office, number, "end"); i++) {
        (void)poll(NULL, 0, LOOK_MS);
    }
    enum status status = queue_look(&job, office, number, why);
    if (status == STATUS_OK && job.filed && job.state != QUEUE_CANCELLED) {
        return why_refuse(why, "job %" PRIu32 " was over before: %s", number,
                          queue_state_name(job.state));
    }
    if (status == STATUS_OK) {
        wrap_print(
            stdout, 0, 0, "job %" PRIu32 ": %s", number,
            job.filed ? "cancelled; what sites have paid stays paid (`status` shows it)"
            : !job.begun
                ? "it will not begin; or, if it has just begun, it ends before its next round"
                : "a coordinator that runs ends it before its next round; what "
                  "sites have paid stays paid (`status` shows it)");
    }
    return status;
}

static enum status cancel(struct office *office, const struct arguments *arguments,
                          UNUSED int *exit_code, struct why *why)
{
    struct queue_job job;
    enum status status = look_at(&job, office, arguments, why);
    if (status == STATUS_OK && job.state > QUEUE_RUNNING) {
        return why_refuse(why, "job %" PRIu32 " is over: %s; there is nothing to cancel",
                          job.number, queue_state_name(job.state));
    }
    if (status == STATUS_OK) {
        status = queue_cancel(office, job.number, why);
    }
    return status == STATUS_OK ? tell_cancelled(office, job.number, why) : status;
}

static enum status copy(const char *from, const char *folder, const char *name, bool *there,
                        struct why *why)
{
    char path[2 * SETTINGS_PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    (void)snprintf(path, sizeof path, "%s/%s", from, name);
    enum status status = file_read(&text, &size, path, RESULT_BYTES_MAX, why);
    *there = status != STATUS_NOT_FOUND;
    if (status == STATUS_OK) {
        (void)snprintf(path, sizeof path, "%s/%s", folder, name);
        status = file_create(path, (struct slice){text, size}, FILE_PUBLIC, why);
    }
    if (status == STATUS_OK) {
        (void)printf("wrote %s\n", path);
    }
    free(text);
    return status;
}

static enum status fetch(struct office *office, const struct arguments *arguments,
                         UNUSED int *exit_code, struct why *why)
{
    char from[QUEUE_PATH_BYTES];
    struct queue_job job;
    bool there = false;
    enum status status = look_at(&job, office, arguments, why);
    if (status == STATUS_OK && !job.filed) {
        return why_refuse(why,
                          "job %" PRIu32 " is %s: it has no result yet; remedy: `" PROGRAM
                          " status %" PRIu32 "` tells when it has ended",
                          job.number, queue_state_name(job.state), job.number);
    }
    if (status == STATUS_OK && strlen(arguments->out) >= SETTINGS_PATH_BYTES) {
        status = why_refuse(why, "--out: the path is too long");
    }
    if (status == STATUS_OK && mkdir(arguments->out, 0755) != 0 && errno != EEXIST) {
        why_file(why, arguments->out, "made", errno);
        status = STATUS_IO;
    }
    if (status != STATUS_OK) {
        return status;
    }
    queue_path(from, office, job.number, "out");
    status = copy(from, arguments->out, "result.json", &there, why);
    if (!there) {
        why_set(why, "job %" PRIu32 " left no result: it was %s before it began", job.number,
                queue_state_name(job.state));
    }
    if (status == STATUS_OK) {
        status = copy(from, arguments->out, "model.json", &there, why);
        status = there ? status : STATUS_OK; /* no stage made a model, or the job failed */
    }
    return status;
}

int main_submit(const struct arguments *arguments)
{
    return with_queue(arguments, submit);
}

int main_jobs(const struct arguments *arguments)
{
    return with_queue(arguments, list);
}

int main_status(const struct arguments *arguments)
{
    return with_queue(arguments, tell);
}

int main_result(const struct arguments *arguments)
{
    return with_queue(arguments, fetch);
}

int main_cancel(const struct arguments *arguments)
{
    return with_queue(arguments, cancel);
}
