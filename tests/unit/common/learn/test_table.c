/* Tables that gzip has packed: read like plain ones, refused as a whole when they are damaged, and in
 * memory that does not depend on them. */

#include "learn/csv.h"
#include "learn/table.h"
#include "tests/support/quiet_fork.h"

#include <criterion/criterion.h>
#include <fcntl.h>
#include <malloc.h>
#include <poll.h>
#include <stdio.h>
#include <stdio_ext.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

enum { PACKED_MAX = 1 << 20 };

struct packed {
    unsigned char byte[PACKED_MAX];
    size_t size;
};

static void pack_repeated(struct packed *packed, const char *text, size_t size, size_t times)
{
    z_stream stream = {.next_out = packed->byte + packed->size,
                       .avail_out = (uInt)(PACKED_MAX - packed->size)};
    cr_assert(deflateInit2(&stream, 9, Z_DEFLATED, 15 + 16, 9, Z_DEFAULT_STRATEGY) == Z_OK);
    for (size_t i = 0; i < times; i++) {
        stream.next_in = (z_const Bytef *)text;
        stream.avail_in = (uInt)size;
        const int code = deflate(&stream, i + 1 == times ? Z_FINISH : Z_NO_FLUSH);
        cr_assert(code == (i + 1 == times ? Z_STREAM_END : Z_OK) && stream.avail_in == 0);
    }
    packed->size = PACKED_MAX - stream.avail_out;
    (void)deflateEnd(&stream);
}

static void pack(struct packed *packed, const char *text)
{
    pack_repeated(packed, text, strlen(text), 1);
}

static enum status open_bytes(FILE **file, const void *bytes, size_t size, struct why *why)
{
    char path[] = "/tmp/hedgerow-table-XXXXXX";
    const int fd = mkstemp(path);
    cr_assert(fd >= 0 && write(fd, bytes, size) == (ssize_t)size);
    (void)close(fd);
    const enum status status = table_open(file, path, why);
    (void)unlink(path);
    return status;
}

/* Reads all records; returns how many, and the status with which reading ended. */
static size_t records_of(FILE *file, enum status *status)
{
    struct csv *csv = NULL;
    bool done = false;
    size_t count = 0;
    cr_assert(csv_new(&csv, file, "t", ',') == STATUS_OK);
    for (;; count++) {
        *status = csv_next(csv, &done, NULL);
        if (*status != STATUS_OK || done) {
            break;
        }
    }
    csv_free(csv);
    (void)fclose(file);
    return count;
}

static struct packed *fresh(void)
{
    struct packed *packed = calloc(1, sizeof *packed);
    cr_assert_not_null(packed);
    return packed;
}

Test(table, reads_packed_records_of_one_member_of_several_and_padded_as_plain_ones)
{
    struct packed *packed = fresh();
    struct why why = {{0}};
    FILE *file = NULL;
    enum status status;
    cr_assert(open_bytes(&file, "a,b\n1,2\n", 8, &why) == STATUS_OK);
    cr_expect_eq(records_of(file, &status), 2);

    pack(packed, "a,b\n1,2\n3,");
    cr_assert(open_bytes(&file, packed->byte, packed->size, &why) == STATUS_OK);
    cr_expect_eq(records_of(file, &status), 3);
    pack(packed, "4\n5,6\n");
    pack(packed, "");
    cr_assert(open_bytes(&file, packed->byte, packed->size, &why) == STATUS_OK);
    char text[64] = "";
    cr_expect_eq(fread(text, 1, sizeof text, file), 16);
    cr_expect_str_eq(text, "a,b\n1,2\n3,4\n5,6\n");
    (void)fclose(file);
    packed->size += 1024; /* of zeros */
    cr_assert(open_bytes(&file, packed->byte, packed->size, &why) == STATUS_OK);
    cr_expect_eq(records_of(file, &status), 4);
    cr_expect_eq(status, STATUS_OK);
    free(packed);
}

static void expect_refused(enum status status, FILE *file, const struct why *why, const char *words)
{
    cr_expect_eq(status, STATUS_INVALID, "%s", words);
    cr_expect_null(file);
    cr_expect_not_null(strstr(why->text, words), "%s", why->text);
}

/* Planted: a pipe whose writer never comes stopped the program for ever, at opening or at the first
 * byte. */
Test(table, what_is_no_file_is_refused_at_once, .timeout = 30)
{
    static const struct {
        const char *path;
        const char *words;
    } item[] = {{"/dev/zero", "is a device, not a file"},
                {"/dev/null", "is a device, not a file"},
                {"/tmp", "is a folder, not a table"}};
    char folder[] = "/tmp/hedgerow-table-XXXXXX";
    char path[64];
    char link[64];
    struct why why = {{0}};
    FILE *file = NULL;
    for (size_t i = 0; i < sizeof item / sizeof item[0]; i++) {
        expect_refused(table_open(&file, item[i].path, &why), file, &why, item[i].words);
        expect_refused(table_open_once(&file, item[i].path, &why), file, &why, item[i].words);
        cr_expect_not(table_is_packed(item[i].path));
    }
    cr_assert_not_null(mkdtemp(folder));
    (void)snprintf(path, sizeof path, "%s/pipe", folder);
    (void)snprintf(link, sizeof link, "%s/link", folder);
    cr_assert(mkfifo(path, 0600) == 0 && symlink(path, link) == 0);
    expect_refused(table_open(&file, path, &why), file, &why, "is a pipe, which may never");
    expect_refused(table_open(&file, link, &why), file, &why, "is a pipe, which may never");
    expect_refused(table_open_once(&file, path, &why), file, &why, "write the records to a file");
    expect_refused(table_open_once(&file, link, &why), file, &why, "write the records to a file");
    cr_expect_not(table_is_packed(path));
    const int writer = open(path, O_RDWR); /* and with a writer that says nothing */
    cr_assert_geq(writer, 0);
    expect_refused(table_open(&file, path, &why), file, &why, "is a pipe, which may never");
    (void)close(writer);
    (void)unlink(link);
    (void)unlink(path);
    (void)rmdir(folder);
}

/* The file of `describe <(head records.csv)`: the reader waits for what the writer writes later. */
Test(table, a_pipe_without_a_name_is_read_once, .timeout = 30)
{
    char path[32];
    char text[16] = "";
    int end[2];
    struct why why = {{0}};
    FILE *file = NULL;
    cr_assert_eq(pipe(end), 0);
    (void)snprintf(path, sizeof path, "/dev/fd/%d", end[0]);
    expect_refused(table_open(&file, path, &why), file, &why, "is a pipe, which may never");
    const pid_t child = quiet_fork();
    cr_assert_geq(child, 0);
    if (child == 0) {
        (void)poll(NULL, 0, 200);
        _exit(write(end[1], "a,b\n1,2\n", 8) == 8 ? 0 : 1);
    }
    (void)close(end[1]);
    cr_assert_eq(table_open_once(&file, path, &why), STATUS_OK, "%s", why.text);
    cr_expect_eq(fread(text, 1, sizeof text, file), 8);
    cr_expect_str_eq(text, "a,b\n1,2\n");
    (void)fclose(file);
    (void)close(end[0]);
}

/* stdio frees a stream's buffer unwiped. The first stream, opened as usual, is the planted fault. */
Test(table, no_stream_keeps_records_in_a_buffer_of_its_own)
{
    struct packed *packed = fresh();
    FILE *file = fopen("/proc/self/maps", "re");
    struct why why = {{0}};
    char text[16];
    cr_assert(file != NULL && fread(text, 1, 4, file) == 4);
    cr_expect_gt(__fbufsize(file), 1);
    (void)fclose(file);
    pack(packed, "a,b\n1,2\n");
    for (int packs = 0; packs < 2; packs++) {
        cr_assert((packs == 0 ? open_bytes(&file, "a,b\n1,2\n", 8, &why)
                              : open_bytes(&file, packed->byte, packed->size, &why)) == STATUS_OK);
        cr_assert_eq(fread(text, 1, 4, file), 4);
        cr_expect_leq(__fbufsize(file), 1);
        (void)fclose(file);
    }
    free(packed);
}

/* The planted fault, an opening that does not look at the whole file, would open the longer ones of these:
 * a site's readiness then depended on how many of its rows come before the damage. */
Test(table, refuses_packed_data_that_are_cut_anywhere_or_changed)
{
    struct packed *packed = fresh();
    struct why why;
    FILE *file = NULL;
    char rows[4000];
    for (size_t i = 0; i < sizeof rows; i++) {
        rows[i] = i % 8 == 7 ? '\n' : (char)('0' + i * i % 7);
    }
    pack_repeated(packed, rows, sizeof rows, 1);
    for (size_t size = 2; size < packed->size; size += size < 24 ? 1 : 13) {
        why = (struct why){{0}};
        cr_expect_eq(open_bytes(&file, packed->byte, size, &why), STATUS_INVALID, "%zu", size);
        cr_expect(strstr(why.text, "end too early") != NULL, "%s", why.text);
        cr_expect_null(file);
    }
    for (size_t at = packed->size - 8; at < packed->size; at++) {
        packed->byte[at] ^= 1;
        cr_expect_eq(open_bytes(&file, packed->byte, packed->size, &why), STATUS_INVALID);
        cr_expect(strstr(why.text, "damaged") != NULL, "%s", why.text);
        packed->byte[at] ^= 1;
    }
    memcpy(packed->byte + packed->size, "rest", 4);
    cr_expect_eq(open_bytes(&file, packed->byte, packed->size + 4, &why), STATUS_INVALID);
    free(packed);
}

/* 64 MB of one line, in 64 KB. */
Test(table, unpacks_a_bomb_in_fixed_memory_and_reads_its_one_line_as_one_record)
{
    struct packed *packed = fresh();
    struct why why = {{0}};
    FILE *file = NULL;
    enum status status;
    char *piece = malloc(1 << 20);
    cr_assert_not_null(piece);
    memset(piece, 'x', 1 << 20);
    pack_repeated(packed, piece, 1 << 20, 64);
    free(piece);
    const size_t before = mallinfo2().uordblks + mallinfo2().hblkhd;
    cr_assert(open_bytes(&file, packed->byte, packed->size, &why) == STATUS_OK, "%s", why.text);
    const size_t taken = mallinfo2().uordblks + mallinfo2().hblkhd - before;
    cr_expect(taken < TABLE_UNPACK_BYTES + 16384, "%zu bytes", taken);
    cr_expect_eq(records_of(file, &status), 1);
    cr_expect_eq(status, STATUS_OK);
    free(packed);
}
