#include "crypto/key.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static struct why why;
static char secret_path[64];
static char public_path[64];
static char folder[32];

static void setup(void)
{
    snprintf(folder, sizeof folder, "/tmp/hedgerow-key-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    snprintf(secret_path, sizeof secret_path, "%s/k.key", folder);
    snprintf(public_path, sizeof public_path, "%s/k.pub", folder);
}

static void teardown(void)
{
    unlink(secret_path);
    unlink(public_path);
    rmdir(folder);
}

static void write_text(const char *path, const char *text)
{
    FILE *file = fopen(path, "w");
    cr_assert(file != NULL && fputs(text, file) >= 0 && fclose(file) == 0);
}

Test(key, the_public_half_is_x25519)
{
    /* RFC 7748, section 6.1: Alice's pair. */
    struct digest secret;
    struct key_pair pair;
    char hex[KEY_HEX_BYTES];
    cr_assert_eq(hex_decode(secret.byte, KEY_BYTES,
                            "77076d0a7318a57d3c16c17251b26645df4c2f87ebc0992ab177fba51db92c2a"),
                 STATUS_OK);
    cr_assert_eq(key_pair_from_secret(&pair, &secret), STATUS_OK);
    hex_encode(hex, pair.public_key.byte, KEY_BYTES);
    cr_expect_str_eq(hex, "8520f0098930a754748b7ddcb43ef75a0dbf3a0d26381af4eba4a98eaa9b4e6a");
}

Test(key, pairs_differ_and_follow_from_their_secret)
{
    struct key_pair one;
    struct key_pair two;
    struct key_pair again;
    cr_assert_eq(key_pair_generate(&one), STATUS_OK);
    cr_assert_eq(key_pair_generate(&two), STATUS_OK);
    cr_expect(!digest_equal(&one.secret_key, &two.secret_key));
    cr_assert_eq(key_pair_from_secret(&again, &one.secret_key), STATUS_OK);
    cr_expect(digest_equal(&again.public_key, &one.public_key));
    struct digest none = {{0}};
    cr_expect_eq(key_pair_from_secret(&again, &none), STATUS_INVALID);
}

Test(key, files_come_back_and_are_never_replaced, .init = setup, .fini = teardown)
{
    struct key_pair pair;
    struct key_pair read;
    struct digest public_key;
    struct stat about;
    cr_assert_eq(key_pair_generate(&pair), STATUS_OK);
    cr_assert_eq(key_pair_write(&pair, NULL, secret_path, public_path, &why), STATUS_OK);
    cr_assert_eq(stat(secret_path, &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0600);
    cr_assert_eq(key_secret_read(&read, secret_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(digest_equal(&read.secret_key, &pair.secret_key));
    cr_expect(digest_equal(&read.public_key, &pair.public_key));
    cr_assert_eq(key_public_read(&public_key, public_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(digest_equal(&public_key, &pair.public_key));
    cr_expect_eq(key_pair_write(&read, NULL, secret_path, public_path, &why), STATUS_EXISTS);
    unlink(secret_path); /* the public file is still there: no half of a pair is written */
    cr_expect_eq(key_pair_write(&read, NULL, secret_path, public_path, &why), STATUS_EXISTS);
    cr_expect_neq(access(secret_path, F_OK), 0);
}

Test(key, both_halves_come_back_from_their_files, .init = setup, .fini = teardown)
{
    struct key_pair pair;
    struct key_pair signing;
    struct key_pair read;
    struct digest told;
    cr_assert_eq(key_pair_generate(&pair), STATUS_OK);
    cr_assert_eq(key_signing_generate(&signing), STATUS_OK);
    cr_assert_eq(key_pair_write(&pair, &signing, secret_path, public_path, &why), STATUS_OK);
    cr_assert_eq(key_secret_read(&read, secret_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(digest_equal(&read.secret_key, &pair.secret_key));
    cr_assert_eq(key_signing_read(&read, secret_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(digest_equal(&read.secret_key, &signing.secret_key));
    cr_expect(digest_equal(&read.public_key, &signing.public_key));
    cr_assert_eq(key_signing_public_read(&told, public_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(digest_equal(&told, &signing.public_key));
    cr_expect_eq(key_signing_add(&signing, secret_path, public_path, &why), STATUS_EXISTS);
}

Test(key, a_key_of_before_is_told_how_it_gets_its_signing_half, .init = setup, .fini = teardown)
{
    struct key_pair pair;
    struct key_pair signing;
    struct key_pair read;
    struct digest told;
    struct stat about;
    cr_assert_eq(key_pair_generate(&pair), STATUS_OK);
    cr_assert_eq(key_signing_generate(&signing), STATUS_OK);
    cr_assert_eq(key_pair_write(&pair, NULL, secret_path, public_path, &why), STATUS_OK);
    cr_expect_eq(key_signing_read(&read, secret_path, &why), STATUS_UNSUPPORTED);
    cr_expect_not_null(strstr(why.text, "hedgerow keygen --add-signing "), "%s", why.text);
    cr_expect_not_null(strstr(why.text, secret_path), "%s", why.text);
    cr_expect_eq(key_signing_public_read(&told, public_path, &why), STATUS_UNSUPPORTED);
    cr_assert_eq(key_signing_add(&signing, secret_path, public_path, &why), STATUS_OK, "%s",
                 why.text);
    cr_assert_eq(stat(secret_path, &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0600);
    cr_assert_eq(key_secret_read(&read, secret_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(digest_equal(&read.secret_key, &pair.secret_key), "the other half stays");
    cr_assert_eq(key_signing_read(&read, secret_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(digest_equal(&read.public_key, &signing.public_key));
    cr_assert_eq(key_signing_public_read(&told, public_path, &why), STATUS_OK, "%s", why.text);
    cr_expect(digest_equal(&told, &signing.public_key));
}

Test(key, a_secret_that_others_may_read_is_refused, .init = setup, .fini = teardown)
{
    struct key_pair pair;
    cr_assert_eq(key_pair_generate(&pair), STATUS_OK);
    cr_assert_eq(key_pair_write(&pair, NULL, secret_path, public_path, &why), STATUS_OK);
    static const mode_t open_modes[] = {0640, 0604, 0620, 0601};
    for (size_t i = 0; i < sizeof open_modes / sizeof open_modes[0]; i++) {
        cr_assert_eq(chmod(secret_path, open_modes[i]), 0);
        cr_expect_eq(key_secret_read(&pair, secret_path, &why), STATUS_INVALID);
        cr_expect_not_null(strstr(why.text, "chmod 600"));
        cr_expect(digest_is_none(&pair.secret_key));
    }
}

Test(key, one_half_is_never_taken_for_the_other, .init = setup, .fini = teardown)
{
    struct key_pair pair;
    struct digest key;
    cr_assert_eq(key_pair_generate(&pair), STATUS_OK);
    cr_assert_eq(key_pair_write(&pair, NULL, secret_path, public_path, &why), STATUS_OK);
    cr_expect_eq(key_public_read(&key, secret_path, &why), STATUS_INVALID);
    cr_expect(digest_is_none(&key));
    cr_expect_not_null(strstr(why.text, "holds a secret key"));
    cr_assert_eq(chmod(public_path, 0600), 0);
    cr_expect_eq(key_secret_read(&pair, public_path, &why), STATUS_INVALID);
    cr_expect(digest_is_none(&pair.secret_key));
    cr_expect_not_null(strstr(why.text, "holds a public key"));
}

Test(key, what_is_not_a_key_file_is_refused_without_repeating_it, .init = setup, .fini = teardown)
{
    static const char two_keys[] =
        "aa000000000000000000000000000000000000000000000000000000000000aa\n"
        "bb000000000000000000000000000000000000000000000000000000000000bb\n";
    static const char two_signing_keys[] =
        "aa000000000000000000000000000000000000000000000000000000000000aa\n"
        "signing aa000000000000000000000000000000000000000000000000000000000000aa\n"
        "signing bb000000000000000000000000000000000000000000000000000000000000bb\n";
    const char *const wrong[] = {
        "",
        "# only a comment\n",
        "abc\n",
        "aa000000000000000000000000000000000000000000000000000000000000a\n",
        "aa000000000000000000000000000000000000000000000000000000000000aag\n",
        "zz00000000000000000000000000000000000000000000000000000000000000\n",
        "0000000000000000000000000000000000000000000000000000000000000000\n",
        two_keys,
        "signing aa000000000000000000000000000000000000000000000000000000000000aa\n",
        "aa000000000000000000000000000000000000000000000000000000000000aa\nsigning \n",
        two_signing_keys,
    };
    struct key_pair pair;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        write_text(secret_path, wrong[i]);
        cr_assert_eq(chmod(secret_path, 0600), 0);
        cr_expect_eq(key_secret_read(&pair, secret_path, &why), STATUS_INVALID, "%s", wrong[i]);
        cr_expect_null(strstr(why.text, "0000000"));
    }
    cr_expect_eq(key_secret_read(&pair, public_path, &why), STATUS_NOT_FOUND);
    cr_expect_not_null(strstr(why.text, "make a key: hedgerow keygen --out "), "%s", why.text);
    cr_expect_eq(key_secret_read(&pair, folder, &why), STATUS_INVALID);
    struct digest key;
    cr_expect_eq(key_public_parse(&key, "aa", &why), STATUS_INVALID);
    cr_expect_eq(
        key_public_parse(&key, "aa000000000000000000000000000000000000000000000000000000000000aa",
                         &why),
        STATUS_OK);
}
