#include "base/bytes.h"
#include "cli/command.h"
#include "config/options.h"
#include "crypto/key.h"

#include <stdio.h>

enum { PATH_BYTES = 4096 };

static enum exit_code make_pair(const struct command *command, const char *out,
                                const char *public_path)
{
    char text[KEY_HEX_BYTES];
    char signing_text[KEY_HEX_BYTES];
    struct key_pair pair = {0};
    struct key_pair signing = {0};
    struct why why = {""};
    enum status status = key_pair_generate(&pair);
    if (status == STATUS_OK) {
        status = key_signing_generate(&signing);
    }
    if (status == STATUS_OK) {
        status = key_pair_write(&pair, &signing, out, public_path, &why);
    }
    hex_encode(text, &pair.public_key, sizeof pair.public_key);
    hex_encode(signing_text, &signing.public_key, sizeof signing.public_key);
    key_pair_wipe(&pair);
    key_pair_wipe(&signing);
    if (status != STATUS_OK) {
        return command_end(command, status, &why);
    }
    (void)printf("secret key  %s   (stays here; nobody else may read it)\n"
                 "public key  %s   (give this one to those you talk to)\nsigning %s\n%s\n",
                 out, public_path, signing_text, text);
    return EXIT_CODE_OK;
}

static enum exit_code add_signing(const struct command *command, const char *path,
                                  const char *public_path)
{
    char text[KEY_HEX_BYTES];
    struct key_pair signing = {0};
    struct digest told = {{0}};
    struct why why = {""};
    enum status status = key_signing_generate(&signing);
    if (status == STATUS_OK) {
        status = key_signing_add(&signing, path, public_path, &why);
    }
    key_pair_wipe(&signing);
    if (status == STATUS_OK) {
        status = key_signing_public_read(&told, public_path, &why);
    }
    if (status != STATUS_OK) {
        return command_end(command, status, &why);
    }
    hex_encode(text, &told, sizeof told);
    (void)printf("%s and %s have a signing half now; the other half is as it was\nsigning %s\n",
                 path, public_path, text);
    return EXIT_CODE_OK;
}

enum exit_code run_keygen(const struct command *command, int count, char **argument)
{
    const char *out = NULL;
    const char *old = NULL;
    char public_path[PATH_BYTES];
    struct why why = {""};
    const struct option option[] = {{.name = "--out", .text = &out, .what = "DIR/NAME"},
                                    {.name = "--add-signing", .text = &old, .what = "DIR/NAME"}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    if ((out == NULL) == (old == NULL)) {
        return command_fail(command, EXIT_CODE_USAGE,
                            "--out DIR/NAME is missing, or --add-signing DIR/NAME in its place");
    }
    const char *path = out != NULL ? out : old;
    if (snprintf(public_path, sizeof public_path, "%s.pub", path) >= (int)sizeof public_path) {
        return command_fail(command, EXIT_CODE_INPUT, "the path is too long");
    }
    return out != NULL ? make_pair(command, out, public_path)
                       : add_signing(command, old, public_path);
}
