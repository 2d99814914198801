/* Several machines of one driver: a failure on one lane does not reach the others. */

#include "io/clock.h"
#include "io/driver.h"
#include "tests/integration/io/toy_machine.h"

#include <stdatomic.h>
#include <unistd.h>

/* Machines beside each other: what each has heard, as letters. */
struct toy {
    char heard[1024];
    bool wanted;
    unsigned made;
    int fails; /* how often its first tick fails */
    enum status how;
    int64_t wake_ms;
};

static struct toy toy[3];

static enum status lane_step(void *self, const struct event *event, struct effects *effects)
{
    struct toy *own = self;
    if (event->kind == EVENT_START) {
        note(own->heard, 'S');
        own->wake_ms = event->now_ms + 5;
    } else if (event->kind == EVENT_TICK) {
        note(own->heard, 't');
        own->wake_ms = event->now_ms + 5;
        if (own->fails > 0) {
            own->fails--;
            return own->how;
        }
        if (own != &toy[0] ||
            toy[1].made == 3) { /* lane 0 goes on until the others have done all */
            own->wake_ms = INT64_MAX;
            effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
        }
    }
    return STATUS_OK;
}

static int64_t lane_wake(const void *self)
{
    return ((const struct toy *)self)->wake_ms;
}

static enum status lane_make(void *self, struct machine *machine, struct journal *journal,
                             UNUSED struct why *reason)
{
    struct toy *own = self;
    own->made++;
    own->wake_ms = INT64_MAX;
    note(own->heard, '|');
    *machine = (struct machine){.self = own, .step = lane_step, .wake_ms = lane_wake};
    *journal = empty_journal(own);
    return STATUS_OK;
}

/* Lane 1 has three machines; lane 2 is wanted from the second on. */
static enum status lane_next(void *self, enum status ended, bool *more, UNUSED struct why *reason)
{
    struct toy *own = self;
    note(own->heard, ended == STATUS_OK ? 'F' : 'X');
    *more = own == &toy[1] && own->made < 3;
    own->wanted = *more;
    toy[2].wanted = *more;
    return STATUS_OK;
}

static bool lane_wanted(void *self)
{
    return ((struct toy *)self)->wanted;
}

static void run_toys(enum status how)
{
    struct endpoint *endpoint = endpoint_to_nobody();
    void *lane[] = {&toy[0], &toy[1], &toy[2]};
    int exit_code;
    struct why why = {{0}};
    struct driver_options options = {.endpoint = endpoint};
    struct driver_factory factory = {.lane = lane,
                                     .lane_count = 3,
                                     .make = lane_make,
                                     .unmake = unmake,
                                     .next = lane_next,
                                     .wants = lane_wanted};
    toy[1].wanted = true;
    toy[1].fails = 1;
    toy[1].how = how;
    cr_assert_eq(driver_run(&options, &factory, &exit_code, &why), STATUS_OK, "%s: %s %s %s",
                 why.text, toy[0].heard, toy[1].heard, toy[2].heard);
    endpoint_free(endpoint);
    cr_expect_eq(toy[0].made, 1, "lane 0 has heard nothing of it");
    cr_expect_str_eq(toy[2].heard, "|StF", "%s", toy[2].heard);
    cr_expect_not_null(strstr(toy[0].heard, "ttt"), "it went on meanwhile: %s", toy[0].heard);
}

Test(driver_lanes, throws_one_lane_away_while_the_others_go_on)
{
    run_toys(STATUS_NO_MEMORY);
    cr_expect_str_eq(toy[1].heard, "|St|StF|StF", "%s", toy[1].heard);
}

Test(driver_lanes, asks_what_takes_the_place_of_a_machine_that_cannot_go_on)
{
    run_toys(STATUS_CORRUPT);
    cr_expect_str_eq(toy[1].heard, "|StX|StF|StF", "%s", toy[1].heard);
}

/* Coordinators that serve the same jobs. Each lane's machine hears its own source while the source is there. The source of lane
 * 1 fails once. */
static struct {
    char heard[3][1024];
    unsigned looks[3]; /* its thread's */
    atomic_bool done[3];
    unsigned made[3];
    bool wanted[3];
} told;

enum { LOOKS = 4 };

static enum status told_step(void *self, const struct event *event, struct effects *effects)
{
    const size_t index = (size_t)((char(*)[1024])self - told.heard);
    if (event->kind == EVENT_STANDINGS) {
        note(told.heard[index], (char)('0' + event->as.standings.count));
    }
    if (atomic_load(&told.done[index == 0 ? 2 : index])) {
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
    }
    return STATUS_OK;
}

static int64_t told_wake(UNUSED const void *self)
{
    return 0; /* in every turn */
}

static enum status told_make(void *self, struct machine *machine, struct journal *journal,
                             UNUSED struct why *reason)
{
    told.made[(size_t)((char(*)[1024])self - told.heard)]++;
    note(self, '|');
    *machine = (struct machine){.self = self, .step = told_step, .wake_ms = told_wake};
    *journal = empty_journal(self);
    return STATUS_OK;
}

static enum status told_next(void *self, UNUSED enum status ended, bool *more,
                             UNUSED struct why *reason)
{
    const size_t index = (size_t)((char(*)[1024])self - told.heard);
    cr_expect(index != 1 || told.looks[2] == 0, "nobody looks for a lane without a machine");
    told.wanted[1] = *more = false;
    told.wanted[2] = index == 1;
    return STATUS_OK;
}

static bool told_wanted(void *self)
{
    return told.wanted[(size_t)((char(*)[1024])self - told.heard)];
}

static enum status told_look(void *self, driver_hear *hear, void *hear_self, UNUSED struct why *why)
{
    const size_t index = (size_t)((unsigned *)self - told.looks);
    const struct event event = {.kind = EVENT_STANDINGS, .as.standings = {.count = index}};
    if (++told.looks[index] > LOOKS) {
        return STATUS_OK; /* its machine is about to finish */
    }
    const enum status status =
        index == 1 && told.looks[index] == 2 ? STATUS_AGAIN : hear(hear_self, &event);
    atomic_store(&told.done[index], told.looks[index] == LOOKS);
    return status;
}

Test(driver_lanes, hears_of_each_job_those_who_serve_it_too)
{
    struct endpoint *endpoint = endpoint_to_nobody();
    void *lane[] = {told.heard[0], told.heard[1], told.heard[2]};
    const struct driver_source of[] = {
        {.self = &told.looks[1], .look = told_look, .every_ms = 1, .lane = 1},
        {.self = &told.looks[2], .look = told_look, .every_ms = 1, .lane = 2}};
    const struct driver_source *source[] = {&of[0], &of[1]};
    int exit_code;
    struct why why = {{0}};
    struct driver_options options = {.endpoint = endpoint, .source = source, .source_count = 2};
    struct driver_factory factory = {.lane = lane,
                                     .lane_count = 3,
                                     .make = told_make,
                                     .unmake = unmake,
                                     .next = told_next,
                                     .wants = told_wanted};
    told.wanted[1] = true;
    cr_assert_eq(driver_run(&options, &factory, &exit_code, &why), STATUS_OK, "%s", why.text);
    endpoint_free(endpoint);
    cr_expect_str_eq(told.heard[0], "|", "%s", told.heard[0]);
    cr_expect_str_eq(told.heard[1], "|1|11", "%s", told.heard[1]);
    cr_expect_str_eq(told.heard[2], "|2222", "%s", told.heard[2]);
}

/* A long computation. It ends once another lane has gone on, or after PATIENCE_MS, which means that it blocked
 * that lane. */
enum { TURNS = 20, PATIENCE_MS = 60000 };

static struct {
    atomic_uint ticks; /* of lane 0 */
    atomic_bool computes;
    atomic_bool blocked;
    bool fails; /* lane 1's machine, while it computes */
    bool failed;
    bool done;
    unsigned wound_up;
    unsigned made;
    int64_t wake_ms[2];
} busy;

static void compute(UNUSED void *self)
{
    const unsigned from = atomic_load(&busy.ticks);
    const int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    atomic_store(&busy.computes, true);
    while (atomic_load(&busy.ticks) < from + TURNS && clock_now_ms() < until_ms) {
        usleep(1000);
    }
    if (atomic_load(&busy.ticks) < from + TURNS) {
        atomic_store(&busy.blocked, true);
    }
    atomic_store(&busy.computes, false);
}

static enum status goes_on(void *self, const struct event *event, struct effects *effects)
{
    int64_t *wake_ms = self;
    *wake_ms = event->now_ms + 2;
    atomic_fetch_add(&busy.ticks, 1);
    if (busy.done) {
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
    }
    return STATUS_OK;
}

static enum status computes(void *self, const struct event *event, struct effects *effects)
{
    int64_t *wake_ms = self;
    *wake_ms = event->now_ms + 2;
    if (event->kind == EVENT_START) {
        effects_add(effects, EFFECT_WORK);
    } else if (event->kind == EVENT_WORKED) {
        cr_assert_not(busy.failed && busy.made == 1, "a machine that has failed hears nothing");
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
    } else if (event->kind == EVENT_TICK && busy.fails && atomic_load(&busy.computes)) {
        busy.fails = false;
        busy.failed = true;
        return STATUS_NO_MEMORY;
    }
    return STATUS_OK;
}

static enum status make_busy(void *self, struct machine *machine, struct journal *journal,
                             UNUSED struct why *reason)
{
    const bool is_first = self == &busy.wake_ms[0];
    busy.made += is_first ? 0 : 1;
    *machine = (struct machine){
        .self = self, .step = is_first ? goes_on : computes, .work = compute, .wake_ms = wake_of};
    *journal = empty_journal(self);
    return STATUS_OK;
}

static void unmake_busy(void *self, UNUSED struct machine *machine, struct journal *journal)
{
    cr_expect(self == &busy.wake_ms[0] || !atomic_load(&busy.computes),
              "a machine was unmade under its computation");
    journal_close(journal);
}

static void wind_up_busy(void *self)
{
    if (self == &busy.wake_ms[1]) {
        compute(self);
        busy.wound_up++;
    }
}

static enum status next_of_busy(void *self, UNUSED enum status ended, bool *more,
                                UNUSED struct why *reason)
{
    *more = false;
    busy.done = busy.done || self == &busy.wake_ms[1];
    return STATUS_OK;
}

static bool wants_busy(UNUSED void *self)
{
    return !busy.done;
}

static void run_busy(bool fails)
{
    struct endpoint *endpoint = endpoint_to_nobody();
    void *lane[] = {&busy.wake_ms[0], &busy.wake_ms[1]};
    int exit_code;
    struct why why = {{0}};
    struct driver_options options = {.endpoint = endpoint};
    struct driver_factory factory = {.lane = lane,
                                     .lane_count = 2,
                                     .make = make_busy,
                                     .unmake = unmake_busy,
                                     .wind_up = wind_up_busy,
                                     .next = next_of_busy,
                                     .wants = wants_busy};
    memset(&busy, 0, sizeof busy);
    busy.fails = fails;
    cr_assert_eq(driver_run(&options, &factory, &exit_code, &why), STATUS_OK, "%s", why.text);
    endpoint_free(endpoint);
    cr_expect_not(atomic_load(&busy.blocked), "the loop stood still during a computation");
    cr_expect_eq(busy.wound_up, 1);
}

Test(driver_lanes, others_go_on_while_one_computes_and_while_one_is_wound_up)
{
    run_busy(false);
    cr_expect_eq(busy.made, 1);
}

Test(driver_lanes, unmakes_one_that_fails_once_its_computation_has_ended)
{
    run_busy(true);
    cr_expect(busy.failed);
    cr_expect_eq(busy.made, 2);
}

/* Three lanes compute, at most some at once. Each one's results are made in its turn. */
enum { COMPUTING = 3, COMPUTATION_MS = 30 };

static struct {
    atomic_uint now;
    atomic_uint most;
    atomic_uint done;
    unsigned ended;
    int64_t wake_ms[COMPUTING + 1];
} turns;

static void compute_in_turn(UNUSED void *self)
{
    const unsigned now = atomic_fetch_add(&turns.now, 1) + 1;
    if (now > atomic_load(&turns.most)) {
        atomic_store(&turns.most, now);
    }
    usleep(COMPUTATION_MS * 1000);
    atomic_fetch_sub(&turns.now, 1);
    atomic_fetch_add(&turns.done, 1);
}

static enum status step_in_turn(void *self, const struct event *event, struct effects *effects)
{
    int64_t *wake_ms = self;
    const bool is_first = self == &turns.wake_ms[0];
    *wake_ms = event->now_ms + 5;
    if (event->kind == EVENT_START && !is_first) {
        effects_add(effects, EFFECT_WORK);
    } else if (event->kind == EVENT_WORKED || (is_first && turns.ended == COMPUTING)) {
        effects_add(effects, EFFECT_FINISH)->as.finish.exit_code = 0;
    }
    return STATUS_OK;
}

static enum status make_in_turn(void *self, struct machine *machine, struct journal *journal,
                                UNUSED struct why *reason)
{
    *machine = (struct machine){
        .self = self, .step = step_in_turn, .work = compute_in_turn, .wake_ms = wake_of};
    *journal = empty_journal(self);
    return STATUS_OK;
}

static void wind_up_in_turn(void *self)
{
    if (self != &turns.wake_ms[0]) {
        compute_in_turn(self);
    }
}

static enum status next_in_turn(void *self, UNUSED enum status ended, bool *more,
                                UNUSED struct why *reason)
{
    *more = false;
    turns.ended += self != &turns.wake_ms[0] ? 1 : 0;
    return STATUS_OK;
}

static bool wants_in_turn(UNUSED void *self)
{
    return turns.ended == 0;
}

Test(driver_lanes, lets_no_more_compute_at_once_than_it_is_told, .timeout = 120)
{
    struct endpoint *endpoint = endpoint_to_nobody();
    void *lane[COMPUTING + 1];
    int exit_code;
    struct why why = {{0}};
    const struct driver_options options = {.endpoint = endpoint, .work_at_once = 1};
    const struct driver_factory factory = {.lane = lane,
                                           .lane_count = COMPUTING + 1,
                                           .make = make_in_turn,
                                           .unmake = unmake,
                                           .wind_up = wind_up_in_turn,
                                           .next = next_in_turn,
                                           .wants = wants_in_turn};
    for (size_t i = 0; i <= COMPUTING; i++) {
        lane[i] = &turns.wake_ms[i];
    }
    cr_assert_eq(driver_run(&options, &factory, &exit_code, &why), STATUS_OK, "%s", why.text);
    endpoint_free(endpoint);
    cr_expect_eq(atomic_load(&turns.most), 1, "%u computed at once", atomic_load(&turns.most));
    cr_expect_eq(atomic_load(&turns.done), 2 * COMPUTING);
}
