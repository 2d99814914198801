/* Jobs' texts in the journal: once per digest, bounded, the newest stay. */

#include "agent/texts.h"

#include <criterion/criterion.h>
#include <stdlib.h>

static struct texts texts;

static struct digest named(unsigned number)
{
    struct digest digest = {{0}};
    store_u32(digest.byte, number + 1);
    return digest;
}

/* What the journal does beside it. Returns whether the text was written, and counts what was dropped. */
static bool commit(unsigned number, uint64_t sequence, uint64_t bytes, unsigned *dropped)
{
    struct digest digest = named(number);
    uint64_t gone = 0;
    if (texts_has(&texts, &digest)) {
        return false;
    }
    texts_add(&texts, sequence, &digest, bytes);
    while (texts_drop(&texts, &gone)) {
        cr_assert_lt(gone, sequence);
        ++*dropped;
    }
    return true;
}

Test(texts, one_text_is_written_once_however_many_jobs_it_makes)
{
    unsigned dropped = 0;
    cr_expect(commit(1, 1, 65536, &dropped));
    for (uint64_t job = 2; job < 100000; job++) {
        cr_assert_not(commit(1, job, 65536, &dropped));
    }
    cr_expect(texts.count == 1 && texts.bytes == 65536 && dropped == 0);
}

Test(texts, different_texts_are_bounded_in_bytes_and_in_number)
{
    static const uint64_t size[] = {65536, 40000, 1, TEXTS_BYTES_MAX};
    for (size_t i = 0; i < sizeof size / sizeof size[0]; i++) {
        unsigned dropped = 0;
        memset(&texts, 0, sizeof texts);
        for (unsigned job = 0; job < 5000; job++) {
            cr_assert(commit(job, job + 1, size[i], &dropped));
            cr_assert_leq(texts.bytes, TEXTS_BYTES_MAX);
            cr_assert_leq(texts.count, TEXTS_MAX);
            cr_assert_eq(texts.item[texts.count - 1].sequence, job + 1, "the newest stays");
        }
        cr_expect_eq(dropped + texts.count, 5000);
        cr_expect(texts.bytes > TEXTS_BYTES_MAX - 65536 || texts.count == TEXTS_MAX);
    }
}

/* A text that a site uses every day beside a stream of others: it is written again before it could be dropped, and
 * then the older copy goes. */
Test(texts, what_is_in_use_stays)
{
    unsigned dropped = 0;
    unsigned written = 0;
    uint64_t sequence = 0;
    const struct digest used = named(0);
    for (unsigned job = 1; job < 1000; job++) {
        written += commit(0, ++sequence, 3000, &dropped) ? 1 : 0;
        (void)commit(job, ++sequence, 65536, &dropped);
        bool there = false;
        unsigned copies = 0;
        for (size_t i = 0; i < texts.count; i++) {
            copies += digest_equal(&texts.item[i].digest, &used);
            there = there || digest_equal(&texts.item[i].digest, &used);
        }
        cr_assert(there && copies == 1, "job %u", job);
    }
    cr_expect(written > 1 && written < 1000 / 20, "%u", written);
}

/* A journal that was kept by another rule. */
Test(texts, more_than_there_is_room_for_is_no_fault)
{
    uint64_t gone = 0;
    memset(&texts, 0, sizeof texts);
    for (unsigned job = 0; job < 3 * TEXTS_MAX; job++) {
        struct digest digest = named(job);
        texts_add(&texts, job + 1, &digest, 10);
    }
    while (texts_drop(&texts, &gone)) {
    }
    cr_expect_eq(texts.count, TEXTS_MAX);
}
