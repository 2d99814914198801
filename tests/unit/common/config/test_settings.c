#include "config/settings.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char coordinator_text[] = "hedgerow: 1\n"
                                       "listen: tcp://0.0.0.0:7310\n"
                                       "key: key\n"
                                       "agents: ../agents\n"
                                       "state: /var/lib/hedgerow\n"
                                       "job: job.yml\n"
                                       "out: out\n";

static const char agent_text[] = "hedgerow: 1\n"
                                 "coordinator: {address: \"tcp://[::1]:7310\", public_key: c.pub}\n"
                                 "key: key\n"
                                 "state: state\n"
                                 "data: /data/records.csv\n"
                                 "dictionary: data.yml\n"
                                 "policy: policy.yml\n";

static struct slice slice_of(const char *text)
{
    return (struct slice){text, strlen(text)};
}

Test(settings, of_a_coordinator_have_defaults_and_resolve_paths)
{
    struct coordinator_settings s;
    struct why why = {{0}};
    cr_assert_eq(
        coordinator_settings_parse(&s, slice_of(coordinator_text), "/etc/hedgerow/c.yml", &why),
        STATUS_OK, "%s", why.text);
    cr_assert_str_eq(s.listen, "tcp://0.0.0.0:7310");
    cr_assert_str_eq(s.key, "/etc/hedgerow/key");
    cr_assert_str_eq(s.agents, "/etc/hedgerow/../agents");
    cr_assert_str_eq(s.state, "/var/lib/hedgerow");
    cr_assert_str_eq(s.job, "/etc/hedgerow/job.yml");
    cr_assert_str_eq(s.out, "/etc/hedgerow/out");
    cr_assert_eq(s.linger_ms, 30000);
    cr_assert_eq(s.memory_bytes_max, 0);
    cr_assert_eq(s.message_bytes_max, 64000000);
    cr_assert_eq(s.log.level, LOG_INFO);
    cr_assert_eq(s.log.format, LOG_FORMAT_AUTO);
    cr_assert_not(s.simulated);
}

Test(settings, without_a_folder_leave_paths_as_they_are)
{
    struct coordinator_settings s;
    struct why why = {{0}};
    cr_assert_eq(coordinator_settings_parse(&s, slice_of(coordinator_text), "c.yml", &why),
                 STATUS_OK);
    cr_assert_str_eq(s.key, "key");
}

/* A site's ledger is always a folder: every URL is refused. */
Test(settings, keep_a_database_for_coordinators_alone)
{
    static const char form[] = "hedgerow: 1\nlisten: tcp://0.0.0.0:7310\nkey: key\nagents: agents\n"
                               "state: \"%s\"\njob: job.yml\nout: out\n";
    struct coordinator_settings s;
    struct agent_settings agent;
    struct why why = {{0}};
    char text[512];
    snprintf(text, sizeof text, form, "postgresql://host/name");
    cr_assert_eq(coordinator_settings_parse(&s, slice_of(text), "/etc/c.yml", &why), STATUS_OK);
    cr_expect_str_eq(s.state, "postgresql://host/name");
    snprintf(text, sizeof text, form, "mysql://host/name");
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_INVALID);
    cr_expect_str_eq(why.text,
                     "c.yml:5:8: state: is neither a folder nor postgresql://HOST/DATABASE");
    snprintf(text, sizeof text, "%s", agent_text);
    char *state = strstr(text, "state: state");
    snprintf(state, sizeof text - (size_t)(state - text), "%s%s",
             "state: \"postgresql://host/name\"", strstr(agent_text, "\ndata: "));
    cr_expect_eq(agent_settings_parse(&agent, slice_of(text), "a.yml", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "stays on its own machine"), "%s", why.text);
    char *key = text + (strstr(agent_text, "key: key") - agent_text);
    snprintf(key, sizeof text - (size_t)(key - text), "key: \"k://\"%s",
             strstr(agent_text, "key: key") + strlen("key: key"));
    cr_assert_eq(agent_settings_parse(&agent, slice_of(text), "/etc/a.yml", &why), STATUS_OK, "%s",
                 why.text);
    cr_expect_str_eq(agent.key, "/etc/k://", "a file of such a name is a file");
}

Test(settings, of_a_coordinator_take_every_key)
{
    struct coordinator_settings s;
    struct why why = {{0}};
    char text[1024];
    (void)snprintf(text, sizeof text, "%s%s", coordinator_text,
                   "linger_s: 0.5\nmemory_mb_max: 1024\nmessage_mb_max: 0.5\nsimulated: true\n"
                   "log: {level: warning, format: json}\nhttp: {listen: \"127.0.0.1:7390\"}\n");
    cr_assert_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_OK, "%s",
                 why.text);
    cr_assert_eq(s.linger_ms, 500);
    cr_assert_eq(s.memory_bytes_max, 1024000000);
    cr_assert_eq(s.message_bytes_max, 500000);
    cr_assert(s.simulated);
    cr_assert_eq(s.log.level, LOG_WARN);
    cr_assert_eq(s.log.format, LOG_FORMAT_JSON);
    cr_assert_str_eq(s.http.listen, "127.0.0.1:7390");
}

Test(settings, of_an_agent_alone_let_a_person_decide_at_the_page)
{
    struct coordinator_settings s;
    struct agent_settings a;
    struct why why = {{0}};
    char text[1024];
    (void)snprintf(text, sizeof text, "%shttp: {listen: \"127.0.0.1:1\"}\n", agent_text);
    cr_assert_eq(agent_settings_parse(&a, slice_of(text), "a.yml", &why), STATUS_OK, "%s",
                 why.text);
    cr_expect_not(a.http.approve);
    (void)snprintf(text, sizeof text, "%shttp: {listen: \"127.0.0.1:1\", approve: true}\n",
                   agent_text);
    cr_assert_eq(agent_settings_parse(&a, slice_of(text), "a.yml", &why), STATUS_OK, "%s",
                 why.text);
    cr_expect(a.http.approve);
    (void)snprintf(text, sizeof text, "%shttp: {listen: \"127.0.0.1:1\", approve: true}\n",
                   coordinator_text);
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_INVALID);
}

#define SECURE "certificate: a.crt, key: a.key, token: /a.token, names: a.example"

Test(settings, of_a_page_for_others_have_tls_a_token_and_names_or_nothing)
{
    static const char *const part[] = {"certificate: a.crt, key: a.key, token: a.token",
                                       "certificate: a.crt, key: a.key, names: a.example",
                                       "certificate: a.crt, token: a.token, names: a.example",
                                       "key: a.key, token: a.token, names: a.example"};
    static const char *const missing[] = {"http.names", "http.token", "http.key",
                                          "http.certificate"};
    struct coordinator_settings s;
    struct agent_settings a;
    struct why why = {{0}};
    char text[1024];
    (void)snprintf(text, sizeof text, "%shttp: {listen: \"0.0.0.0:8443\", " SECURE "}\n",
                   coordinator_text);
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "/etc/c.yml", &why), STATUS_OK,
                 "%s", why.text);
    cr_expect_str_eq(s.http.certificate, "/etc/a.crt");
    cr_expect_str_eq(s.http.key, "/etc/a.key");
    cr_expect_str_eq(s.http.token, "/a.token");
    (void)snprintf(text, sizeof text,
                   "%shttp: {listen: \"127.0.0.1:8443\", approve: true, " SECURE "}\n", agent_text);
    cr_expect_eq(agent_settings_parse(&a, slice_of(text), "a.yml", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "http.approve: is for a page of this machine alone"));
    for (size_t i = 0; i < sizeof part / sizeof part[0]; i++) {
        for (size_t j = 0; j < 2; j++) { /* half of it is refused wherever it listens */
            (void)snprintf(text, sizeof text, "%shttp: {listen: \"%s:8443\", %s}\n",
                           coordinator_text, j == 0 ? "0.0.0.0" : "127.0.0.1", part[i]);
            cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why),
                         STATUS_INVALID);
            cr_expect_not_null(strstr(why.text, missing[i]), "%s", why.text);
        }
    }
}

/* Every program that reaches the port can read the page, so only this machine may reach it. */
Test(settings, of_a_page_are_for_this_machine_alone)
{
    static const char *const elsewhere[] = {"0.0.0.0:7390", "localhost:7390", "[::]:7390"};
    static const char *const malformed[] = {"127.0.0.1", "7390", "127.0.0.1:65536", ":7390"};
    struct coordinator_settings s;
    struct agent_settings a;
    char text[1024];
    for (size_t i = 0; i < sizeof elsewhere / sizeof elsewhere[0]; i++) {
        struct why why = {{0}};
        (void)snprintf(text, sizeof text, "%shttp: {listen: \"%s\"}\n", coordinator_text,
                       elsewhere[i]);
        cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_INVALID);
        cr_expect_str_eq(why.text,
                         "c.yml:8:16: http.listen: is not an address of this machine alone: write "
                         "127.0.0.1:7390 or [::1]:7390, and reach it from elsewhere with ssh -L "
                         "7390:127.0.0.1:7390; or say certificate, key, token and names");
        (void)snprintf(text, sizeof text, "%shttp: {listen: \"%s\"}\n", agent_text, elsewhere[i]);
        cr_expect_eq(agent_settings_parse(&a, slice_of(text), "a.yml", &why), STATUS_INVALID);
        cr_expect_eq(strncmp(why.text, "a.yml:8:16: http.listen: is not", 31), 0, "%s", why.text);
    }
    for (size_t i = 0; i < sizeof malformed / sizeof malformed[0]; i++) {
        struct why why = {{0}};
        (void)snprintf(text, sizeof text, "%shttp: {listen: \"%s\"}\n", agent_text, malformed[i]);
        cr_expect_eq(agent_settings_parse(&a, slice_of(text), "a.yml", &why), STATUS_INVALID);
        cr_expect_str_eq(why.text,
                         "a.yml:8:16: http.listen: is no address: write it like 127.0.0.1:7390");
    }
    struct why why = {{0}};
    (void)snprintf(text, sizeof text, "%shttp: {}\n", agent_text);
    cr_expect_eq(agent_settings_parse(&a, slice_of(text), "a.yml", &why), STATUS_INVALID,
                 "a table without its key");
}

Test(settings, of_an_agent_have_defaults_and_take_a_key_file)
{
    struct agent_settings s;
    struct why why = {{0}};
    cr_assert_eq(agent_settings_parse(&s, slice_of(agent_text), "etc/a.yml", &why), STATUS_OK, "%s",
                 why.text);
    cr_assert_str_eq(s.address, "tcp://[::1]:7310");
    cr_assert_str_eq(s.public_key_file, "etc/c.pub");
    cr_assert(digest_is_none(&s.public_key));
    cr_assert_str_eq(s.key, "etc/key");
    cr_assert_str_eq(s.data, "/data/records.csv");
    cr_assert_str_eq(s.dictionary, "etc/data.yml");
    cr_assert_str_eq(s.policy, "etc/policy.yml");
    cr_assert_str_eq(s.job, "");
    cr_assert_not(s.once);
    cr_assert_not(s.simulated);
    cr_assert_eq(s.heartbeat_ms, 2000);
    cr_assert_eq(s.silence_ms, 10000);
}

Test(settings, of_an_agent_take_a_key_in_digits_and_every_option)
{
    struct agent_settings s;
    struct why why = {{0}};
    static const char text[] =
        "hedgerow: 1\n"
        "coordinator:\n"
        "  address: tcp://host:1\n"
        "  public_key: 000102030405060708090a0b0c0d0e0f101112131415161718191A1B1C1D1E1F\n"
        "key: k\nstate: s\ndata: d\ndictionary: d.yml\npolicy: p\njob: j.yml\nonce: true\nheartbeat_s: 0.25\n"
        "silence_s: 1\nmemory_mb_max: 64\nsimulated: true\nlog: {level: debug}\n"
        "http: {listen: \"[::1]:1\"}\n";
    cr_assert_eq(agent_settings_parse(&s, slice_of(text), "/a/b.yml", &why), STATUS_OK, "%s",
                 why.text);
    for (unsigned i = 0; i < DIGEST_BYTES; i++) {
        cr_assert_eq(s.public_key.byte[i], i);
    }
    cr_assert_str_eq(s.public_key_file, "");
    cr_assert_str_eq(s.job, "/a/j.yml");
    cr_assert(s.once && s.simulated);
    cr_assert_eq(s.heartbeat_ms, 250);
    cr_assert_eq(s.silence_ms, 1000);
    cr_assert_eq(s.memory_bytes_max, 64000000);
    cr_assert_eq(s.log.level, LOG_DEBUG);
    cr_assert_str_eq(s.http.listen, "[::1]:1");
}

/* Parses the agent's text with one part replaced and expects the whole message. */
static void expect_refused(const char *from, const char *to, const char *message)
{
    struct agent_settings s;
    struct why why = {{0}};
    char text[4096];
    const char *at = strstr(agent_text, from);
    cr_assert_not_null(at);
    (void)snprintf(text, sizeof text, "%.*s%s%s", (int)(at - agent_text), agent_text, to,
                   at + strlen(from));
    cr_expect_eq(agent_settings_parse(&s, slice_of(text), "a.yml", &why), STATUS_INVALID, "%s",
                 text);
    cr_expect_str_eq(why.text, message, "gave: %s", why.text);
    cr_expect_eq(s.key[0], '\0', "settings are zeroed");
}

Test(settings, refuse_with_place_and_remedy)
{
    expect_refused("tcp://[::1]:7310", "host:7310",
                   "a.yml:2:24: coordinator.address: is no address: write it like tcp://host:7310");
    expect_refused("tcp://[::1]:7310", "tcp://host",
                   "a.yml:2:24: coordinator.address: is no address: write it like tcp://host:7310");
    expect_refused("tcp://[::1]:7310", "ipc:///tmp/x:1",
                   "a.yml:2:24: coordinator.address: is no address: write it like tcp://host:7310");
    expect_refused("tcp://[::1]:7310", "tcp://host:http",
                   "a.yml:2:24: coordinator.address: has no port up to 65535: write it like "
                   "tcp://host:7310");
    expect_refused("tcp://[::1]:7310", "tcp://host:65536",
                   "a.yml:2:24: coordinator.address: has no port up to 65535: write it like "
                   "tcp://host:7310");
    expect_refused("c.pub", "0000000000000000000000000000000000000000000000000000000000000000",
                   "a.yml:2:56: coordinator.public_key: is no key: all its digits are 0");
    expect_refused(", public_key: c.pub", "",
                   "a.yml:2:14: coordinator: has no \"public_key\": add it, for example "
                   "`public_key: coordinator.pub`");
    expect_refused("dictionary: data.yml\n", "",
                   "a.yml:1:1: has no \"dictionary\": add it, for example `dictionary: data.yml`");
    expect_refused("policy: policy.yml\n", "",
                   "a.yml:1:1: has no \"policy\": add it, for example `policy: policy.yml`");
    expect_refused("policy: policy.yml\n", "policy: p\nheartbeat_s: 3\nsilence_s: 5\n",
                   "a.yml:9:12: silence_s: must be at least twice heartbeat_s: each heartbeat is "
                   "answered once");
    expect_refused("policy: policy.yml\n", "policy: p\nlog: {level: loud}\n",
                   "a.yml:8:14: log.level: \"loud\" is not a choice; known here: debug, info, "
                   "warning, error");
    expect_refused("state: state\n", "state: s\npolice: p\n",
                   "a.yml:5:1: police: \"police\" is not a key here; did you mean \"policy\"?");
}

Test(settings, refuse_a_path_that_is_too_long)
{
    struct agent_settings s;
    struct why why = {{0}};
    char path[1100];
    memset(path, 'f', sizeof path);
    memcpy(path + sizeof path - sizeof "/a.yml", "/a.yml", sizeof "/a.yml");
    cr_assert_eq(agent_settings_parse(&s, slice_of(agent_text), path, &why), STATUS_INVALID);
    cr_assert_not_null(strstr(why.text, "fff"));
}

/* One job or a queue: exactly one of both. */
Test(settings, of_a_coordinator_name_one_job_or_a_queue)
{
    static const char queue[] =
        "hedgerow: 1\nlisten: tcp://0.0.0.0:7310\nkey: key\nagents: agents\n";
    struct coordinator_settings s;
    struct why why = {{0}};
    char text[1024];
    (void)snprintf(text, sizeof text, "%sjobs: jobs\n", queue);
    cr_assert_eq(coordinator_settings_parse(&s, slice_of(text), "/etc/h/c.yml", &why), STATUS_OK,
                 "%s", why.text);
    cr_expect_str_eq(s.jobs, "/etc/h/jobs");
    cr_expect(s.job[0] == '\0' && s.state[0] == '\0' && s.out[0] == '\0');
    (void)snprintf(text, sizeof text, "%sjobs: \"postgresql://host/name\"\n", queue);
    cr_assert_eq(coordinator_settings_parse(&s, slice_of(text), "/etc/h/c.yml", &why), STATUS_OK,
                 "%s", why.text);
    cr_expect_str_eq(s.jobs, "postgresql://host/name", "a database is no path");
    (void)snprintf(text, sizeof text, "%sjobs: \"mysql://host/name\"\n", queue);
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "jobs: is neither a folder nor postgresql://HOST/DATABASE"),
                       "%s", why.text);
    (void)snprintf(text, sizeof text, "%sjobs: \"postgresql://host/name\"\ncollectors: east\n",
                   queue);
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_OK);
    cr_expect_str_eq(s.collectors, "east");
    (void)snprintf(text, sizeof text, "%sjobs: jobs\ncollector: east\n", queue);
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "as `state` or as `jobs`"), "%s", why.text);
    (void)snprintf(text, sizeof text, "%sjobs: jobs\n", coordinator_text);
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "has both \"state\" and \"jobs\": remove one"), "%s",
                       why.text);
    (void)snprintf(text, sizeof text, "%sjobs: jobs\nout: out\n", queue);
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(text), "c.yml", &why), STATUS_INVALID);
    cr_expect_eq(coordinator_settings_parse(&s, slice_of(queue), "c.yml", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "has no \"state\", \"job\", \"out\""), "%s", why.text);
}

/* A desk is beside a queue, has a list of its own and a port of its own. */
Test(settings, of_a_desk_keep_operators_apart_from_agents)
{
    static const struct {
        const char *jobs;
        const char *operators;
        const char *fault; /* NULL: good */
    } item[] = {
        {"jobs: jobs", "{listen: \"tcp://0.0.0.0:7311\", list: operators}", NULL},
        {"job: j\nstate: s\nout: o", "{listen: \"tcp://0.0.0.0:7311\", list: operators}",
         "needs a queue"},
        {"jobs: jobs", "{listen: \"tcp://0.0.0.0:7311\", list: agents}", "list of their own"},
        {"jobs: jobs", "{listen: \"tcp://0.0.0.0:7310\", list: operators}", "port of their own"},
        {"jobs: jobs", "{listen: \"http://0.0.0.0:7311\", list: operators}", "no address"},
        {"jobs: jobs", "{listen: \"tcp://0.0.0.0:7311\"}", "list"},
    };
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        struct coordinator_settings s;
        struct why why = {{0}};
        char text[1024];
        (void)snprintf(text, sizeof text,
                       "hedgerow: 1\nlisten: tcp://0.0.0.0:7310\nkey: key\nagents: agents\n%s\n"
                       "operators: %s\n",
                       item[i].jobs, item[i].operators);
        const enum status status =
            coordinator_settings_parse(&s, slice_of(text), "/etc/h/c.yml", &why);
        cr_expect_eq(status, item[i].fault == NULL ? STATUS_OK : STATUS_INVALID, "%zu: %s", i,
                     why.text);
        if (item[i].fault == NULL) {
            cr_expect_str_eq(s.operators.list, "/etc/h/operators");
        } else {
            cr_expect_not_null(strstr(why.text, item[i].fault), "%zu: %s", i, why.text);
        }
    }
}

/* What init writes is read by the reader whose table it was made of. */
Test(settings, to_begin_with_are_valid_and_mark_every_key)
{
    struct coordinator_settings coordinator;
    struct agent_settings agent;
    struct why why = {{0}};
    char *text = coordinator_settings_template();
    cr_assert_not_null(text);
    cr_assert_eq(coordinator_settings_parse(&coordinator, slice_of(text), "c.yml", &why), STATUS_OK,
                 "%s", why.text);
    cr_expect_eq(coordinator.linger_ms, 30000);
    cr_expect_not_null(strstr(text, "# Required.\nlisten: tcp://0.0.0.0:7310\n"), "%s", text);
    cr_expect_not_null(strstr(text, "# Optional; this is the default.\n# linger_s: 30\n"), "%s",
                       text);
    free(text);
    text = agent_settings_template();
    cr_assert_not_null(text);
    cr_assert_eq(agent_settings_parse(&agent, slice_of(text), "a.yml", &why), STATUS_OK, "%s",
                 why.text);
    cr_expect_not_null(strstr(text, "# Optional; for example:\n# job: job.yml\n"), "%s", text);
    cr_expect_null(strstr(text, "simulated"), "for programs alone");
    free(text);
}

Test(settings, that_lack_several_keys_are_told_all_of_them)
{
    struct agent_settings agent;
    struct why why = {{0}};
    cr_assert_eq(
        agent_settings_parse(&agent, slice_of("hedgerow: 1\nkey: k\nstate: s\n"), "a.yml", &why),
        STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "\"coordinator\", \"data\", "), "%s", why.text);
    cr_expect_not_null(strstr(why.text, "\"policy\": add them"), "%s", why.text);
}
