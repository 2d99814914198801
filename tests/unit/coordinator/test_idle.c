/* The coordinator while no job can run: agents are answered, and it ends when the queue's folder changes. */

#include "coordinator/idle.h"
#include "protocol/wire.h"

#include <criterion/criterion.h>
#include <string.h>

static struct idle *idle;
static struct machine machine;
static struct effects effects;
static struct log silent;

static void write_nothing(UNUSED void *self, UNUSED const struct log_entry *entry)
{
}

static void begin(const char *names)
{
    silent = (struct log){.write = write_nothing, .level = LOG_DEBUG};
    cr_assert_eq(effects_init(&effects, 1 << 16), STATUS_OK);
    cr_assert_eq(idle_new(&idle, (struct slice){names, strlen(names)}, &(struct dictionary_sink){0},
                          &silent),
                 STATUS_OK);
    machine = idle_machine(idle);
}

static void end(void)
{
    idle_free(idle);
    effects_free(&effects);
}

static enum status step(const struct event *event)
{
    effects_clear(&effects);
    return machine.step(machine.self, event, &effects);
}

static enum status look(enum followed which, const char *text)
{
    return step(&(struct event){.kind = EVENT_FILE,
                                .as.file = {.which = which, .text = {text, strlen(text)}}});
}

Test(idle, ends_when_the_folder_is_another_and_not_before)
{
    begin("1\n2\n");
    cr_assert_eq(step(&(struct event){.kind = EVENT_START}), STATUS_OK);
    cr_expect_eq(effects.count, 0);
    cr_assert_eq(look(FOLLOWED_CANCEL, "anna\n"), STATUS_OK);
    cr_assert_eq(look(FOLLOWED_JOBS, "1\n2\n"), STATUS_OK);
    cr_assert_eq(step(&(struct event){.kind = EVENT_TICK}), STATUS_OK);
    cr_expect_eq(effects.count, 0, "nothing has changed");
    cr_expect_eq(machine.wake_ms(machine.self), INT64_MAX);
    cr_assert_eq(look(FOLLOWED_JOBS, "1\n2\n3\n"), STATUS_OK);
    cr_assert_eq(effects.count, 1);
    cr_expect_eq(effects.item[0].kind, EFFECT_FINISH);
    cr_assert_eq(look(FOLLOWED_JOBS, "1\n2\n3\n4\n"), STATUS_OK);
    cr_expect_eq(effects.count, 0, "it ends once");
    end();
}

/* A job that came between the look that found none and the machine's first event. */
Test(idle, misses_no_job_that_came_before_it_looked)
{
    begin("");
    cr_assert_eq(look(FOLLOWED_JOBS, "1\n"), STATUS_OK);
    cr_expect_eq(effects.count, 1);
    end();
}

Test(idle, answers_who_greets_and_nobody_else)
{
    uint8_t control[CONTROL_BYTES_MAX];
    struct message hello = {.kind = MESSAGE_HELLO, .as.hello = {.version = PROTOCOL_VERSION}};
    struct message heard;
    struct event event = {.kind = EVENT_MESSAGE, .as.message.peer = {"site-1"}};
    begin("");
    event.as.message.control = (struct slice){control, wire_encode(control, &hello)};
    cr_assert_eq(step(&event), STATUS_OK);
    cr_assert_eq(effects.count, 1);
    cr_expect_str_eq(effects.item[0].as.send.peer.name, "site-1");
    cr_assert_eq(wire_decode(&heard, effects.item[0].as.send.control, (struct slice){0}),
                 STATUS_OK);
    cr_expect_eq(heard.kind, MESSAGE_ENROLLED);
    hello = (struct message){.kind = MESSAGE_DECLINE};
    event.as.message.control = (struct slice){control, wire_encode(control, &hello)};
    cr_assert_eq(step(&event), STATUS_OK);
    cr_expect_eq(effects.count, 0);
    event.as.message.control = (struct slice){"\xff\xff\xff", 3};
    cr_assert_eq(step(&event), STATUS_OK);
    cr_expect_eq(effects.count, 0);
    cr_expect_eq(step(&(struct event){.kind = EVENT_RECORD}), STATUS_CORRUPT, "it has no journal");
    end();
}
