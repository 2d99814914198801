/* turns.h - a coordinator of a `learn` job that looks by turns, with ten sites on its list that answer as agents do, and a journal from
 * which it can begin anew. */

#ifndef TESTS_UNIT_COORDINATOR_TURNS_H
#define TESTS_UNIT_COORDINATOR_TURNS_H

#include "coordinator/round_state.h"
#include "tests/support/seeded_random.h"

enum { TURNS_LISTED = 10, TURNS_KEPT_MAX = 8, TURNS_TEXT_BYTES = 4096, TURNS_LOOKS = 2 };

struct turns_site {
    bool looked;
    uint32_t slot[TURNS_LOOKS]; /* as it was told last in each round; at first TURNS_NO_SLOT */
    bool answered[TURNS_LOOKS];
};

enum { TURNS_NO_SLOT = 1000000 };

struct turns {
    struct job job;
    char text[TURNS_TEXT_BYTES];
    struct seeded_random seeded;
    struct random random;
    struct coordinator *coordinator;
    struct machine machine;
    struct effects effects;
    struct turns_site site[TURNS_LISTED];
    struct slice body[TURNS_KEPT_MAX]; /* the journal, owned */
    struct slice blob[TURNS_KEPT_MAX];
    size_t kept_count;
    int64_t now_ms;
    size_t collectors; /* 0, or one, named "far" */
};

extern struct turns turns;

void turns_begin(size_t collectors);
void turns_restart(void);
void turns_end(void);
void turns_step(struct event event);
struct peer turns_peer(size_t site);
/** Returns a copy, owned by the caller. */
struct slice turns_copy(struct slice from);

/** A site says that it is ready. Or several do, and the first round has waited for the others. */
void turns_greet(size_t site);
void turns_come(const size_t *who, size_t count);

/** Returns the group that its slot of a round gives a site. */
uint32_t turns_group(const struct turns_site *site, uint32_t round);

/** A site answers. Or several do, and the deadline passes. */
void turns_answer(size_t site);
void turns_answer_all(const size_t *who, size_t count);

/** Returns the latest record, a round's: record_free. */
struct record turns_last(void);

#endif
