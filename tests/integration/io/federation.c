#include "federation.h"

#include "tests/support/quiet_fork.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <netinet/in.h>
#include <sys/socket.h>

static void name_of(char name[16], int agent)
{
    snprintf(name, 16, "a%d", agent);
}

/* One line per entry: "event peer: text". */
static void write_entry(void *self, const struct log_entry *entry)
{
    char line[1500];
    int size = snprintf(line, sizeof line, "%s %s: %s\n", entry->event,
                        entry->peer == NULL ? "-" : entry->peer, entry->text);
    ssize_t put = write(*(int *)self, line, (size_t)size);
    (void)put;
}

static void echo(struct endpoint *endpoint, const struct endpoint_message *message)
{
    (void)!endpoint_send(endpoint, &message->peer, message->control, message->payload);
}

static void serve_for_ever(struct federation *federation, const struct federation_ways *ways,
                           int report)
{
    int file = open(federation->log_path, O_WRONLY | O_CREAT | O_APPEND, 0600);
    struct log log = {.write = write_entry, .self = &file, .level = LOG_DEBUG};
    struct endpoint_options options = {
        .address = federation->address[0] != '\0' ? federation->address : "tcp://127.0.0.1:0",
        .lines = "tcp://127.0.0.1:0",
        .key = &federation->coordinator,
        .log = &log,
        .payload_bytes_max = ways->payload_bytes_max,
        .limits = ways->limits};
    struct roster_watch watch = {.path = federation->agents_path};
    static struct roster roster;
    struct endpoint *endpoint = NULL;
    struct why why = {""};

    if (endpoint_listen(&endpoint, &options, &why) != STATUS_OK) {
        fprintf(stderr, "%s\n", why.text);
        _exit(1);
    }
    const char *address = endpoint_address(endpoint);
    ssize_t put = write(report, address, strlen(address) + 1);
    (void)put;
    close(report);
    for (;;) {
        bool changed = false;
        struct endpoint_message message;
        (void)!roster_watch_look(&watch, &roster, &changed, NULL);
        if (changed) {
            endpoint_admit(endpoint, &roster);
        }
        if (endpoint_poll(endpoint, NULL, 0, 100) != STATUS_OK) {
            _exit(1);
        }
        for (int i = 0; i < 64 && endpoint_receive(endpoint, &message) == STATUS_OK; i++) {
            ways->answer(endpoint, &message);
        }
        if (ways->look != NULL) {
            ways->look(endpoint);
        }
        struct peer cut;
        while (endpoint_next_cut(endpoint, &cut) == STATUS_OK) {
            log_event(&log, LOG_INFO, "told-of-cut", cut.name, "and would wait for it no longer");
        }
    }
}

static void begin(struct federation *federation, const struct federation_ways *ways)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    federation->process = quiet_fork();
    cr_assert_geq(federation->process, 0);
    if (federation->process == 0) {
        close(ends[0]);
        serve_for_ever(federation, ways, ends[1]);
        _exit(0);
    }
    close(ends[1]);
    cr_assert_gt(read(ends[0], federation->address, sizeof federation->address), 0);
    close(ends[0]);
}

void federation_start(struct federation *federation, int admitted,
                      const struct endpoint_limits *limits)
{
    struct federation_ways ways = {.payload_bytes_max = PAYLOAD_MAX, .answer = echo};
    if (limits != NULL) {
        ways.limits = *limits;
    }
    federation_start_as(federation, admitted, &ways);
}

void federation_start_as(struct federation *federation, int admitted,
                         const struct federation_ways *ways)
{
    memset(federation, 0, sizeof *federation);
    scratch_make(&federation->scratch);
    snprintf(federation->agents_path, sizeof federation->agents_path, "%s/agents",
             federation->scratch.folder);
    snprintf(federation->log_path, sizeof federation->log_path, "%s/log",
             federation->scratch.folder);
    cr_assert_eq(key_pair_generate(&federation->coordinator), STATUS_OK);
    for (int i = 0; i < FEDERATION_AGENTS; i++) {
        cr_assert_eq(key_pair_generate(&federation->agent[i]), STATUS_OK);
        if (i < admitted) {
            federation_admit(federation, i);
        }
    }
    begin(federation, ways);
}

void federation_restart(struct federation *federation)
{
    const struct federation_ways ways = {.payload_bytes_max = PAYLOAD_MAX, .answer = echo};
    int result = 0;
    kill(federation->process, SIGKILL);
    waitpid(federation->process, &result, 0);
    begin(federation, &ways);
}

void federation_stop(struct federation *federation)
{
    int result = 0;
    cr_expect_eq(waitpid(federation->process, &result, WNOHANG), 0,
                 "the coordinator must have survived");
    kill(federation->process, SIGKILL);
    waitpid(federation->process, &result, 0);
    scratch_remove(&federation->scratch);
}

void federation_admit(struct federation *federation, int agent)
{
    char name[16];
    struct why why = {""};
    name_of(name, agent);
    cr_assert_eq(
        roster_add(federation->agents_path, name, &federation->agent[agent].public_key, &why),
        STATUS_OK, "%s", why.text);
}

void federation_revoke(struct federation *federation, int agent)
{
    char name[16];
    name_of(name, agent);
    cr_assert_eq(roster_revoke(federation->agents_path, name, NULL, NULL), STATUS_OK);
}

struct endpoint *federation_dial(const struct federation *federation, const struct key_pair *key)
{
    struct endpoint *endpoint = NULL;
    struct why why = {""};
    struct endpoint_options options = {.address = federation->address,
                                       .key = key,
                                       .payload_bytes_max = PAYLOAD_MAX,
                                       .coordinator_key = federation->coordinator.public_key};
    cr_assert_eq(endpoint_dial(&endpoint, &options, &why), STATUS_OK, "%s", why.text);
    return endpoint;
}

int federation_round_trip(struct endpoint *endpoint, int timeout_ms)
{
    static uint32_t number;
    static const struct peer coordinator = {"coordinator"};
    int64_t began_ms = clock_now_ms();
    int64_t sent_ms = 0;
    uint8_t control[8] = "ping";

    store_u32(control + 4, ++number);
    while (clock_now_ms() - began_ms < timeout_ms) {
        struct endpoint_message message;
        if (clock_now_ms() - sent_ms >= 250) {
            sent_ms = clock_now_ms();
            (void)!endpoint_send(endpoint, &coordinator, (struct slice){control, sizeof control},
                                 (struct slice){NULL, 0});
        }
        cr_assert_eq(endpoint_poll(endpoint, NULL, 0, 20), STATUS_OK);
        while (endpoint_receive(endpoint, &message) == STATUS_OK) {
            if (message.control.size == sizeof control &&
                memcmp(message.control.data, control, sizeof control) == 0) {
                return (int)(clock_now_ms() - began_ms);
            }
        }
    }
    return -1;
}

bool federation_told(struct endpoint *endpoint, const char *text)
{
    int64_t until_ms = clock_now_ms() + PATIENCE_MS;
    bool answered = false;
    while (!answered && strstr(endpoint_trouble(endpoint), text) == NULL &&
           clock_now_ms() < until_ms) {
        answered = federation_round_trip(endpoint, 100) >= 0;
    }
    return !answered && strstr(endpoint_trouble(endpoint), text) != NULL;
}

static bool is_logged(const struct federation *federation, const char *event, const char *peer)
{
    char line[2000];
    char head[128];
    bool found = false;
    snprintf(head, sizeof head, "%s %s:", event, peer);
    FILE *file = fopen(federation->log_path, "r");
    while (file != NULL && !found && fgets(line, sizeof line, file) != NULL) {
        found = strncmp(line, head, strlen(head)) == 0;
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

bool federation_logged(const struct federation *federation, const char *event, const char *peer,
                       int timeout_ms)
{
    int64_t until_ms = clock_now_ms() + timeout_ms;
    while (!is_logged(federation, event, peer)) {
        if (clock_now_ms() >= until_ms) {
            return false;
        }
        usleep(20000);
    }
    return true;
}

long federation_memory_kib(const struct federation *federation, bool peak)
{
    char path[64];
    char line[256];
    long kib = 0;
    snprintf(path, sizeof path, "/proc/%ld/status", (long)federation->process);
    FILE *file = fopen(path, "r");
    cr_assert_not_null(file);
    while (fgets(line, sizeof line, file) != NULL) {
        (void)sscanf(line, peak ? "VmHWM: %ld" : "VmRSS: %ld", &kib);
    }
    fclose(file);
    return kib;
}

int federation_connect_at(uint32_t port)
{
    struct sockaddr_in to = {.sin_family = AF_INET};
    to.sin_port = htons((uint16_t)port);
    to.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    int file = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (file >= 0 && connect(file, (struct sockaddr *)&to, sizeof to) != 0) {
        close(file);
        file = -1;
    }
    return file;
}

int federation_connect(const struct federation *federation)
{
    const char *port = strrchr(federation->address, ':') + 1;
    return federation_connect_at((uint32_t)strtoul(port, NULL, 10));
}
