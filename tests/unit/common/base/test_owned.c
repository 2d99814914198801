#include "base/owned.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct place {
    char folder[64];
    char file[96];
};

static void make(struct place *place)
{
    (void)snprintf(place->folder, sizeof place->folder, "/tmp/hedgerow-owned-XXXXXX");
    cr_assert_not_null(mkdtemp(place->folder));
    (void)snprintf(place->file, sizeof place->file, "%s/policy.yml", place->folder);
    FILE *file = fopen(place->file, "w");
    cr_assert_not_null(file);
    cr_assert_eq(fclose(file), 0);
    cr_assert_eq(chmod(place->file, 0644), 0);
}

static void unmake(struct place *place)
{
    (void)unlink(place->file);
    (void)rmdir(place->folder);
}

static void refuses(const struct place *place, const char *remedy)
{
    struct why why = {{0}};
    cr_expect_eq(owned_source(place->file, &why), STATUS_INVALID);
    cr_expect_not_null(strstr(why.text, remedy), "%s", why.text);
}

Test(owned, takes_a_file_of_ones_own_in_a_folder_of_ones_own)
{
    struct place place;
    struct why why = {{0}};
    make(&place);
    cr_expect_eq(owned_source(place.file, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(owned_source("/tmp/no/such/file", &why), STATUS_OK, "the reader tells of it");
    unmake(&place);
}

Test(owned, refuses_a_file_that_others_may_write)
{
    static const mode_t mode[] = {0666, 0664, 0646};
    struct place place;
    char remedy[128];
    make(&place);
    (void)snprintf(remedy, sizeof remedy, "chmod go-w %s", place.file);
    for (size_t i = 0; i < sizeof mode / sizeof mode[0]; i++) {
        cr_assert_eq(chmod(place.file, mode[i]), 0);
        refuses(&place, remedy);
    }
    unmake(&place);
}

Test(owned, refuses_a_file_that_others_may_replace)
{
    struct place place;
    struct why why = {{0}};
    char remedy[128];
    make(&place);
    (void)snprintf(remedy, sizeof remedy, "chmod go-w %s", place.folder);
    cr_assert_eq(chmod(place.folder, 0777), 0);
    refuses(&place, remedy);
    cr_assert_eq(chmod(place.folder, 01777), 0);
    cr_expect_eq(owned_source(place.file, &why), STATUS_OK, "sticky, as /tmp: %s", why.text);
    unmake(&place);
}

Test(owned, judges_a_link_by_where_it_stands_and_where_it_leads)
{
    struct place open;
    struct place closed;
    struct place link;
    make(&open);
    make(&closed);
    cr_assert_eq(chmod(open.folder, 0777), 0);
    link = closed;
    (void)snprintf(link.file, sizeof link.file, "%s/link.yml", closed.folder);
    cr_assert_eq(symlink(open.file, link.file), 0);
    refuses(&link, open.folder);
    (void)unlink(link.file);
    (void)snprintf(link.file, sizeof link.file, "%s/link.yml", open.folder);
    cr_assert_eq(symlink(closed.file, link.file), 0);
    refuses(&link, open.folder);
    (void)unlink(link.file);
    unmake(&open);
    unmake(&closed);
}

/* Without root there is nothing to try: only root can give a file away. */
static void needs_root(void)
{
    if (geteuid() != 0) {
        cr_skip("needs root");
    }
}

/* The program's account, the owner of the file, the owner of its folder; and the remedy, NULL if the
 * file is accepted. */
Test(owned, takes_files_and_folders_of_its_own_account_and_of_root_alone)
{
    static const struct {
        uid_t self;
        uid_t file;
        uid_t folder;
        const char *remedy;
    } rows[] = {
        {54321, 12345, 54321, "chown 54321"},
        {54321, 54321, 12345, "chown 54321"},
        {54321, 54321, 54321, NULL},
        {54321, 0, 0, NULL},
        {0, 65534, 0, "chown 0"},
        {0, 0, 65534, "chown 0"},
        {0, 65534, 65534, "chown 0"},
        {0, 0, 0, NULL},
    };
    struct place place;
    struct why why = {{0}};
    needs_root();
    make(&place);
    cr_assert_eq(chmod(place.folder, 0755), 0);
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        cr_assert_eq(chown(place.file, rows[i].file, rows[i].file), 0);
        cr_assert_eq(chown(place.folder, rows[i].folder, rows[i].folder), 0);
        cr_assert_eq(seteuid(rows[i].self), 0);
        if (rows[i].remedy == NULL) {
            cr_expect_eq(owned_source(place.file, &why), STATUS_OK, "%zu: %s", i, why.text);
        } else {
            refuses(&place, rows[i].remedy);
        }
        cr_assert_eq(seteuid(0), 0);
    }
    unmake(&place);
}
