#include "io/token.h"

#include "base/file.h"

#include <stdio.h>
#include <string.h>

enum { TOKEN_FILE_BYTES_MAX = 2048 };

static const char *const list_name[] = {"agents", "operators"};

enum status token_write(const struct token *token, const char *path, struct why *why)
{
    char text[TOKEN_FILE_BYTES_MAX];
    char coordinator[KEY_HEX_BYTES];
    char secret[KEY_HEX_BYTES];

    hex_encode(coordinator, token->coordinator_key.byte, KEY_BYTES);
    hex_encode(secret, token->key.secret_key.byte, KEY_BYTES);
    int size = snprintf(
        text, sizeof text,
        "# hedgerow enrolment token: a secret, for one %s, good for one enrolment.\n"
        "# There: %s --token THIS-FILE\n"
        "name %s\n"
        "address %s\n"
        "coordinator-key %s\n"
        "token-secret %s\n"
        "%s"
        "valid-until %lld\n",
        token->operators ? "operator" : "site",
        token->operators ? "hedgerow --at OFFICE enrol" : "hedgerow-agent enrol --config agent.yml",
        token->name, token->address, coordinator, secret,
        token->operators ? "list operators\n" : "", (long long)token->until_s);
    enum status status = STATUS_INVALID;
    if (size < 0 || (size_t)size >= sizeof text) {
        why_set(why, "the address is too long for a token");
    } else {
        status = file_create(path, (struct slice){text, (size_t)size}, FILE_SECRET, why);
    }
    bytes_wipe(text, sizeof text);
    bytes_wipe(secret, sizeof secret);
    return status;
}

static const char *const field_name[] = {"name",         "address",     "coordinator-key",
                                         "token-secret", "valid-until", "list"};
enum { FIELDS = sizeof field_name / sizeof field_name[0], LIST = FIELDS - 1 };

/* Finds each field's value, once; fails when one is missing, doubled or unknown. A token that names no list is an agent's,
 * as those of earlier versions are. */
static enum status split_fields(const char *value[FIELDS], char *text)
{
    size_t found = 0;
    for (char *line = file_line(&text); line != NULL; line = file_line(&text)) {
        if (line[0] == '#' || line[0] == '\0') {
            continue;
        }
        size_t name_size = strcspn(line, " ");
        size_t field = 0;
        while (field < FIELDS && (strlen(field_name[field]) != name_size ||
                                  strncmp(field_name[field], line, name_size) != 0)) {
            field++;
        }
        if (field == FIELDS || value[field] != NULL || line[name_size] != ' ') {
            return STATUS_INVALID;
        }
        value[field] = line + name_size + 1;
        found++;
    }
    if (value[LIST] == NULL) {
        value[LIST] = list_name[0];
        found++;
    }
    return found == FIELDS ? STATUS_OK : STATUS_INVALID;
}

static enum status take_fields(struct token *out, char *text)
{
    const char *value[FIELDS] = {NULL};
    struct digest secret = {{0}};
    enum status status = split_fields(value, text);

    if (status != STATUS_OK || !agent_name_is_valid(value[0]) ||
        strlen(value[1]) >= sizeof out->address || strlen(value[2]) != KEY_HEX_BYTES - 1 ||
        strlen(value[3]) != KEY_HEX_BYTES - 1 || strlen(value[4]) == 0 || strlen(value[4]) > 15 ||
        strspn(value[4], "0123456789") != strlen(value[4]) ||
        (strcmp(value[LIST], list_name[0]) != 0 && strcmp(value[LIST], list_name[1]) != 0)) {
        return STATUS_INVALID;
    }
    out->operators = strcmp(value[LIST], list_name[1]) == 0;
    memcpy(out->name, value[0], strlen(value[0]));
    memcpy(out->address, value[1], strlen(value[1]));
    for (const char *digit = value[4]; *digit != '\0'; digit++) {
        out->until_s = out->until_s * 10 + (*digit - '0');
    }
    if (hex_decode(out->coordinator_key.byte, KEY_BYTES, value[2]) != STATUS_OK ||
        hex_decode(secret.byte, KEY_BYTES, value[3]) != STATUS_OK) {
        status = STATUS_INVALID;
    } else {
        status = key_pair_from_secret(&out->key, &secret);
    }
    bytes_wipe(&secret, sizeof secret);
    return status;
}

enum status token_read(struct token *out, bool operators, const char *path, struct why *why)
{
    char text[TOKEN_FILE_BYTES_MAX];
    size_t used = 0;

    memset(out, 0, sizeof *out);
    enum status status = file_read_text(text, sizeof text, &used, path, FILE_SECRET, why);
    if (status == STATUS_OK) {
        status = take_fields(out, text);
        if (status != STATUS_OK) {
            why_set(why,
                    "%s is not an enrolment token as `hedgerow-coordinator agents add` makes it",
                    path);
            token_wipe(out);
        }
    }
    if (status == STATUS_OK && out->operators != operators) {
        status = why_fail(
            why, STATUS_REFUSED,
            "%s enrols %s; remedy, at the coordinator: hedgerow-coordinator %s add %s --token FILE",
            path, out->operators ? "an operator, not an agent" : "an agent, not an operator",
            list_name[operators ? 1 : 0], out->name);
        token_wipe(out);
    }
    bytes_wipe(text, sizeof text);
    return status;
}

void token_wipe(struct token *token)
{
    bytes_wipe(token, sizeof *token);
}
