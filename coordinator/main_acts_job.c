/* A job as the answers have it. */

#include "coordinator/main_acts_private.h"

#include <stdio.h>

static json_t *text_or_null(const char *text)
{
    return text[0] != '\0' ? json_string(text) : json_null();
}

enum { WAITS_BYTES = 512 };

/* What a job that runs waits for, as far as its folder tells: who is connected it does not. */
static const char *waits(char text[static WAITS_BYTES], const struct queue_job *job,
                         const char *declined)
{
    const bool late = job->seconds_left == 0 && job->rounds < job->planned;
    if (job->held[0] != '\0') {
        return "another process has the job's journal open (`held`): the job goes on once that "
               "one ends or closes it, and a cancellation of a job that has begun takes effect "
               "then";
    }
    if (job->state > QUEUE_RUNNING && job->begun && !job->filed && !job->stuck) {
        return "all its rounds are over, and its results are not filed yet: the coordinator writes "
               "them, or cannot; its log says so then (`job-set-aside`)";
    }
    if (job->state != QUEUE_RUNNING || job->stuck || (job->rounds > 0 && !late)) {
        return "";
    }
    (void)snprintf(
        text, WAITS_BYTES, "%s%s",
        job->rounds == 0 ? "no round is released yet: agents have to join, and people at sites may "
                           "have to approve the job. "
                         : "no round for long, at the pace so far: agents are missing. ",
        declined[0] == '\0'
            ? "The coordinator's page and its log name who is missing, and who declined"
            : "Some sites decline it (`declined`); why stays with them. Ask them, or cancel the "
              "job: a site that says yes takes part again");
    return text;
}

/* null: nobody here knows. */
static json_t *real_unless(bool unknown, double value)
{
    return unknown ? json_null() : json_real(value);
}

/* The folder is told to who may read it: not through the desk. */
json_t *acts_job_json(const struct acts *acts, const struct queue_job *job)
{
    char folder[QUEUE_PATH_BYTES] = "";
    char declined[QUEUE_BY_BYTES] = "";
    char text[WAITS_BYTES];
    if (job->state == QUEUE_RUNNING && !job->stuck) {
        queue_declined(declined, acts->office, job->number);
    }
    if (acts->operator_name == NULL) {
        queue_results(folder, acts->office, job->number);
    }
    return json_pack(
        "{s:I, s:s, s:s, s:b, s:b, s:o, s:I, s:o, s:f, s:o, s:f, s:s, s:o, s:o, s:o, s:o, s:o, s:o, s:o, s:o}",
        "number", (json_int_t)job->number, "job", job->name, "state", queue_state_name(job->state),
        "begun", job->begun, "stuck", job->stuck, "rounds",
        job->unknown ? json_null() : json_integer((json_int_t)job->rounds), "rounds_planned",
        (json_int_t)job->planned, "epsilon",
        real_unless(job->unknown, (double)job->spent.epsilon_micro * 1e-6), "epsilon_planned",
        (double)job->price.epsilon_micro * 1e-6, "delta",
        real_unless(job->unknown, (double)job->spent.delta_atto * 1e-18), "delta_planned",
        (double)job->price.delta_atto * 1e-18, "submitted", job->submitted, "cancel",
        text_or_null(job->cancel), "ended", text_or_null(job->ended), "because",
        text_or_null(job->because), "seconds_left",
        job->seconds_left < 0 ? json_null() : json_real(job->seconds_left), "waits",
        text_or_null(waits(text, job, declined)), "declined", text_or_null(declined), "held",
        text_or_null(job->held), "results", text_or_null(folder));
}
