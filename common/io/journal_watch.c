#include "io/journal_watch.h"

#include "io/worker.h"
#include "protocol/wire.h"

#include <string.h>

struct noting {
    const struct journal_watch *watch;
    struct record record;
    struct slice blob;
};

static void note(void *self)
{
    const struct noting *noting = self;
    noting->watch->note(noting->watch->self, &noting->record, noting->blob);
}

/* A journal that waits for a server is read beside the loop, and those that are told belong to the loop. */
static void tell(const struct journal_watch *watch, struct slice body, struct slice blob)
{
    struct noting noting = {.watch = watch, .blob = blob};
    if (wire_decode_record(&noting.record, body) == STATUS_OK) {
        (void)!worker_on_owner(note, &noting);
        record_free(&noting.record);
    }
}

static enum status append(void *self, uint64_t *sequence, struct slice body, struct slice blob)
{
    const struct journal_watch *watch = self;
    return watch->inner.append(watch->inner.self, sequence, body, blob);
}

static enum status append_known(void *self, uint64_t *sequence, struct slice body,
                                struct slice blob, const struct digest *digest)
{
    const struct journal_watch *watch = self;
    return watch->inner.append_known(watch->inner.self, sequence, body, blob, digest);
}

static void told(void *self, struct slice body, struct slice blob)
{
    tell(self, body, blob);
}

static enum status forget(void *self, uint64_t sequence)
{
    const struct journal_watch *watch = self;
    return watch->inner.forget(watch->inner.self, sequence);
}

static enum status settle(void *self)
{
    const struct journal_watch *watch = self;
    return watch->inner.settle(watch->inner.self);
}

static enum status wipe(void *self, uint64_t sequence)
{
    const struct journal_watch *watch = self;
    return watch->inner.wipe(watch->inner.self, sequence);
}

struct reading {
    const struct journal_watch *watch;
    journal_visit *visit;
    void *visit_self;
};

static enum status read_one(void *self, uint64_t sequence, struct slice body, struct slice blob)
{
    const struct reading *reading = self;
    enum status status = reading->visit(reading->visit_self, sequence, body, blob);
    if (status == STATUS_OK) {
        tell(reading->watch, body, blob);
    }
    return status;
}

static enum status each(void *self, journal_visit *visit, void *visit_self, struct why *why)
{
    const struct journal_watch *watch = self;
    struct reading reading = {watch, visit, visit_self};
    return watch->inner.each(watch->inner.self, read_one, &reading, why);
}

static const char *trouble(const void *self)
{
    const struct journal_watch *watch = self;
    return watch->inner.trouble(watch->inner.self);
}

static void end(void *self)
{
    struct journal_watch *watch = self;
    journal_close(&watch->inner);
}

void journal_watch_begin(struct journal_watch *watch, struct journal *journal)
{
    watch->inner = *journal;
    *journal =
        (struct journal){.self = watch,
                         .waits = watch->inner.waits,
                         .append = append,
                         .append_known = watch->inner.append_known != NULL ? append_known : NULL,
                         .told = told,
                         .forget = forget,
                         .settle = watch->inner.settle != NULL ? settle : NULL,
                         .wipe = wipe,
                         .each = each,
                         .trouble = trouble,
                         .close = end};
}
