#include "io/token.h"

#include "scratch.h"

#include <criterion/criterion.h>
#include <sys/stat.h>

static struct scratch scratch;
static struct why why;

static void setup(void)
{
    scratch_make(&scratch);
}

static void teardown(void)
{
    scratch_remove(&scratch);
}

static struct token a_token(void)
{
    struct token token = {
        .name = "hospital-1", .address = "tcp://10.0.0.1:7310", .until_s = 1800000000};
    cr_assert_eq(key_pair_generate(&token.key), STATUS_OK);
    token.coordinator_key = token.key.public_key;
    return token;
}

Test(token, comes_back_as_it_was_written, .init = setup, .fini = teardown)
{
    struct token token = a_token();
    struct token read;
    struct stat about;
    const char *path = scratch_path(&scratch, "token");
    cr_assert_eq(token_write(&token, path, &why), STATUS_OK);
    cr_expect_eq(token_write(&token, path, &why), STATUS_EXISTS);
    cr_assert_eq(stat(path, &about), 0);
    cr_expect_eq(about.st_mode & 0777, 0600);
    cr_assert_eq(token_read(&read, false, path, &why), STATUS_OK, "%s", why.text);
    cr_expect_str_eq(read.name, token.name);
    cr_expect_str_eq(read.address, token.address);
    cr_expect(digest_equal(&read.key.secret_key, &token.key.secret_key));
    cr_expect(digest_equal(&read.key.public_key, &token.key.public_key));
    cr_expect(digest_equal(&read.coordinator_key, &token.coordinator_key));
    cr_expect_eq(read.until_s, token.until_s);
    cr_assert_eq(chmod(path, 0640), 0);
    cr_expect_eq(token_read(&read, false, path, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, "chmod 600"));
}

Test(token, enrols_to_one_list_alone, .init = setup, .fini = teardown)
{
    struct token read;
    const char *path = scratch_path(&scratch, "token");
    for (int operators = 0; operators < 2; operators++) {
        struct token token = a_token();
        token.operators = operators != 0;
        (void)remove(path);
        cr_assert_eq(token_write(&token, path, &why), STATUS_OK);
        cr_assert_eq(token_read(&read, token.operators, path, &why), STATUS_OK, "%s", why.text);
        cr_expect_eq(read.operators, token.operators);
        cr_expect_eq(token_read(&read, !token.operators, path, &why), STATUS_REFUSED);
        cr_expect_not_null(strstr(why.text, operators ? "agents add" : "operators add"));
        cr_expect_eq(read.until_s, 0);
    }
}

Test(token, damage_is_refused_without_repeating_a_secret, .init = setup, .fini = teardown)
{
    struct token token = a_token();
    struct token read;
    char text[2048];
    char secret[KEY_HEX_BYTES];
    const char *path = scratch_path(&scratch, "token");
    cr_assert_eq(token_write(&token, path, &why), STATUS_OK);
    FILE *file = fopen(path, "r");
    size_t size = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[size] = '\0';
    hex_encode(secret, token.key.secret_key.byte, KEY_BYTES);
    for (size_t cut = 0; cut + 1 < size; cut++) { /* the last byte is only a line's end */
        char part[2048];
        snprintf(part, sizeof part, "%.*s", (int)cut, text);
        scratch_write(path, part);
        enum status status = token_read(&read, false, path, &why);
        /* A shorter number at the end is still a number. */
        bool number = strstr(part, "valid-until ") != NULL && part[cut - 1] != ' ';
        cr_expect_eq(status, number ? STATUS_OK : STATUS_INVALID, "%zu", cut);
        cr_expect_null(strstr(why.text, secret));
    }
    scratch_write(path, strcat(text, "name other\n"));
    cr_expect_eq(token_read(&read, false, path, &why), STATUS_INVALID);
}
