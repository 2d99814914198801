/* team.h - a job that three coordinators serve, each with two agents: one leads, two collect. The test decides when a part is
 * handed in, a record is followed or a machine dies. */

#ifndef TESTS_UNIT_COORDINATOR_TEAM_H
#define TESTS_UNIT_COORDINATOR_TEAM_H

#include "central.h"

enum { TEAM = 3, COLLECTORS = 2, TEAM_ROUNDS = 5, TEAM_DEADLINE_MS = 10000 };

extern const struct peer team_names[COLLECTORS];
extern struct central team[TEAM]; /* 0 leads */

void team_begin(void);
void team_end(void);

/** Gives the one that leads a part, as from collector i. */
void team_give_part(size_t i, const struct kept *kept);
/** Tells one how another stands. */
void team_tell(struct central *one, const struct standing_of *is);

/** As the program does: a collector's standing is read before its parts, and told after them. Parts are taken while the round
 * is open. */
void team_hand_in(size_t i);
/** A collector hears what was committed, its own parts of the next round, and how the one that leads stands. */
void team_follow(size_t i);
/** One dies, and begins anew from its journal. */
void team_restart(size_t i);
/** All agents greet, and all coordinators hear of each other. */
void team_greet(void);

/** Returns what an agent says to a round: the same whenever it is asked again. */
int64_t team_word(size_t agent, uint32_t round);
/** One of the two agents of coordinator i answers the open round; returns false where it was not asked. All do. */
bool team_answer(size_t i, size_t agent);
void team_answer_all(void);

/** Decodes a record; the caller frees it. */
struct record team_record(const struct central *bench, size_t i);
/** Checks each record of a round: its sum is that of the agents it names, each once. Returns how many agents all rounds name. */
size_t team_check_rounds(void);

#endif
