#include "base/bytes.h"
#include "cli/command.h"
#include "config/options.h"
#include "crypto/key.h"

#include <stdio.h>

enum { PATH_BYTES = 4096 };

static enum exit_code run(const struct command *command, int count, char **argument)
{
    const char *out = NULL;
    char public_path[PATH_BYTES];
    char text[KEY_HEX_BYTES];
    struct key_pair pair;
    struct why why = {""};
    const struct option option[] = {
        {.name = "--out", .text = &out, .required = true, .what = "DIR/NAME"}};

    if (options_read(option, sizeof option / sizeof option[0], count, argument, &why) !=
        STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    if (snprintf(public_path, sizeof public_path, "%s.pub", out) >= (int)sizeof public_path) {
        return command_fail(command, EXIT_CODE_INPUT, "the path is too long");
    }
    enum status status = key_pair_generate(&pair);
    if (status != STATUS_OK) {
        return command_end(command, status, &why);
    }
    status = key_pair_write(&pair, out, public_path, &why);
    hex_encode(text, &pair.public_key, sizeof pair.public_key);
    key_pair_wipe(&pair);
    if (status != STATUS_OK) {
        return command_end(command, status, &why);
    }
    (void)printf("secret key  %s   (stays here; nobody else may read it)\n"
                 "public key  %s   (give this one to those you talk to)\n%s\n",
                 out, public_path, text);
    return EXIT_CODE_OK;
}

const struct command command_keygen = {
    .name = "keygen",
    .summary = "make a key pair at the site that will use it",
    .help =
        "usage: hedgerow keygen --out DIR/NAME\n\n"
        "Writes the secret key to DIR/NAME, readable by its owner alone, and the public key to\n"
        "DIR/NAME.pub, and prints the public key. Existing files are never replaced.\n\n"
        "example:\n"
        "  hedgerow keygen --out /etc/hedgerow/key\n",
    .run = run,
};
