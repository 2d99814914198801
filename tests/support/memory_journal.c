#include "support/memory_journal.h"

#include <stdlib.h>
#include <string.h>

void memory_journal_init(struct memory_journal *journal)
{
    memset(journal, 0, sizeof *journal);
}

void memory_journal_free(struct memory_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++) {
        free(journal->record[i].body);
        free(journal->record[i].blob);
    }
    free(journal->record);
    memory_journal_init(journal);
}

void memory_journal_plan(struct memory_journal *journal, unsigned countdown,
                         enum journal_fault fault)
{
    journal->countdown = countdown;
    journal->fault = fault;
}

static uint8_t *copy_of(struct slice bytes)
{
    uint8_t *copy = malloc(bytes.size + 1);
    if (copy == NULL) {
        abort();
    }
    if (bytes.size > 0) {
        memcpy(copy, bytes.data, bytes.size);
    }
    return copy;
}

static void keep(struct memory_journal *journal, struct slice body, struct slice blob)
{
    struct memory_record *grown =
        realloc(journal->record, (journal->count + 1) * sizeof *journal->record);
    if (grown == NULL) {
        abort();
    }
    journal->record = grown;
    grown[journal->count++] = (struct memory_record){.body = copy_of(body),
                                                     .body_size = body.size,
                                                     .blob = copy_of(blob),
                                                     .blob_size = blob.size};
}

/* What was forgotten stays so. */
static void settle(struct memory_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++) {
        journal->record[i].is_back_after_death = false;
    }
}

void memory_journal_die(struct memory_journal *journal)
{
    for (size_t i = 0; i < journal->count; i++) {
        struct memory_record *record = &journal->record[i];
        record->forgotten = record->forgotten && !record->is_back_after_death;
        record->is_back_after_death = false;
    }
}

/* Returns the fault that this call meets. */
static enum journal_fault meet(struct memory_journal *journal)
{
    if (journal->broken) {
        return JOURNAL_UNKNOWN_LOST;
    }
    if (journal->countdown == 0 || --journal->countdown > 0) {
        return JOURNAL_SOUND;
    }
    journal->broken = journal->fault != JOURNAL_SOUND;
    return journal->fault;
}

static enum status status_of(enum journal_fault fault)
{
    if (fault == JOURNAL_SOUND) {
        return STATUS_OK;
    }
    return fault == JOURNAL_FAILS ? STATUS_IO : STATUS_UNKNOWN_OUTCOME;
}

enum status memory_journal_append(struct memory_journal *journal, uint64_t *sequence,
                                  struct slice body, struct slice blob)
{
    enum journal_fault fault = meet(journal);
    if (fault == JOURNAL_SOUND || fault == JOURNAL_UNKNOWN_KEPT) {
        settle(journal);
        keep(journal, body, blob);
    }
    *sequence = journal->count;
    return status_of(fault);
}

enum status memory_journal_forget(struct memory_journal *journal, uint64_t sequence)
{
    enum journal_fault fault = meet(journal);
    bool kept = fault == JOURNAL_SOUND || fault == JOURNAL_UNKNOWN_KEPT;
    if (kept && sequence >= 1 && sequence <= journal->count) {
        struct memory_record *record = &journal->record[sequence - 1];
        record->is_back_after_death = record->is_back_after_death || !record->forgotten;
        record->forgotten = true;
    }
    return status_of(fault);
}

struct slice memory_journal_body(const struct memory_journal *journal, uint64_t sequence)
{
    const struct memory_record *record = &journal->record[sequence - 1];
    return (struct slice){.data = record->body, .size = record->body_size};
}

struct slice memory_journal_blob(const struct memory_journal *journal, uint64_t sequence)
{
    const struct memory_record *record = &journal->record[sequence - 1];
    return record->forgotten ? (struct slice){0}
                             : (struct slice){.data = record->blob, .size = record->blob_size};
}

static enum status append(void *self, uint64_t *sequence, struct slice body, struct slice blob)
{
    return memory_journal_append(self, sequence, body, blob);
}

static enum status forget(void *self, uint64_t sequence)
{
    return memory_journal_forget(self, sequence);
}

static enum status wipe(void *self, uint64_t sequence)
{
    const enum status status = memory_journal_forget(self, sequence);
    if (status == STATUS_OK) {
        settle(self);
    }
    return status;
}

static enum status each(void *self, journal_visit *visit, void *visit_self, UNUSED struct why *why)
{
    const struct memory_journal *journal = self;
    enum status status = STATUS_OK;
    for (uint64_t i = 1; i <= journal->count && status == STATUS_OK; i++) {
        status =
            visit(visit_self, i, memory_journal_body(journal, i), memory_journal_blob(journal, i));
    }
    return status;
}

static const char *trouble(UNUSED const void *self)
{
    return "";
}

static void end(UNUSED void *self)
{
}

struct journal memory_journal_open(struct memory_journal *journal)
{
    journal->broken = false;
    journal->countdown = 0;
    return (struct journal){.self = journal,
                            .append = append,
                            .forget = forget,
                            .wipe = wipe,
                            .each = each,
                            .trouble = trouble,
                            .close = end};
}
