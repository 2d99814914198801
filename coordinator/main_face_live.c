/* What the coordinator's page draws, and what it offers: the rounds so far as result.json will tell them, of which it shows
 * some, evenly spread; and the files of finished jobs. All of it is released. */

#include "coordinator/main_face.h"
#include "coordinator/main_queue_store.h"
#include "coordinator/publish.h"

#include "io/clock.h"
#include "report/result.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { NUMBER_DIGITS_MAX = 9, TOLD_MS = 500 };

const char *const face_results[FACE_FILES + 1] = {"result.json", "report.html", "model.json", NULL};

/* What it cost up to a round is not summed up for a drawing; models are for the result. */
static void leave_out(struct result *result)
{
    for (size_t i = 0; i < result->round_count; i++) {
        result->round[i].epsilon = NAN;
    }
    for (size_t i = 0; i < result->expert_count; i++) {
        free(result->expert[i].model);
        result->expert[i].model = NULL;
    }
}

static void draw(struct face_run *run)
{
    struct result result;
    const struct outcome *outcome = coordinator_look_outcome(run->coordinator);
    const struct publish_options options = {.job = run->job, .seconds = NAN};
    if (outcome->expert_count > OUTCOME_SHOWN_EXPERTS) {
        return;
    }
    result_init(&result);
    if (publish_result(&result, outcome, &options) == STATUS_OK) {
        leave_out(&result);
        (void)!result_to_page(&run->drawn, &result);
    }
    if (run->drawn != NULL) {
        run->outlook = face_outlook(outcome, run->job);
    }
    result_free(&result);
}

static char *tell(struct face *face, struct face_run *run)
{
    char *out = NULL;
    size_t size = 0;
    char *status = face_status(face, run);
    if (run != NULL && run->drawn == NULL && run->coordinator != NULL) {
        draw(run);
    }
    FILE *text = status == NULL ? NULL : open_memstream(&out, &size);
    if (text != NULL) {
        (void)fprintf(text, "{\"status\": %s,\n\"drawn\": %s,\n\"forecasts\": %s}", status,
                      run != NULL && run->drawn != NULL ? run->drawn : "null",
                      run != NULL && run->outlook != NULL ? run->outlook : "null");
        if (fclose(text) != 0) {
            free(out);
            out = NULL;
        }
    }
    free(status);
    return out;
}

char *face_tell(void *self)
{
    struct face *face = self;
    return tell(face, face_shown(face));
}

/* A number in the one way to write it. Returns what follows it, or NULL. */
static const char *parse_number(uint32_t *number, const char *text)
{
    const size_t digits = strspn(text, "0123456789");
    if (digits == 0 || digits > NUMBER_DIGITS_MAX || text[0] == '0') {
        return NULL;
    }
    *number = (uint32_t)strtoul(text, NULL, 10);
    return text + digits;
}

char *face_tell_job(void *self, const char *behind)
{
    struct face *face = self;
    uint32_t number = 0;
    const char *rest = parse_number(&number, behind);
    struct face_run *run = rest != NULL && *rest == '\0' ? face_running(face, number) : NULL;
    if (run == NULL) {
        return NULL;
    }
    if (run->told == NULL || clock_now_ms() - run->told_ms >= TOLD_MS) {
        free(run->told);
        run->told = tell(face, run);
        run->told_ms = clock_now_ms();
    }
    return run->told == NULL ? NULL : strdup(run->told);
}

/* "7/result.json", and no other way to say it: no path is made of what was asked for. */
static const char *parse(uint32_t *number, const char *behind)
{
    const char *rest = parse_number(number, behind);
    if (rest == NULL || *rest != '/') {
        return NULL;
    }
    for (size_t i = 0; face_results[i] != NULL; i++) {
        if (strcmp(rest + 1, face_results[i]) == 0) {
            return face_results[i];
        }
    }
    return NULL;
}

int face_open_result(void *self, const char *behind, uint64_t *size,
                     char name[static HTTP_NAME_BYTES])
{
    struct face *face = self;
    struct queue_kept kept;
    struct why ignored = {{0}};
    uint32_t number = 0;
    int opened = -1;
    const char *file = parse(&number, behind);
    *size = 0;
    if (file == NULL || face->office->settings.jobs[0] == '\0') {
        return -1;
    }
    (void)snprintf(name, HTTP_NAME_BYTES, "job-%" PRIu32 "-%s", number, file);
    if (face->reader != NULL) {
        return face_reader_open(face->reader, size, number, file);
    }
    if (queue_of(face->office)->peek(&kept, face->office, number, &ignored) != STATUS_OK ||
        !kept.over) {
        return -1;
    }
    return queue_of(face->office)
                       ->result_open(&opened, size, face->office, number, file, &ignored) ==
                   STATUS_OK
               ? opened
               : -1;
}
