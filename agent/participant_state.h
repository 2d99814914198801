/* participant_state.h - the inside of the participant, shared by its files: participant.c (the machine: start, messages, time),
 * participant_base.c (the states, and what all use), participant_work.c (what is computed, and when it is looked at),
 * participant_legs.c (masked rounds), participant_job.c (which job), participant_site.c (what the site's people say), participant_round.c (which round), participant_answer.c (its answer) and participant_release.c
 * (how both end). Nothing else includes it. */

#ifndef AGENT_PARTICIPANT_STATE_H
#define AGENT_PARTICIPANT_STATE_H

#include "agent/approval.h"
#include "agent/gate.h"
#include "agent/participant.h"
#include "agent/participant_phases.h"
#include "agent/texts.h"
#include "protocol/machine.h"
#include "protocol/message.h"
#include "protocol/transfer.h"
#include "task/answer.h"

/* How often a table that is gone is looked for: a public period. */
enum { LOOK_AGAIN_MS = 30000 };

/* A table that may take longer than a day to read is not read. */
enum { READ_MS_MAX = 86400000 };

enum {
    FETCH_RETRY_MS =
        2000, /* doubled each time that it was in vain (transfer_wait_ms), and up to half more: agents that
                              began together do not ask again together */
    SHOW_MS = 1000,
    PRESENT_MS = 1000, /* answers to challenges are at least this far apart */
    COMMITS_MAX = 2,
    KEEP_RETRY_MS = 2000, /* to keep what a full disk did not take */
    KEEP_TRIES_MAX = 5,   /* then more rarely; a program that ends with its job ends */
    KEEP_RARE_MS = 60000
};

enum work_kind { WORK_NONE, WORK_LOAD, WORK_TASK };

/* What a worker thread touches between EFFECT_WORK and EVENT_WORKED, and nothing else does. */
struct work {
    enum work_kind kind;
    bool done;           /* the worker's part */
    int64_t due_ms;      /* the public slot at which its result is looked at */
    uint64_t longest_ms; /* out, WORK_LOAD: its most time, by public numbers; 0: a slot */
    struct task_input input;
    struct dataset data;          /* out, WORK_LOAD */
    struct digest data_digest;    /* out, WORK_LOAD */
    struct private_vector vector; /* out, WORK_TASK */
    enum status status;           /* out */
    struct why why;               /* out */
};

struct held {
    struct artifact artifact;
    double *weights; /* (artifact.bytes / 8) owned */
};

/* A job whose record is in the journal. */
struct seen_job {
    struct digest id;
    struct digest text;
    uint32_t version; /* job_age_version of what it was told to be; 0: an earlier agent wrote it */
};

/* The latest keys for a masked round, until the round is answered or over. */
struct kept_keys {
    struct digest job; /* none: there are none */
    uint32_t round;
    struct digest invitation;
    uint64_t sequence;                 /* of their record; 0: it is on its way to the journal */
    uint8_t packed[MASKS_KEYED_BYTES]; /* a secret */
};

/* The latest list of survivors that was signed. */
struct signed_list {
    struct digest job; /* none: there is none */
    uint32_t round;
    struct masks_set survivors;
};

struct participant {
    struct participant_options options;
    struct gate *gate;
    struct peer coordinator;

    enum job_phase job_phase;
    struct job_name name;
    enum job_age age;       /* job_parse_older reads its text, unless the age is the present one */
    struct digest misdated; /* the job told as of another age than its own, logged last; none */
    struct job job;         /* valid from JOB_LOADING on */
    char *text;             /* (name.text_bytes) owned */
    struct seen_job *seen;  /* (seen_count) owned */
    size_t seen_count;
    struct digest shown; /* of the dictionary's text; none where it is not shown */
    int64_t shown_ms;    /* when it was sent last, if ever: was_shown */
    struct texts texts;  /* of these jobs, as far as they are kept */
    struct stale stale;  /* answers still in the journal that may not be asked for again */
    struct approvals approvals;
    struct approvals offered_approvals; /* in the making */
    int64_t jobs_day;                   /* of jobs_today, since 1970 */
    uint32_t jobs_today;                /* looks at jobs, as far as it is known */
    struct digest offered;              /* the job that is offered, as it was told last; none */
    struct digest resumes;              /* the job that was looked at last before the start */
    int64_t look_ms; /* JOB_UNFIT because the table is gone: when to look again; 0: not */
    struct dataset data;
    struct digest data_digest; /* of the records as they were loaded; stays at the site */
    size_t *order;             /* (data.record_count) */
    uint32_t rounds_closed;

    struct transfer fetch;
    struct digest fetching;
    struct digest spoiled; /* what came under it did not match it; it is fetched once more */
    uint32_t fetch_later;  /* how much longer it waits, in 65,536ths of the wait */
    uint32_t final_chosen;
    struct held experts;

    uint32_t keep_tries;
    int64_t keep_ms; /* when the model or the text is tried again */

    enum round_phase round_phase;
    uint32_t round;
    struct artifact input;
    struct digest invitation;
    int64_t invited_ms;
    uint32_t slot; /* of the invitation: this one's part of a round that agents share out */
    bool away;     /* it is the others' turn: this site does not look in the round */
    int64_t offer_ms;

    struct masks_site *masks; /* of the round that is under way, where it is masked; owned */
    struct kept_keys keys;
    uint64_t wiped; /* recovery: the latest masked answer, if its blob is gone; 0: none */
    struct signed_list listed;
    uint8_t leg[MASKS_REVEAL_BYTES_MAX]; /* what a step sends of it */

    struct work work;
    struct record *committing[COMMITS_MAX]; /* in order; each a copy for when it is durable */
    uint8_t *commit_body[COMMITS_MAX];      /* owned until then */
    size_t commit_count;

    uint64_t challenged; /* the number of the latest challenge that waits for its answer; 0: none */
    int64_t present_ms;  /* when that answer is due, or when the last one was */

    int64_t hello_ms;     /* when the next HELLO is due */
    int64_t heard_ms;     /* when the last valid frame came, or while it fetches bytes of one */
    int64_t whole_ms;     /* when the last valid frame came */
    int64_t patience_ms;  /* the silence tolerated: twice silence_ms before anything came */
    bool approvals_known; /* a person's decisions were told at least once */
    bool was_shown;
    bool was_present; /* a challenge was answered, or is to be */
    bool looked;      /* at a job, since the start */
    bool offer_kept;  /* which job is offered */
    bool jobs_limit_told;
    bool approvals_changed; /* and not yet acted on */
    bool policy_changed;    /* a restart is due, between two rounds */
    bool declined;          /* JOB_REFUSED, and by a person */
    bool fetch_final;       /* what is fetched is the job's last model */
    bool model_owed;        /* the job's last model is to be kept before the job is over */
    bool text_owed;         /* so is the text of a job that waits for a person */
    bool missed; /* a message came while this agent was deaf: a HELLO asks for it afterwards */
    bool started;
    bool finished;
};

/* participant_base.c */

/** The only ways to another state. A step that the table does not have stops the program. */
void participant_enter_job(struct participant *p, enum job_phase next);
void participant_enter_round(struct participant *p, enum round_phase next);

/** Stops the program where states, work, commits and transfers contradict each other; called after each event. */
void participant_check(const struct participant *p);

void participant_abandon_round(struct participant *p);

MUST_USE enum status participant_send(struct participant *p, struct effects *effects,
                                      const struct message *message, struct slice payload);
MUST_USE enum status participant_hello(struct participant *p, int64_t now_ms,
                                       struct effects *effects);
/** Declines a round: of its own job, or of another one, without looking at it. */
MUST_USE enum status participant_decline_of(struct participant *p, const struct digest *job,
                                            uint32_t round, struct effects *effects);
MUST_USE enum status participant_decline(struct participant *p, uint32_t round,
                                         struct effects *effects);
MUST_USE enum status participant_commit(struct participant *p, struct effects *effects,
                                        const struct record *record, struct slice blob);
MUST_USE enum status participant_ask(struct participant *p, struct effects *effects);

/** Asks again for what has not come; returns when that is due next. */
MUST_USE enum status participant_ask_again(struct participant *p, int64_t now_ms,
                                           struct effects *effects);
/** What came does not match its digest. Other agents have the keys of pieces that are sealed for all, and one of them may sit on
 * the wire. So the coordinator is not blamed yet: it is fetched once more, under keys that no other agent has
 * (EFFECT_DOUBT). */
MUST_USE enum status participant_fetch_anew(struct participant *p, int64_t now_ms,
                                            struct effects *effects);
int64_t participant_asks_again_ms(const struct participant *p);

/** Returns whether these experts are here, whole: the size, which a peer says, must match as well. */
bool participant_holds(const struct participant *p, const struct artifact *experts);

/**
 * Returns whether new questions go unheard: from the beginning of a computation on the records until
 * its answer is durable. Notes that something was missed. The result of a computation is looked at -
 * paid for, noised, committed, offered - at the first public slot after its end, and everything that
 * others may notice happens then: an observer who asks all the time, or watches when the journal
 * keeps the program busy, learns only the slot.
 */
bool participant_is_deaf(struct participant *p);

/** Returns whether this is so, and notes nothing. */
bool participant_is_computing(const struct participant *p);

/** Notes that the latest answer's bytes can go from the journal: a later answer takes its place, or has taken it. */
MUST_USE enum status participant_outdate_answer(struct participant *p);

/** Tries later again to keep what was not kept, and more rarely after some tries: each try adds a line to the log. */
void participant_keep_later(struct participant *p, int64_t now_ms);

/** Drops the answers and texts that need not be kept. What a crash leaves undone, the next start does. */
void participant_forget_old(struct participant *p, struct effects *effects);

/** Tells the log that a frame is of another version, and which program to upgrade. */
void participant_tell_version(const struct participant *p, struct slice control);

/* One agent a key: what is said and done where two have one. Whose place it is, the coordinator's transport decides. */

MUST_USE enum status participant_on_challenge(struct participant *p, const struct event *event,
                                              const struct message *message,
                                              struct effects *effects);

/** Answers the latest challenge when it is time. */
MUST_USE enum status participant_answer_challenge(struct participant *p, const struct event *event,
                                                  struct effects *effects);
MUST_USE enum status participant_on_key_in_use(struct participant *p, struct effects *effects);

/* participant_work.c */

/** Runs in a worker thread. */
void work_run(void *self);
MUST_USE enum status work_on_worked(struct participant *p, const struct event *event);
/** At the public slot: looks at what was computed, and sends all that it says. */
MUST_USE enum status work_take(struct participant *p, const struct event *event,
                               struct effects *effects);

/* participant_job.c */
/** Frees what belongs to the job. */
void job_drop(struct participant *p);
bool job_is_recorded(const struct participant *p, const struct digest *job);
MUST_USE enum status job_remember(struct participant *p, const struct record *record);
MUST_USE enum status job_on_welcome(struct participant *p, const struct event *event,
                                    const struct message *message, struct effects *effects);
/** The coordinator has no job for this site. */
MUST_USE enum status job_on_none(struct participant *p);
/** right: it has its digest. */
MUST_USE enum status job_on_text(struct participant *p, const struct event *event, bool right,
                                 struct effects *effects);
MUST_USE enum status job_on_loaded(struct participant *p, const struct event *event,
                                   struct effects *effects);
/** Looks for a table that was gone, when it is time. The site itself has made public whether the table is there,
 * and its header line. */
MUST_USE enum status job_look_again(struct participant *p, const struct event *event,
                                    struct effects *effects);

/* participant_site.c */

/** Answers a question for the data dictionary's text. */
MUST_USE enum status site_on_show(struct participant *p, const struct event *event,
                                  const struct message *message, struct effects *effects);

/** The job's text is read: forbidden, waiting for a person, or its records are loaded. */
MUST_USE enum status job_consider(struct participant *p, const struct event *event,
                                  struct effects *effects);

/** Returns whether a job that a WELCOME names is beyond the policy's number for a day; counts it otherwise. Jobs whose
 * record is in the journal were counted when they began. */
void job_begin_day(struct participant *p);
bool job_is_one_too_many(struct participant *p, const struct job_name *name, int64_t wall_ms);

/** Sets the count of jobs back where another day has begun. */
void job_count_day(struct participant *p, int64_t wall_ms);

void site_on_file(struct participant *p, const struct event *event);

/** Tries again to keep the text of a job that waits. */
void site_keep_text(struct participant *p, int64_t now_ms);
/** Keeps which job is offered, where that is another one than before; NULL: none, or it is over. */
void site_note_offer(struct participant *p, const struct job_name *job);
/** Keeps why the job is refused here; NULL: it is not. */
void site_note_refusal(const struct participant *p, const char *why);

/** Acts on what site_on_file took, while nothing is computed or committed. */
MUST_USE enum status site_apply(struct participant *p, const struct event *event,
                                struct effects *effects);

/* participant_round.c */
MUST_USE enum status round_on_invite(struct participant *p, const struct event *event,
                                     const struct message *message, struct effects *effects);
/** right: it has its digest. */
MUST_USE enum status round_on_experts(struct participant *p, const struct event *event, bool right,
                                      struct effects *effects);

/** Declines the round that is under way. */
MUST_USE enum status round_decline(struct participant *p, const char *event, const char *reason,
                                   struct effects *effects);
MUST_USE enum status round_start_work(struct participant *p, struct effects *effects);
/** Returns how many experts go with this input of a round; 0 where it is none of experts. */
size_t round_experts(const struct participant *p, uint32_t round, const struct artifact *input);

/* participant_answer.c */

/** Returns all that one answer costs. The rounds of one pass are paid once; the pass is known by the round it begins with.
 * Ranges of rows are disjoint within one table only: when the records have changed since the pass began, what is left of it
 * is another pass and is paid for again. */
struct charge round_charge_of(const struct participant *p, uint32_t round);
/** Returns whether the job's answers leave without noise: the coordinator adds it. */
bool round_is_exact(const struct participant *p);
/** Offers an answer of the job that is under way. */
MUST_USE enum status round_offer(struct participant *p, const struct gate_answer_view *answer,
                                 struct effects *effects);
MUST_USE enum status round_on_worked(struct participant *p, const struct event *event,
                                     struct effects *effects);
MUST_USE enum status round_on_committed(struct participant *p, const struct event *event);
MUST_USE enum status round_on_slot(struct participant *p, struct effects *effects);
MUST_USE enum status round_on_pull(struct participant *p, const struct message *message,
                                   struct effects *effects);

/* participant_legs.c */
bool legs_are_needed(const struct participant *p);
/** Draws keys for the round, and sends them once they are durable; or takes those that are. */
MUST_USE enum status legs_begin(struct participant *p, const struct event *event,
                                struct effects *effects);
MUST_USE enum status legs_send_keys(struct participant *p, struct effects *effects);
/** After a restart: takes the masks of an answer back. words: how many it has; *restored: they are there. Fails with
 * STATUS_CORRUPT, STATUS_NO_MEMORY. */
MUST_USE enum status legs_restore(struct participant *p, const struct gate_answer_view *answer,
                                  size_t words, bool *restored);
MUST_USE enum status legs_on_message(struct participant *p, const struct event *event,
                                     const struct message *message, struct effects *effects);
/** Keys are in the journal; what was before them is needed no longer. */
MUST_USE enum status legs_restore_keys(struct participant *p, const struct event *event,
                                       const struct record *record);
MUST_USE enum status legs_on_keys_committed(struct participant *p, uint64_t sequence,
                                            struct effects *effects);
/** A round of a job is answered or over: wipes and forgets the keys for it and for those before it. */
MUST_USE enum status legs_drop_keys(struct participant *p, const struct digest *job,
                                    uint32_t round);
/** A list of survivors is in the journal, or has just come there. */
void legs_note_list(struct participant *p, const struct record *record);
MUST_USE enum status legs_on_committed(struct participant *p, const struct record *record,
                                       struct effects *effects);

/* participant_release.c */
/** number_bytes: how many each number of them has on the wire, 8 or 4; good: in and out. */
MUST_USE enum status release_take_experts(struct participant *p, unsigned number_bytes, bool *good);
MUST_USE enum status release_on_model(struct participant *p, const struct event *event, bool good,
                                      struct effects *effects);
/** Tries again to keep the job's last model; the job is over with it. */
MUST_USE enum status release_keep_model(struct participant *p, const struct event *event,
                                        struct effects *effects);
MUST_USE enum status release_on_message(struct participant *p, const struct event *event,
                                        const struct message *message, struct effects *effects);

#endif
