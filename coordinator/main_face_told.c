/* What the coordinator's page is told: which jobs begin and pause, what their journals say, and whether another coordinator
 * leads. */

#include "coordinator/main_face.h"
#include "coordinator/main_queue_store.h"

#include "io/clock.h"
#include "protocol/wire.h"

#include <stdlib.h>

uint64_t face_version(void *self)
{
    const struct face *face = self;
    return face->version;
}

static void forget_drawn(struct face_run *run)
{
    free(run->drawn);
    free(run->outlook);
    run->drawn = NULL;
    run->outlook = NULL;
}

static void forget(struct face_run *run)
{
    forget_drawn(run);
    free(run->told);
    run->told = NULL;
}

static void note(void *self, const struct record *record, UNUSED struct slice blob)
{
    struct face_run *run = self;
    run->face->version++;
    run->newest_ms = record->wall_ms;
    run->first_ms = record->kind == RECORD_JOB ? record->wall_ms : run->first_ms;
    if (record->kind != RECORD_ROUND || record->as.round.failed) {
        return;
    }
    run->last_ms = record->wall_ms;
    forget_drawn(run);
    run->duration_ms += record->as.round.duration_ms;
    run->round[run->round_count++ % FACE_ROUNDS] =
        (struct face_round){.wall_ms = record->wall_ms,
                            .round = record->as.round.round,
                            .agents = record->as.round.agent_count,
                            .duration_ms = record->as.round.duration_ms};
}

void face_hear(void *self, struct slice body)
{
    struct face_run *run = self;
    struct record record;
    if (run->face->host.watch != NULL && wire_decode_record(&record, body) == STATUS_OK) {
        note(run, &record, (struct slice){NULL, 0});
        record_free(&record);
    }
}

void face_join(struct face *face, struct driver_options *driver)
{
    face->stands_by = face->began = false;
    face->endpoint = driver->endpoint;
    page_host_join(&face->host, driver);
}

void face_part(struct face *face)
{
    face->endpoint = NULL;
}

void face_stand_by(void *self, int64_t wait_ms)
{
    struct face *face = self;
    face->stands_by = true;
    face->began = false;
    page_host_wait(&face->host, wait_ms);
}

void face_close(struct face *face)
{
    page_host_close(&face->host);
    face_reader_free(face->reader);
    face->reader = NULL;
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        forget(&face->run[i]);
    }
}

void face_set_idle(struct face *face, bool idle)
{
    face->version++;
    face->idle = idle;
    face->began = face->began || idle;
}

void face_turn(struct face *face)
{
    uint32_t running[DRIVER_LANES_MAX];
    face->version++;
    for (size_t i = 0; i < DRIVER_LANES_MAX; i++) {
        if (!face_has_job(&face->run[i])) {
            forget(&face->run[i]);
        }
    }
    if (face->reader != NULL) {
        face_reader_turn(face->reader, running, face_list_running(running, face));
    }
}

/* The journal tells all rounds anew. */
void face_begin(struct face *face, size_t lane, const uint32_t *number, const struct job *job,
                const char *state, const struct coordinator *coordinator, struct journal *journal)
{
    struct face_run *run = &face->run[lane];
    forget(run);
    *run = (struct face_run){.face = face,
                             .job = job,
                             .state = state,
                             .coordinator = coordinator,
                             .place = number,
                             .number = number != NULL ? *number : 0,
                             .began_ms = clock_now_ms()};
    if (face->host.watch != NULL) {
        run->journal = (struct journal_watch){.note = note, .self = run};
        journal_watch_begin(&run->journal, journal);
    }
    face_turn(face);
}

void face_pause(struct face *face, size_t lane)
{
    struct face_run *run = &face->run[lane];
    face->version++;
    if (run->coordinator != NULL && run->number != 0) {
        run->view = coordinator_look(run->coordinator);
        if (run->view.over) {
            face->ended = (struct face_ended){
                .number = run->number, .last_ms = run->last_ms, .failed = run->view.failed};
        }
    }
    run->coordinator = NULL;
    free(run->told);
    run->told = NULL;
    if (!face_has_job(run)) { /* else what was drawn of it last is shown until it is filed */
        forget_drawn(run);
    }
}
