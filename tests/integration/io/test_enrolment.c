/* Enrolment and the reach of a coordinator, through a real driver whose machine only welcomes. */

#include "base/file.h"
#include "io/probe.h"

#include "tests/support/quiet_fork.h"
#include "welcome.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <sys/wait.h>

/* Long, so that a slow machine is not taken for a coordinator that stands still. */
enum { PATIENCE_MS = 60 * 1000 };

static struct key_pair coordinator;
static const struct digest signing = {{7}};
static char address[ADDRESS_BYTES];
static char agents_path[160];
static char heard_path[160];
static pid_t process;
static struct why why;

static void say_heard(const char *text)
{
    FILE *file = fopen(heard_path, "a");
    if (file != NULL) {
        (void)fprintf(file, "%s\n", text);
        (void)fclose(file);
    }
}

static enum status step_and_tell(void *self, const struct event *event, struct effects *effects)
{
    struct message message;
    if (event->kind == EVENT_ROSTER) {
        char text[64];
        snprintf(text, sizeof text, "roster %zu %s", event->as.roster.count,
                 event->as.roster.count > 0 ? event->as.roster.peer[0].name : "-");
        say_heard(text);
    }
    if (event->kind != EVENT_MESSAGE ||
        wire_decode(&message, event->as.message.control, event->as.message.payload) != STATUS_OK) {
        return STATUS_OK;
    }
    say_heard(message_kind_name(message.kind));
    return welcome_step(self, event, effects);
}

static enum status make_and_tell(void *self, struct machine *machine, struct journal *journal,
                                 struct why *unused)
{
    const enum status status = make(self, machine, journal, unused);
    machine->step = step_and_tell;
    return status;
}

static void run_coordinator(int report)
{
    struct endpoint *endpoint = NULL;
    struct endpoint_options where = {
        .address = "tcp://127.0.0.1:0", .key = &coordinator, .payload_bytes_max = 65536};
    if (endpoint_listen(&endpoint, &where, NULL) != STATUS_OK) {
        _exit(1);
    }
    /* From now on it may be asked to stop; the driver will see that. */
    sigset_t stop;
    (void)sigemptyset(&stop);
    (void)sigaddset(&stop, SIGTERM);
    (void)sigprocmask(SIG_BLOCK, &stop, NULL);
    const char *text = endpoint_address(endpoint);
    ssize_t put = write(report, text, strlen(text) + 1);
    (void)put;
    close(report);
    struct driver_options options = {.endpoint = endpoint, .roster_path = agents_path};
    struct driver_factory factory = {.make = make_and_tell, .unmake = unmake};
    int exit_code = 1;
    enum status status = driver_run(&options, &factory, &exit_code, NULL);
    endpoint_free(endpoint);
    _exit(status == STATUS_OK ? exit_code : 1);
}

static void setup(void)
{
    int ends[2];
    scratch_make(&scratch);
    snprintf(agents_path, sizeof agents_path, "%s/agents", scratch.folder);
    snprintf(heard_path, sizeof heard_path, "%s/heard", scratch.folder);
    cr_assert_eq(key_pair_generate(&coordinator), STATUS_OK);
    cr_assert_eq(pipe(ends), 0);
    process = quiet_fork();
    if (process == 0) {
        close(ends[0]);
        run_coordinator(ends[1]);
    }
    close(ends[1]);
    cr_assert_gt(read(ends[0], address, sizeof address), 0);
    close(ends[0]);
}

static void teardown(void)
{
    int result = 1;
    kill(process, SIGTERM);
    waitpid(process, &result, 0);
    cr_expect(WIFEXITED(result) && WEXITSTATUS(result) == 0, "SIGTERM ends a coordinator cleanly");
    scratch_remove(&scratch);
}

static bool was_heard(const char *text)
{
    char line[256];
    bool found = false;
    FILE *file = fopen(heard_path, "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        line[strcspn(line, "\n")] = '\0';
        found = strcmp(line, text) == 0;
    }
    if (file != NULL) {
        (void)fclose(file);
    }
    return found;
}

static struct token make_token(const char *name, int64_t until_s)
{
    struct token token = {.until_s = until_s, .coordinator_key = coordinator.public_key};
    snprintf(token.name, sizeof token.name, "%s", name);
    snprintf(token.address, sizeof token.address, "%s", address);
    cr_assert_eq(key_pair_generate(&token.key), STATUS_OK);
    cr_assert_eq(roster_add_token(agents_path, name, &token.key.public_key, until_s, &why),
                 STATUS_OK, "%s", why.text);
    return token;
}

static struct endpoint_options options_for(const struct key_pair *key)
{
    return (struct endpoint_options){.address = address,
                                     .key = key,
                                     .payload_bytes_max = 65536,
                                     .coordinator_key = coordinator.public_key};
}

Test(enrolment, a_token_becomes_the_agents_own_key, .init = setup, .fini = teardown)
{
    struct key_pair own;
    struct token token = make_token("ann", INT64_C(4000000000));
    cr_assert_eq(key_pair_generate(&own), STATUS_OK);
    cr_assert_eq(probe_enrol(&token, &own, &signing, NULL, PATIENCE_MS, &why), STATUS_OK, "%s",
                 why.text);
    cr_expect(was_heard("roster 0 -"), "the machine is told of the agents at the start");
    cr_expect(was_heard("roster 1 ann"), "and when they change");
    cr_expect(!was_heard("enrol"), "the machine never hears of an enrolment");
    static struct roster listed;
    cr_assert_eq(roster_read(&listed, agents_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(listed.count == 1 && digest_equal(&listed.entry[0].signing_key, &signing));
    /* The answer may get lost: the same enrolment again finds itself done. */
    cr_expect_eq(probe_enrol(&token, &own, &signing, NULL, PATIENCE_MS, &why), STATUS_OK, "%s",
                 why.text);
    /* But for nobody else. */
    struct key_pair other;
    cr_assert_eq(key_pair_generate(&other), STATUS_OK);
    cr_expect_eq(probe_enrol(&token, &other, &signing, NULL, 3000, &why), STATUS_AGAIN);
    cr_expect_not_null(strstr(why.text, "agents add ann"), "%s", why.text);
}

Test(enrolment, a_token_admits_nothing_else, .init = setup, .fini = teardown)
{
    struct token token = make_token("ann", INT64_C(4000000000));
    struct endpoint_options options = options_for(&token.key);
    cr_expect_eq(probe_reach(&options, 2500, &why), STATUS_AGAIN);
    cr_expect(!was_heard("hello"));
}

Test(enrolment, an_expired_token_is_refused, .init = setup, .fini = teardown)
{
    struct key_pair own;
    struct token token = make_token("ann", 1000);
    cr_assert_eq(key_pair_generate(&own), STATUS_OK);
    cr_expect_eq(probe_enrol(&token, &own, &signing, NULL, 3000, &why), STATUS_AGAIN);
}

Test(probe, reach_says_what_is_wrong, .init = setup, .fini = teardown)
{
    struct key_pair own;
    cr_assert_eq(key_pair_generate(&own), STATUS_OK);
    struct endpoint_options options = options_for(&own);
    why.text[0] = '\0';
    for (int i = 0; i < 40 && strstr(why.text, "does not admit") == NULL; i++) {
        cr_expect_eq(probe_reach(&options, 1500, &why), STATUS_AGAIN);
    }
    cr_expect_not_null(strstr(why.text, "does not admit"), "%s", why.text);
    cr_assert_eq(roster_add(agents_path, "ann", &own.public_key, &why), STATUS_OK);
    cr_expect_eq(probe_reach(&options, PATIENCE_MS, &why), STATUS_OK, "%s", why.text);
    options.address = "tcp://127.0.0.1:1";
    cr_expect_eq(probe_reach(&options, 1000, &why), STATUS_AGAIN);
    cr_expect_not_null(strstr(why.text, "check that the coordinator runs"), "%s", why.text);
    options.address = "nonsense";
    cr_expect_eq(probe_reach(&options, 1000, &why), STATUS_INVALID);
}

static void setup_of_another_version(void)
{
    welcome_version = PROTOCOL_VERSION - 1;
    setup();
}

Test(probe, reach_names_both_versions, .init = setup_of_another_version, .fini = teardown)
{
    struct key_pair own;
    cr_assert_eq(key_pair_generate(&own), STATUS_OK);
    cr_assert_eq(roster_add(agents_path, "ann", &own.public_key, &why), STATUS_OK);
    struct endpoint_options options = options_for(&own);
    enum status status = STATUS_AGAIN;
    for (int i = 0; i < 40 && status == STATUS_AGAIN; i++) { /* until it has read the list */
        status = probe_reach(&options, 1500, &why);
    }
    cr_expect_eq(status, STATUS_UNSUPPORTED);
    cr_expect_str_eq(why.text, "the coordinator speaks version 8 of the protocol, this agent "
                               "version 9; remedy: upgrade the coordinator");
}
