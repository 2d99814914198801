/* round_state.h - the inside of the coordinator's machine, shared by round.c (the machine: phases, time), round_start.c (how it
 * begins), round_open.c (how a round does), round_message.c (what agents say), round_pull.c (how answers come in), round_wait.c
 * (who is waited for), round_tell.c (what all are told), round_masks.c (masked rounds), round_revoked.c (whom
 * these lose), round_collect.c (jobs with collectors), round_hand_in.c (what a collector does) and round_close.c (from the last
 * answer to the release). Nothing else includes it. */

#ifndef COORDINATOR_ROUND_STATE_H
#define COORDINATOR_ROUND_STATE_H

#include "coordinator/aggregate.h"
#include "coordinator/cohort.h"
#include "coordinator/curator.h"
#include "coordinator/round.h"
#include "masks/host.h"
#include "protocol/machine.h"
#include "protocol/message.h"
#include "task/close.h"
#include "task/outcome.h"

enum {
    PULL_RETRY_MS = 2000,
    SILENT_MS = 10000, /* without a frame, an agent is called silent */
    JOIN_NOTICE_MS = 10000,
    GATHER_MS = 4000,    /* two HELLOs of an agent, as they are by default */
    MISSING_BYTES = 640, /* names of those missing, for a line of the log */
    CANCELLED_BY_BYTES = 128
};

/*   RECOVERING -> NAMING -> JOINING -> OPEN -> WORKING -> CLOSING -> OVER -> FINISHED
 *
 * CLOSING leads to the next round's OPEN, or to OVER. A round that failed is CLOSING at once: there is nothing to compute.
 *
 * A masked round is KEYING -> LISTING -> OPEN -> SETTLING -> OPENING in the place of OPEN. After a restart it begins with
 * OPEN where the journal has its roster, and OPEN leads to OPENING where it has the survivors.
 *
 * A collector is FOLLOWING in the place of NAMING and JOINING; its OPEN and CLOSING lead back there, and from there to OVER.
 *
 * RECOVERING leads also to JOINING, OPEN and OVER, where the journal ends there; JOINING also to CLOSING, when too few
 * agents came. */
/* clang-format off */
#define PHASE_STATES(STATE) \
    STATE(PHASE_RECOVERING, "starting", /* before EVENT_START */ \
          NEXT(PHASE_FOLLOWING) | NEXT(PHASE_NAMING) | NEXT(PHASE_JOINING) | NEXT(PHASE_OPEN) | \
          NEXT(PHASE_KEYING) | NEXT(PHASE_OVER)) \
    STATE(PHASE_FOLLOWING, "waiting for the coordinator that leads", /* a collector: until the coordinator that leads goes on */ \
          NEXT(PHASE_OPEN) | NEXT(PHASE_OVER)) \
    STATE(PHASE_NAMING, "naming the job", /* the job's own record is on its way to the journal */ \
          NEXT(PHASE_JOINING)) \
    STATE(PHASE_JOINING, "waiting for agents", /* until cohort_min agents are ready */ \
          NEXT(PHASE_OPEN) | NEXT(PHASE_KEYING) | NEXT(PHASE_CLOSING)) \
    STATE(PHASE_KEYING, "gathering keys", /* masked: sites send their keys */ \
          NEXT(PHASE_LISTING) | NEXT(PHASE_CLOSING)) \
    STATE(PHASE_LISTING, "listing", NEXT(PHASE_OPEN)) /* masked: the roster is on its way to the journal */ \
    STATE(PHASE_OPEN, "open", \
          NEXT(PHASE_SETTLING) | NEXT(PHASE_OPENING) | NEXT(PHASE_WORKING) | NEXT(PHASE_CLOSING) | \
          NEXT(PHASE_FOLLOWING)) \
    STATE(PHASE_SETTLING, "settling", /* masked: the list of survivors is on its way to the journal */ \
          NEXT(PHASE_OPENING)) \
    STATE(PHASE_OPENING, "opening the sum", /* masked: signatures and what opens the sum come in */ \
          NEXT(PHASE_WORKING) | NEXT(PHASE_CLOSING)) \
    STATE(PHASE_WORKING, "computing", /* the outcome is computed, beside the loop (struct work) */ \
          NEXT(PHASE_CLOSING)) \
    STATE(PHASE_CLOSING, "closing", /* the outcome is on its way to the journal */ \
          NEXT(PHASE_OPEN) | NEXT(PHASE_KEYING) | NEXT(PHASE_OVER) | NEXT(PHASE_FOLLOWING)) \
    STATE(PHASE_OVER, "over", NEXT(PHASE_FINISHED)) /* the job is done or failed; agents fetch what they miss */ \
    STATE(PHASE_FINISHED, "finished", 0)
/* clang-format on */
enum phase { PHASE_STATES(STATE_NAME) PHASE_COUNT };

/* For a masked round, as the journal has it. */
struct kept_masks {
    uint8_t *roster; /* (size) packed, owned; NULL: there is none */
    size_t size;
    uint32_t round;
    uint64_t sequence; /* of its record */
    enum masks_width width;
    struct masks_set survivors;
    bool settled;
};

/* How fast large things go out to all: TELL_BYTES_MAX of them in TELL_MS, so that the transport never holds the
 * messages to all agents at once. */
enum { TELL_MS = 100, TELL_BYTES_MAX = 32 << 20 };

/* A collector, as the coordinator that leads knows it. */
struct collected {
    struct peer peer;
    uint64_t ready;     /* agents */
    uint64_t undecided; /* agents that are connected and have said neither yes nor no */
    bool present;       /* it has said so within the last seconds */
    bool settled;       /* it has nothing more to add to the open round */
    unsigned missed;    /* rounds in a row that waited for it in vain */
};

struct collecting {
    struct collected *of; /* (count) at the coordinator that leads, owned */
    size_t count;
    /* (agent_count) whose answers are in the open round's sum by parts, sorted by name, owned */
    struct peer *agent;
    size_t agent_count;
    struct peer *away; /* (away_count) of these: who did not look, if agents take turns; owned */
    size_t away_count;
    uint64_t records; /* that these look at, where the job says a share */

    /* At a collector. */
    size_t handed;     /* of those that have answered here, in a part */
    uint32_t parts;    /* handed in since the round was opened */
    int64_t handed_ms; /* when the latest part was */
    bool settled;      /* nobody is awaited, and all that came is handed in */
};

/* A round's outcome in the making. While PHASE_WORKING all of it, `committing`, the curator and the random source are the
 * work's alone, and the job's outcome so far is read by both and changed by none. Nothing of it is told or kept before the
 * commit. If the program ends in the middle, nobody has seen its noise, and the round is computed anew. */
struct work {
    struct closing closing;
    struct closing_own *own; /* (closing.own_count) owned */
    struct why why;          /* why it failed */
    enum status status;
};

struct coordinator {
    struct coordinator_options options;
    struct digest text_digest;
    size_t answers_max; /* of a round: its sums have room for this many */

    enum phase phase;
    struct outcome outcome;
    struct cohort cohort;
    struct aggregate aggregate;
    struct collecting collecting;
    struct curator *curator;
    struct masks_host *masks; /* of the open round, where it is masked; owned */
    struct kept_masks kept;
    uint8_t open[MASKS_OPEN_BYTES_MAX]; /* what a step sends */
    struct digest invitation;           /* of the open round */
    int64_t opened_ms;
    int64_t deadline_ms;     /* of PHASE_JOINING, PHASE_OPEN and PHASE_OVER */
    int64_t patient_ms;      /* of PHASE_JOINING: how long it waits for people at sites */
    int64_t gather_until_ms; /* of coordinator_gathers; INT64_MAX: too few are ready */
    bool late;             /* the open round, or PHASE_JOINING, is past its deadline and goes on */
    int64_t stepped_ms;    /* the time of the latest event */
    int64_t begun_wall_ms; /* when the journal says that the job began; and the latest time in it */
    int64_t known_wall_ms;
    int64_t told_ms; /* of coordinator_tell_joining: when, and what */
    size_t told_ready;
    bool told_greeting;
    int64_t started_ms; /* when recovery was over: no agent was heard before */
    size_t told_refusing;
    int64_t refused_until_ms; /* when a job that too many decline fails; INT64_MAX: it is none */
    int64_t told_until_ms;
    size_t told_seen;
    size_t told_admitted;
    int64_t followed_ms; /* a collector: when it was told the latest round's record */
    int64_t telling_ms;  /* of coordinator_tell_next: since when, and how much */
    uint64_t telling_bytes;
    bool listed; /* the list has been told */
    bool told;

    char failed_because[RECORD_CAUSE_BYTES]; /* as the journal says; "" */
    char cancelled_by[CANCELLED_BY_BYTES];   /* an operator, who has ended the job; "" */
    struct work work;                        /* while PHASE_WORKING */
    struct record committing; /* owns its lists in PHASE_NAMING, PHASE_WORKING and PHASE_CLOSING */
    uint8_t *commit_body;
    void *commit_rows;
    size_t commit_rows_bytes;
    uint64_t state_sequence; /* of the record with the stage's state; 0: none, or forgotten */
    struct stale stale;      /* earlier states that the journal still holds */
};

/* round.c */

/** The only way to another phase. A step that the table does not have stops the program. */
void coordinator_enter(struct coordinator *c, enum phase next);

MUST_USE enum status coordinator_send(struct effects *effects, const struct peer *peer,
                                      const struct message *message, struct slice payload);
MUST_USE enum status coordinator_commit(struct coordinator *c, struct effects *effects,
                                        struct slice blob);

/* round_start.c */

/** Takes a record of the journal: in recovery, or as a collector that follows. Fails with STATUS_FOREIGN (another job's
 * journal), STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_USE enum status coordinator_on_record(struct coordinator *c, const struct event *event);
/** Recovery is over: names the job, waits for agents, or goes on where the journal ends. */
MUST_USE enum status coordinator_on_start(struct coordinator *c, const struct event *event,
                                          struct effects *effects);

/** Begins a masked round, with the roster and survivors that the journal has. Fails with STATUS_CORRUPT,
 * STATUS_NO_MEMORY. */
MUST_USE enum status coordinator_begin_masks(struct coordinator *c);
void coordinator_free_masks(struct coordinator *c);
/** A round is closed: its roster goes from the journal. */
MUST_USE enum status coordinator_forget_masks(struct coordinator *c, uint32_t round);
/** Forgets the roster and the survivors in memory. */
void coordinator_drop_kept(struct coordinator *c);

/* round_open.c */

/** Returns what the open round's question goes with; none where the stage has no input. */
struct artifact coordinator_input_of(const struct coordinator *c);
/** Returns whether agents share the open round out: round_groups. */
bool coordinator_shares_out(const struct coordinator *c);
/** Once enough agents are ready for the job's first round: returns whether it waits a moment longer, for those that are about
 * to come. It does where the round is shared out: then they get the slots that they would have in any order of coming, as after
 * a restart. */
bool coordinator_gathers(struct coordinator *c, int64_t now_ms);
/** Sets room aside for the round's sum, in the width that its answers have. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status coordinator_begin_sum(struct coordinator *c);
/** Opens the next round, which has left_ms, and invites those that are ready. */
MUST_USE enum status coordinator_open(struct coordinator *c, int64_t now_ms, int64_t left_ms,
                                      struct effects *effects);

MUST_USE enum status coordinator_invite(struct coordinator *c, struct member *member,
                                        int64_t now_ms, struct effects *effects);

/* round_tell.c */

/** Marks those to be told: of the latest round's release every present member, of the open round those that are ready. */
void coordinator_tell_all(struct coordinator *c, enum telling what);
/** Invites one that has come back to the open round, or marks it where that is beyond the pace of invitations. */
MUST_USE enum status coordinator_tell_again(struct coordinator *c, struct member *member,
                                            int64_t now_ms, struct effects *effects);
/** Tells as many of those marked as the step has room for, releases first. */
MUST_USE enum status coordinator_tell_next(struct coordinator *c, int64_t now_ms,
                                           struct effects *effects);
/** Returns when coordinator_tell_next is due; INT64_MAX: nobody is left to be told. */
int64_t coordinator_tells_ms(const struct coordinator *c);

/** Logs that a round has closed, with what is spent so far; says nothing of one that failed. */
void coordinator_tell_closed(const struct coordinator *c, const struct record *record);

/* round_message.c */
/** What agents may fetch by this digest, borrowed until the machine's next step; empty: nothing. */
struct slice coordinator_bytes_of(const struct coordinator *c, const struct digest *digest);
MUST_USE enum status coordinator_on_message(struct coordinator *c, const struct event *event,
                                            struct effects *effects);

/* round_pull.c */
MUST_USE enum status coordinator_on_offer(struct coordinator *c, const struct event *event,
                                          struct member *member, const struct message *message,
                                          struct effects *effects);
MUST_USE enum status coordinator_on_chunk(struct coordinator *c, const struct event *event,
                                          struct member *member, const struct message *message,
                                          struct effects *effects);
MUST_USE enum status coordinator_check_stalls(struct coordinator *c, const struct event *event,
                                              struct effects *effects);
/** Returns when coordinator_check_stalls is due; INT64_MAX. */
int64_t coordinator_stalls_ms(const struct coordinator *c);
MUST_USE enum status coordinator_pull_next(struct coordinator *c, const struct event *event,
                                           struct effects *effects);

/* round_masks.c */

bool coordinator_is_masked(const struct coordinator *c);
/** Returns how many answers the open round needs. */
size_t coordinator_least(const struct coordinator *c);
MUST_USE enum status coordinator_list_if_due(struct coordinator *c, const struct event *event,
                                             struct effects *effects);
/** Enough answers are in the sum: names the survivors. */
MUST_USE enum status coordinator_settle(struct coordinator *c, const struct event *event,
                                        struct effects *effects);
MUST_USE enum status coordinator_masks_committed(struct coordinator *c, const struct event *event,
                                                 struct effects *effects);
MUST_USE enum status coordinator_on_leg(struct coordinator *c, const struct event *event,
                                        struct member *member, const struct message *message,
                                        struct effects *effects);
MUST_USE enum status coordinator_remind(struct coordinator *c, const struct event *event,
                                        struct member *member, struct effects *effects);
/** Ends a round whose sum is not opened in time. */
MUST_USE enum status coordinator_lose_if_due(struct coordinator *c, const struct event *event,
                                             struct effects *effects);

/* round_collect.c */

/** Returns whether this is a collector: it closes no rounds. */
bool coordinator_collects(const struct coordinator *c);
/** Begins with the names of collectors (count, may be 0). Fails with STATUS_NO_MEMORY. */
MUST_USE enum status collecting_begin(struct collecting *collecting, const struct peer *name,
                                      size_t count);
void collecting_free(struct collecting *collecting);
void collecting_begin_round(struct collecting *collecting);
/** Returns whether no collector is waited for. */
bool collecting_is_complete(const struct collecting *collecting);
/** Returns whether a collector is there that is not through with the job. */
bool collecting_is_present(const struct collecting *collecting);
/** A round is over: the collectors that it waited for have missed it. */
void collecting_note_missed(struct collecting *collecting);
/** Returns whether an agent's answer is in a part of the open round. */
bool collecting_has(const struct collecting *collecting, const struct peer *agent);
/** Returns why a collector is waited for, in words; NULL: it is not. */
const char *collecting_why(const struct collected *collected);
/** Adds those whose answers came by parts to a round's record. Fails with STATUS_NO_MEMORY. */
MUST_USE enum status collecting_list(struct record *record, const struct coordinator *c);
/** Return how many agents are ready, or are in the open round's sum, with those of collectors. */
size_t coordinator_count_ready(const struct coordinator *c);
size_t coordinator_count_answered(const struct coordinator *c);
MUST_USE enum status coordinator_on_standings(struct coordinator *c, const struct event *event,
                                              struct effects *effects);
MUST_USE enum status coordinator_on_partial(struct coordinator *c, const struct event *event);

/* round_hand_in.c */
/** A collector: marks those whose answers are in a part as answered. */
void coordinator_mark_handed(struct coordinator *c);
/** A collector with an open round: hands in what it has, if that is due. */
MUST_USE enum status coordinator_hand_in_if_due(struct coordinator *c, const struct event *event,
                                                struct effects *effects);
/** Returns when that is due by time alone; INT64_MAX. */
int64_t coordinator_hands_in_ms(const struct coordinator *c);
void coordinator_handed_in(struct coordinator *c, int64_t now_ms);
/** A collector that follows: ends with the job. */
void coordinator_end_if_over(struct coordinator *c, int64_t now_ms);
/** A collector has taken a record of the one that leads. */
MUST_USE enum status coordinator_follow(struct coordinator *c, const struct event *event,
                                        uint32_t closed_before);

/* round_revoked.c */

/** Returns the rank of a member in the round's roster, or the roster's count. */
size_t coordinator_rank_of(const struct coordinator *c, const struct member *member);
/** Returns whether a member is in the roster; among the survivors, once they are named. */
bool coordinator_is_listed(const struct coordinator *c, const struct member *member);
/** A roster has been made or taken back: an agent that is not in it is not waited for. */
void coordinator_mark_unlisted(struct coordinator *c);
/** The allow-list has changed. Before the survivors are named the round goes on without those who were revoked; a
 * survivor has to come back. */
MUST_USE enum status coordinator_note_revoked(struct coordinator *c, const struct event *event,
                                              struct effects *effects);
/** Fills names (MASKS_SITES_MAX) with those that the open round's sum counts on and that are not on the allow-list;
 * returns how many there are. 0 where the round is not masked or has no roster. */
size_t coordinator_list_revoked(const struct coordinator *c, const char **names);

/* round_wait.c */
enum verdict { VERDICT_WAIT, VERDICT_CLOSE, VERDICT_FAIL };

/** Returns what is to become of the open round. Below its minimum it is late from its deadline on, and
 * stays open for the job's patience; then it closes with the answer that makes the minimum. */
enum verdict coordinator_judge_round(struct coordinator *c, int64_t now_ms);
/** Writes who is missing, and why, into text (size). */
void coordinator_tell_missing(const struct coordinator *c, int64_t now_ms, char *text, size_t size);
void coordinator_tell_joining(struct coordinator *c, int64_t now_ms);
/** Returns how many are connected and have neither approved nor declined; at the leader including those of its
 * collectors. */
size_t coordinator_count_undecided(const struct coordinator *c, int64_t now_ms);

/** The join deadline is over and too few are ready. Returns whether the job waits on, for its patience at most: with those that are
 * connected and have said neither yes nor no, here or at a collector, they would be enough. Moves
 * the deadline to when that is to be asked again. */
bool coordinator_waits_for_people(struct coordinator *c, int64_t now_ms);
/** Returns whether the job has had, for JOIN_NOTICE_MS, all agents that it can have, and these are too few for it to begin, as
 * others decline it. A no by mistake can be taken back meanwhile. */
bool coordinator_is_refused(struct coordinator *c, int64_t now_ms);
/** Returns when one that is present without having been ready is waited for no longer; INT64_MAX. */
int64_t coordinator_settles_ms(const struct coordinator *c);
/** Returns when a transfer gives way to an agent that waits, if nothing more comes of it. */
int64_t coordinator_turn_ends_ms(const struct coordinator *c, const struct staging *staging);
/** Returns until when an answer is asked for no more pieces, as another one comes: aggregate_holds_until_ms, and never beyond
 * half of its turn, so that waiting costs no place. INT64_MIN: it is asked. */
int64_t coordinator_holds_until_ms(const struct coordinator *c, const struct staging *staging);

/* round_close.c */
/** Fills a round's record with those who have answered here, their records, and who of them did not look. Fails with
 * STATUS_NO_MEMORY. */
MUST_USE enum status coordinator_list_agents(struct record *record, const struct coordinator *c);
MUST_USE enum status coordinator_close_if_due(struct coordinator *c, const struct event *event,
                                              struct effects *effects);
/** Says why the job failed, in these words. */
void coordinator_tell_failed(const struct coordinator *c, const char *cause);
MUST_USE enum status coordinator_fail(struct coordinator *c, const struct event *event,
                                      struct effects *effects);
MUST_USE enum status coordinator_fail_because(struct coordinator *c, const struct event *event,
                                              const char *cause, struct effects *effects);
/** An operator has cancelled the job: notes the operator's name. */
void coordinator_note_cancelled(struct coordinator *c, struct slice by);
/** Ends a cancelled job, as one that failed, unless it is over or something is on its way to the journal. */
MUST_USE enum status coordinator_cancel_if_due(struct coordinator *c, const struct event *event,
                                               struct effects *effects);
/** The sum is there, and nothing covers it: has the outcome made of it, as work. */
MUST_USE enum status coordinator_close(struct coordinator *c, const struct event *event,
                                       struct effects *effects);
/** What the machine's work is: adds the noise where that is the coordinator's, and makes the outcome. On a thread of its own. */
void coordinator_work(void *self);
/** The work is done: commits the outcome. Fails with what it failed with. */
MUST_USE enum status coordinator_on_worked(struct coordinator *c, struct effects *effects);
/** Frees what a work has, done or not. */
void coordinator_free_work(struct coordinator *c);
MUST_USE enum status coordinator_on_committed(struct coordinator *c, const struct event *event,
                                              struct effects *effects);
/** The journal needs only the latest of an update stage's states: notes the one before it as stale. holds:
 * whether the journal still holds this record's state. */
MUST_USE enum status coordinator_keep_state(struct coordinator *c, uint64_t sequence, bool holds);
MUST_USE enum status coordinator_release(struct coordinator *c, struct member *member,
                                         struct effects *effects);

#endif
