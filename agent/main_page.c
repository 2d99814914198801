/* `hedgerow-agent page`: prints the address of the running agent's page with a ticket in it, good once and for ten minutes. What
 * lies in the state folder is the address and the ticket's digest. */

#include "agent/main_face.h"

#include "base/exit_code.h"
#include "base/file.h"
#include "config/config.h"
#include "crypto/digest.h"
#include "io/clock.h"
#include "io/daemon.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    PATH_BYTES = SETTINGS_PATH_BYTES + 32,
    DIGITS = 2 * DIGEST_BYTES,
    FILE_BYTES = DIGITS + 32 /* of a ticket's file */
};

static void path_of(const struct site *site, char path[static PATH_BYTES], const char *name)
{
    (void)snprintf(path, PATH_BYTES, "%s/%s", site->settings.state, name);
}

static void remove_file(const struct site *site, const char *name)
{
    char path[PATH_BYTES];
    path_of(site, path, name);
    (void)unlink(path);
}

/* The digest is compared and kept in place of the secret: how long a comparison takes tells nothing of the secret. */
static struct digest digest_of_digits(const char *digits)
{
    struct digest digest;
    digest_sha256(&digest, &(struct slice){digits, strlen(digits)}, 1);
    return digest;
}

static bool draw_secret(struct random_source *source, char digits[static PAGE_SECRET_DIGITS + 1])
{
    uint8_t secret[PAGE_SECRET_BYTES];
    const struct random random = random_source_interface(source);
    if (random.fill(random.self, secret, sizeof secret) != STATUS_OK) {
        return false;
    }
    hex_encode(digits, secret, sizeof secret);
    bytes_wipe(secret, sizeof secret);
    return true;
}

enum status page_begin(struct page_session *session, const struct site *site, const char *address,
                       struct why *why)
{
    char path[PATH_BYTES];
    if (session->random != NULL) {
        return STATUS_OK; /* the machine was made again: the page has been there all the time */
    }
    remove_file(site, "page-ticket");
    session->random = random_source_new();
    if (session->random == NULL) {
        why_set(why, "no memory or no randomness");
        return STATUS_NO_MEMORY;
    }
    path_of(site, path, "page");
    return file_write(path, (struct slice){address, strlen(address)}, 0600, why);
}

void page_end(struct page_session *session, const struct site *site)
{
    if (session->random != NULL) {
        remove_file(site, "page");
        remove_file(site, "page-ticket");
    }
    random_source_free(session->random);
    *session = (struct page_session){.random = NULL};
}

static bool is_secret(const char *given)
{
    return given != NULL && strlen(given) == PAGE_SECRET_DIGITS &&
           strspn(given, "0123456789abcdef") == PAGE_SECRET_DIGITS;
}

/* Reads the ticket's file, as leave_ticket wrote it. */
static bool read_ticket(const struct site *site, struct digest *digest, int64_t *until_ms)
{
    char path[PATH_BYTES];
    char *text = NULL;
    size_t size = 0;
    struct why ignored = {{0}};
    path_of(site, path, "page-ticket");
    const bool there =
        access(path, F_OK) == 0 && config_load_owned(&text, &size, path, &ignored) == STATUS_OK;
    bool good = there && size > DIGITS + 1 && size < FILE_BYTES && text[DIGITS] == ' ';
    if (good) {
        char *end = NULL;
        text[DIGITS] = '\0';
        *until_ms = strtoll(text + DIGITS + 1, &end, 10);
        good = strcmp(end, "\n") == 0 && hex_decode(digest->byte, DIGEST_BYTES, text) == STATUS_OK;
    }
    free(text);
    return good;
}

bool page_open(struct page_session *session, const struct site *site, const char *ticket,
               char secret[static PAGE_SECRET_DIGITS + 1])
{
    struct digest expected;
    int64_t until_ms = 0;
    if (session->random == NULL || !is_secret(ticket) || !read_ticket(site, &expected, &until_ms)) {
        return false;
    }
    const struct digest given = digest_of_digits(ticket);
    const int64_t left_ms = until_ms - clock_wall_ms();
    if (!digest_equal(&given, &expected) || left_ms <= 0 || left_ms > PAGE_TICKET_MS) {
        return false; /* a wrong one does not use up the right one */
    }
    char path[PATH_BYTES];
    path_of(site, path, "page-ticket");
    if (unlink(path) != 0 || !draw_secret(session->random, secret)) {
        return false;
    }
    session->secret = digest_of_digits(secret);
    session->until_ms = clock_now_ms() + PAGE_SESSION_MS;
    return true;
}

bool page_is_open(const struct page_session *session, const char *given)
{
    if (!is_secret(given) || clock_now_ms() >= session->until_ms) {
        return false;
    }
    const struct digest digest = digest_of_digits(given);
    return digest_equal(&digest, &session->secret);
}

static enum status leave_ticket(const struct site *site, char ticket[static PAGE_SECRET_DIGITS + 1],
                                struct why *why)
{
    char path[PATH_BYTES];
    char text[FILE_BYTES];
    char hex[2 * DIGEST_BYTES + 1];
    struct random_source *random = random_source_new();
    const bool drawn = random != NULL && draw_secret(random, ticket);
    random_source_free(random);
    if (!drawn) {
        why_set(why, "no memory or no randomness for a ticket");
        return STATUS_NO_RANDOM;
    }
    const struct digest digest = digest_of_digits(ticket);
    hex_encode(hex, digest.byte, DIGEST_BYTES);
    (void)snprintf(text, sizeof text, "%s %" PRId64 "\n", hex, clock_wall_ms() + PAGE_TICKET_MS);
    path_of(site, path, "page-ticket");
    return file_write(path, (struct slice){text, strlen(text)}, 0600, why);
}

static enum status find_page(const struct site *site, char **address, const char *config,
                             struct why *why)
{
    char path[PATH_BYTES];
    size_t size = 0;
    if (site->settings.http.listen[0] == '\0' || !site->settings.http.approve) {
        return why_refuse(why,
                          "%s: http: nobody may decide at a page; remedy: write `http: {listen: "
                          "\"127.0.0.1:7391\", approve: true}` and start the agent again",
                          config);
    }
    path_of(site, path, "page");
    if (access(path, F_OK) != 0) {
        return why_refuse(why,
                          "%s: no running agent shows its page; remedy: start `" PROGRAM
                          " run`, or look into its log for `http-listening` and `page-not-open`",
                          path);
    }
    return config_load_owned(address, &size, path, why);
}

int main_page(const struct arguments *arguments)
{
    struct site site = {0};
    struct why why = {{0}};
    char *address = NULL;
    char ticket[PAGE_SECRET_DIGITS + 1];
    enum status status = site_read_settings(&site, arguments->config, &why);
    if (status == STATUS_OK) {
        status = find_page(&site, &address, arguments->config, &why);
    }
    if (status == STATUS_OK) {
        status = leave_ticket(&site, ticket, &why);
    }
    if (status == STATUS_OK) {
        (void)printf("http://%s/#%s\n", address, ticket);
        (void)fprintf(stderr, "Paste this address into a private window within ten minutes. It "
                              "works once, and gives an hour to decide.\n");
    }
    bytes_wipe(ticket, sizeof ticket);
    free(address);
    site_free(&site);
    return status == STATUS_OK ? EXIT_CODE_OK : daemon_complain(PROGRAM, status, &why);
}
