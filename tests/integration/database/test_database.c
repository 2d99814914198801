/* A connection to a database: what is refused before anything is sent, who has to show a certificate, and what is tried again. */

#include "database/database.h"

#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { URL_BYTES = 256 };

static struct why why;

Test(database, urls_are_judged_before_they_are_used)
{
    cr_expect_eq(database_check("postgresql://host/name", &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(database_check("postgresql://user:secret@host/name", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "PGPASSFILE"), "%s", why.text);
    cr_expect_null(strstr(why.text, "secret"));
    cr_expect_eq(database_check("postgresql://host/name?nonsense=1", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "nonsense"), "%s", why.text);
    cr_expect_eq(database_check("postgresql:///?service=elsewhere", &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "host, port and name"), "%s", why.text);
}

Test(database, a_server_that_is_away_is_told)
{
    struct database *database = NULL;
    cr_expect_eq(database_open(&database, "postgresql:///name?host=/nowhere", &why), STATUS_AGAIN);
    cr_expect_not_null(strstr(why.text, "database name at /nowhere"), "%s", why.text);
    cr_expect_null(database);
}

/* A server that is stopped takes connections and says nothing. libpq's message then ends in a colon. */
Test(database, a_server_that_hangs_is_told)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr = {htonl(INADDR_LOOPBACK)}};
    socklen_t size = sizeof address;
    struct database *database = NULL;
    char url[URL_BYTES];
    const int hung = socket(AF_INET, SOCK_STREAM, 0);
    cr_assert(hung >= 0 && bind(hung, (struct sockaddr *)&address, size) == 0 &&
              listen(hung, 1) == 0 && getsockname(hung, (struct sockaddr *)&address, &size) == 0);
    (void)snprintf(url, sizeof url, "postgresql://127.0.0.1:%d/name", (int)ntohs(address.sin_port));
    cr_expect_eq(database_open(&database, url, &why), STATUS_AGAIN);
    cr_expect_not_null(strstr(why.text, "no answer in time; remedy: "), "%s", why.text);
    (void)close(hung);
}

/* The place of the server may come from the host, the address, or libpq's environment. */
Test(database, a_server_elsewhere_has_to_show_a_certificate)
{
    static const struct {
        const char *url;
        const char *host;    /* PGHOST */
        const char *address; /* PGHOSTADDR */
        bool needs;
    } cases[] = {
        {"postgresql:///name", NULL, NULL, false},
        {"postgresql:///name?host=/run/postgresql", NULL, NULL, false},
        {"postgresql://localhost,127.0.0.1,[::1]/name", NULL, NULL, false},
        {"postgresql://localhost/name?hostaddr=127.0.0.1", NULL, NULL, false},
        {"postgresql://db.example/name", NULL, NULL, true},
        {"postgresql://localhost,db.example/name", NULL, NULL, true},
        {"postgresql:///name?hostaddr=192.0.2.2", NULL, NULL, true},
        {"postgresql://localhost/name?hostaddr=192.0.2.2", NULL, NULL, true},
        {"postgresql:///name?host=/run/postgresql&hostaddr=192.0.2.2", NULL, NULL, true},
        {"postgresql:///name", "192.0.2.2", NULL, true},
        {"postgresql:///name", NULL, "192.0.2.2", true},
        {"postgresql://localhost/name", "db.example", NULL, false},
        {"postgresql://localhost/name", NULL, "192.0.2.2", true},
        {"postgresql://db.example/name?sslmode=verify-ca", NULL, NULL, false},
    };
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        (void)unsetenv("PGHOST");
        (void)unsetenv("PGHOSTADDR");
        cr_assert(cases[i].host == NULL || setenv("PGHOST", cases[i].host, 1) == 0);
        cr_assert(cases[i].address == NULL || setenv("PGHOSTADDR", cases[i].address, 1) == 0);
        cr_expect_eq(database_needs_certificate(cases[i].url), cases[i].needs, "case %zu", i);
    }
}

/* A server that answers SSLRequest by "no", and keeps what comes afterwards. */
struct plain_server {
    int listener;
    uint16_t port;
    uint8_t said[64];
    size_t bytes; /* that came after the question for TLS */
};

static void *serve_plainly(void *self)
{
    struct plain_server *server = self;
    const int one = accept(server->listener, NULL, NULL);
    uint8_t question[8];
    if (one >= 0 && recv(one, question, sizeof question, MSG_WAITALL) == (ssize_t)sizeof question &&
        question[3] == sizeof question && send(one, "N", 1, MSG_NOSIGNAL) == 1) {
        const ssize_t got = recv(one, server->said, sizeof server->said, 0);
        server->bytes = got > 0 ? (size_t)got : 0;
    } else {
        server->bytes = sizeof question; /* it began without asking for TLS */
    }
    (void)close(one);
    return NULL;
}

/* Returns how many bytes a server without TLS is told; URL: with one %u for its port. */
static size_t told_in_clear(const char *url_of_port)
{
    struct plain_server server = {.listener = socket(AF_INET, SOCK_STREAM, 0)};
    struct sockaddr_in at = {.sin_family = AF_INET};
    socklen_t size = sizeof at;
    struct database *database = NULL;
    char url[URL_BYTES];
    char port[16];
    pthread_t thread;

    cr_assert_eq(inet_pton(AF_INET, "127.0.0.2", &at.sin_addr), 1);
    cr_assert_eq(bind(server.listener, (struct sockaddr *)&at, sizeof at), 0);
    cr_assert_eq(listen(server.listener, 1), 0);
    cr_assert_eq(getsockname(server.listener, (struct sockaddr *)&at, &size), 0);
    (void)snprintf(port, sizeof port, "%u", (unsigned)ntohs(at.sin_port));
    (void)snprintf(url, sizeof url, "%s%sport=%s", url_of_port,
                   strchr(url_of_port, '?') == NULL ? "?" : "&", port);
    cr_assert_eq(pthread_create(&thread, NULL, serve_plainly, &server), 0);
    cr_expect_eq(database_open(&database, url, &why), STATUS_AGAIN);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    (void)close(server.listener);
    return server.bytes;
}

/* Also a password would be sent. With sslmode=prefer, which the URL may ask for, something is sent, and the test sees
 * it. */
Test(database, a_server_without_tls_is_told_nothing)
{
    cr_expect_eq(told_in_clear("postgresql://u@127.0.0.2/name"), 0);
    cr_expect_not_null(strstr(why.text, "SSL"), "%s", why.text);
    cr_expect_eq(told_in_clear("postgresql://u@/name?hostaddr=127.0.0.2"), 0);
    cr_expect_eq(told_in_clear("postgresql://u@localhost/name?hostaddr=127.0.0.2"), 0);
    cr_assert_eq(setenv("PGHOST", "127.0.0.2", 1), 0);
    cr_expect_eq(told_in_clear("postgresql://u@/name"), 0);
    cr_expect_not_null(strstr(why.text, "at 127.0.0.2"), "%s", why.text);
    cr_expect_gt(told_in_clear("postgresql://u@127.0.0.2/name?sslmode=prefer"), 0);
}

static const char *url_of(const char *variable)
{
    const char *url = getenv(variable);
    if (url == NULL) {
        cr_skip_test("needs %s (tests/support/postgres)", variable);
    }
    return url;
}

static bool opens(const char *url, const char *authority)
{
    char path[URL_BYTES];
    struct database *database = NULL;
    const char *folder = getenv("POSTGRES_FOLDER");
    (void)snprintf(path, sizeof path, "%s/%s", folder == NULL ? "" : folder, authority);
    cr_assert_eq(setenv("PGSSLROOTCERT", path, 1), 0);
    const enum status status = database_open(&database, url, &why);
    struct pg_result *answer = NULL;
    if (status == STATUS_OK) {
        static const char is_sealed[] =
            "SELECT count(*) FROM pg_stat_ssl WHERE ssl AND pid = pg_backend_pid()";
        cr_assert_eq(database_ask(database, &answer, is_sealed, NULL, 0, &why), STATUS_OK);
        cr_expect_eq(database_number(answer, 0, 0), 1);
        database_answer_free(answer);
    }
    database_close(database);
    return status == STATUS_OK;
}

Test(database, a_certificate_has_to_be_by_the_authority_and_for_the_name)
{
    const char *url = url_of("TLS_URL");
    char other_name[URL_BYTES];
    cr_expect(opens(url, "root.crt"), "%s", why.text);
    cr_expect_not(opens(url, "other.crt"));
    cr_expect_not_null(strstr(why.text, "certificate"), "%s", why.text);
    const char *port = strrchr(url, ':');
    (void)snprintf(other_name, sizeof other_name,
                   "postgresql://hedgerow@db.example%s?hostaddr=127.0.0.2", port);
    cr_expect_not(opens(other_name, "root.crt"));
    cr_expect_not_null(strstr(why.text, "db.example"), "%s", why.text);
}

static void ask(struct database *database, const char *statement)
{
    cr_assert_eq(database_ask(database, NULL, statement, NULL, 0, &why), STATUS_OK, "%s", why.text);
}

static int64_t calls(struct database *database)
{
    struct pg_result *answer = NULL;
    cr_assert_eq(database_ask(database, &answer, "SELECT last_value FROM called", NULL, 0, &why),
                 STATUS_OK);
    const int64_t count = database_number(answer, 0, 0);
    database_answer_free(answer);
    return count;
}

/* The server rolls a transaction back: how often, and with which code. A sequence also counts transactions that
 * are rolled back. */
Test(database, what_the_server_took_back_is_tried_again)
{
    static const struct {
        const char *code;
        int failures;
        int64_t calls;
        enum status status;
    } cases[] = {{"40001", 3, 4, STATUS_OK},
                 {"40P01", 1, 2, STATUS_OK},
                 {"40001", 9, 5, STATUS_IO},
                 {"23505", 1, 1, STATUS_IO}};
    struct database *database = NULL;
    cr_assert_eq(database_open(&database, url_of("DATABASE_URL"), &why), STATUS_OK, "%s", why.text);
    ask(database, "CREATE SEQUENCE called");
    ask(database,
        "CREATE FUNCTION takes_back(failures int, code text) RETURNS void LANGUAGE plpgsql AS $$ "
        "BEGIN IF nextval('called') <= failures THEN RAISE EXCEPTION 'no' USING ERRCODE = code; "
        "END IF; END $$");
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        char statement[128];
        ask(database, "SELECT setval('called', 1, false)");
        (void)snprintf(statement, sizeof statement, "SELECT takes_back(%d, '%s')",
                       cases[i].failures, cases[i].code);
        cr_expect_eq(database_ask(database, NULL, statement, NULL, 0, &why), cases[i].status,
                     "case %zu: %s", i, why.text);
        cr_expect_eq(calls(database), cases[i].calls, "case %zu", i);
    }
    ask(database, "DROP FUNCTION takes_back(int, text)");
    ask(database, "DROP SEQUENCE called");
    database_close(database);
}
