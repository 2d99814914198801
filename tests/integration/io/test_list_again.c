/* If there is no memory for the allow-list, nobody is admitted, so that no revoked agent is. At the next look the list is
 * read again, although the file has not changed: by a coordinator with a job and by one that enrols. */

#include "io/enrolment.h"
#include "io/probe.h"

#include "tests/support/failing_memory.h"
#include "tests/support/quiet_fork.h"
#include "welcome.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>

/* Long, so that a slow machine is not taken for a coordinator that stands still. */
enum { PATIENCE_MS = 60 * 1000, ALLOCATIONS = 2, AGENTS = 2 };

static struct key_pair coordinator;
static struct key_pair agent[AGENTS];
static char address[ADDRESS_BYTES];
static char agents_path[160];
static pid_t process;
static struct why why;
static unsigned refused_call; /* of endpoint_admit, counted from 1, */
static long refused_allocation;
static unsigned calls; /* in the coordinator's process */

bool __real_endpoint_admit(struct endpoint *endpoint, const struct roster *roster);
bool __wrap_endpoint_admit(struct endpoint *endpoint, const struct roster *roster);

bool __wrap_endpoint_admit(struct endpoint *endpoint, const struct roster *roster)
{
    countdown = ++calls == refused_call ? refused_allocation : -1;
    const bool good = __real_endpoint_admit(endpoint, roster);
    countdown = -1;
    return good;
}

static void begin(UNUSED void *self)
{
}

static void notify(UNUSED void *self, UNUSED const char *name, UNUSED bool enrolled)
{
}

static void run_coordinator(bool enrols, int report)
{
    struct endpoint *endpoint = NULL;
    struct endpoint_options where = {
        .address = "tcp://127.0.0.1:0", .key = &coordinator, .payload_bytes_max = 65536};
    int exit_code = 1;
    if (endpoint_listen(&endpoint, &where, NULL) != STATUS_OK) {
        _exit(1);
    }
    const char *text = endpoint_address(endpoint);
    const ssize_t put = write(report, text, strlen(text) + 1);
    (void)put;
    const struct driver_options driver = {.endpoint = endpoint, .roster_path = agents_path};
    const struct driver_factory factory = {.make = make, .unmake = unmake};
    const struct enrolment_options enrolment = {
        .endpoint = endpoint, .list = {.path = agents_path}, .begin = begin, .notify = notify};
    const enum status status = enrols ? enrolment_run(&enrolment, &exit_code, NULL)
                                      : driver_run(&driver, &factory, &exit_code, NULL);
    _exit(status == STATUS_OK ? exit_code : 1);
}

static void start(bool enrols, unsigned call, long allocation)
{
    int ends[2];
    struct key_pair token;
    refused_call = call;
    refused_allocation = allocation;
    scratch_make(&scratch);
    (void)snprintf(agents_path, sizeof agents_path, "%s/agents", scratch.folder);
    cr_assert_eq(key_pair_generate(&coordinator), STATUS_OK);
    cr_assert_eq(key_pair_generate(&token), STATUS_OK);
    for (size_t i = 0; i < AGENTS; i++) {
        const char name[] = {(char)('a' + i), '\0'};
        cr_assert_eq(key_pair_generate(&agent[i]), STATUS_OK);
        cr_assert_eq(roster_add(agents_path, name, &agent[i].public_key, &why), STATUS_OK);
    }
    cr_assert_eq(roster_add_token(agents_path, "t", &token.public_key, INT64_C(4000000000), &why),
                 STATUS_OK); /* without one nobody enrols */
    cr_assert_eq(pipe(ends), 0);
    process = quiet_fork();
    if (process == 0) {
        (void)close(ends[0]);
        run_coordinator(enrols, ends[1]);
    }
    (void)close(ends[1]);
    cr_assert_gt(read(ends[0], address, sizeof address), 0);
    (void)close(ends[0]);
}

static void stop(void)
{
    int result = 1;
    (void)kill(process, SIGTERM);
    (void)waitpid(process, &result, 0);
    cr_expect(WIFEXITED(result) && WEXITSTATUS(result) == 0);
    scratch_remove(&scratch);
}

static enum status reach(size_t who, int timeout_ms)
{
    const struct endpoint_options options = {.address = address,
                                             .key = &agent[who],
                                             .payload_bytes_max = 65536,
                                             .coordinator_key = coordinator.public_key};
    return probe_reach(&options, timeout_ms, &why);
}

static void expect_list_at_the_start(bool enrols)
{
    for (long allocation = 0; allocation < ALLOCATIONS; allocation++) {
        start(enrols, 1, allocation);
        cr_expect_eq(reach(0, PATIENCE_MS), STATUS_OK, "allocation %ld: %s", allocation, why.text);
        stop();
    }
}

Test(list_again, the_first_list_is_admitted_when_there_is_memory)
{
    expect_list_at_the_start(false);
}

Test(list_again, the_first_list_of_one_that_enrols_too)
{
    expect_list_at_the_start(true);
}

/* Agents that were revoked stay out, and the others come back. */
static void expect_change(bool enrols)
{
    for (long allocation = 0; allocation < ALLOCATIONS; allocation++) {
        start(enrols, 2, allocation);
        cr_assert_eq(reach(0, PATIENCE_MS), STATUS_OK, "%s", why.text);
        cr_assert_eq(roster_revoke(agents_path, "b", NULL, &why), STATUS_OK);
        (void)usleep(500000); /* two looks: had it come before, this would show less */
        cr_expect_eq(reach(0, PATIENCE_MS), STATUS_OK, "allocation %ld: %s", allocation, why.text);
        cr_expect_eq(reach(1, 2000), STATUS_AGAIN, "it was revoked");
        stop();
    }
}

Test(list_again, a_list_that_changed_is_admitted_when_there_is_memory)
{
    expect_change(false);
}

Test(list_again, a_list_that_changed_of_one_that_enrols_too)
{
    expect_change(true);
}
