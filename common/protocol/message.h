/* message.h - everything that crosses the wire between an agent and the coordinator, as plain structs.
 * Every message may be lost, doubled, late or forged; each is idempotent, and an agent's HELLO,
 * repeated as heartbeat, makes the coordinator say again whatever that agent has missed. */

#ifndef PROTOCOL_MESSAGE_H
#define PROTOCOL_MESSAGE_H

#include "base/bytes.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    PROTOCOL_VERSION = 9,          /* 1: answers of 8-byte words only; 2: OFFER and INVITE bare,
                                  * pieces of 64 KiB; 3: masked words of 8 bytes only; 4: SHA-256 where
                                  * digest_tree is now; 5: no answer is rounded to short words; 6: a
                                  * `correlate` without fourth moments, one look of `learn`; 7: no
                                  * iterate of it is an expert; 8: another plan of it for numbers */
    CHUNK_BYTES_MAX = 256 * 1024,  /* one PULL or FETCH moves at most this much, */
    CHUNK_BYTES_SMALL = 64 * 1024, /* and this much on a slow link; a dictionary, a leg */
    CONTROL_BYTES_MAX = 1024,      /* a packed control frame; larger is refused unread */
    WHOLE_BYTES_MAX = 16 * 1024,   /* an answer with its OFFER, an input with its INVITE */
    JOB_TEXT_BYTES_MAX = 64 * 1024,
    ROUNDS_MAX = 1000000,
    LINE_NAME_BYTES = 16,
    WORD_SHIFT_MAX = 62,           /* of a word's steps */
    JOB_AGE_MOST = 5,              /* of a job, where programs of before have begun it */
    OFFER_RECORDS_MAX = 1000000000 /* of one agent */
};
#define TRANSFER_BYTES_MAX                                                                         \
    (UINT64_C(1) << 40) /* no size or offset is beyond it: sums cannot wrap */

enum message_kind {
    /* agent -> coordinator */
    MESSAGE_HELLO, /* here I am, this is what I have; also the heartbeat */
    MESSAGE_OFFER, /* my answer to a round is committed: its size and digest; a small one (payload) */
    MESSAGE_CHUNK,   /* a piece of an offered answer (payload), as PULL asked */
    MESSAGE_DECLINE, /* I do not take part in this round; no reason is given */
    MESSAGE_FETCH,   /* send me a piece of what has this digest: the job's text, the experts */
    MESSAGE_ENROL,   /* under a one-time token's key: this is my site's own public key */
    /* coordinator -> agent */
    MESSAGE_WELCOME,    /* answer to HELLO: the job and how far it is */
    MESSAGE_INVITE,     /* answer round n, on this input; a small one (payload) */
    MESSAGE_PULL,       /* send me this piece of your offered answer */
    MESSAGE_RELEASE,    /* round n is closed: its outcome */
    MESSAGE_PIECE,      /* a piece of what FETCH asked for (payload) */
    MESSAGE_ENROLLED,   /* answer to ENROL */
    MESSAGE_CHALLENGE,  /* another connection under your key wants your place: are you there? */
    MESSAGE_KEY_IN_USE, /* another agent with your key is connected, and has answered */
    /* agent -> coordinator again: a new message gets the next number */
    MESSAGE_PRESENT,    /* answer to CHALLENGE: I am */
    MESSAGE_DICTIONARY, /* this site's data dictionary (payload), which SHOW asked for */
    /* coordinator -> agent again */
    MESSAGE_SHOW, /* send me the data dictionary of this digest */
    /* the legs of a masked round, each with its payload (masks/legs.h), by turns from agent and coordinator */
    MESSAGE_KEYS,      /* agent: my keys for this round */
    MESSAGE_ROSTER,    /* the keys of all its sites */
    MESSAGE_SURVIVORS, /* whose answers are in the sum: sign that */
    MESSAGE_SIGNED,    /* agent: I do */
    MESSAGE_OPEN,      /* enough sites have signed: reveal what opens the sum */
    MESSAGE_REVEAL,    /* agent: here it is */
    /* between the two transports: no machine sees these */
    MESSAGE_WANT, /* agent: may I have a line for large messages (io/line.h)? */
    MESSAGE_LINE, /* its port, its name and its keys */
    MESSAGE_KIND_COUNT
};

/* An artifact is bytes known by their digest: the experts (count rows of D float64, little-endian). */
struct artifact {
    struct digest digest; /* digest_tree of the bytes; none when there is no artifact yet */
    uint64_t bytes;
};

/* A job is one run of a job text. id = SHA-256("hedgerow job 1" || nonce (32) || text). */
struct job_name {
    struct digest id;
    struct digest nonce; /* drawn by the coordinator, so that the same text run twice is two jobs */
    struct digest text_digest;
    uint32_t text_bytes;
};

struct message {
    enum message_kind kind;
    union {
        struct {
            uint32_t version;
            struct digest job;        /* the job whose text it has accepted; none before */
            uint32_t rounds_closed;   /* of that job, as far as it knows */
            bool ready;               /* policy, data and budget checked; nothing else is told */
            struct digest dictionary; /* of the data dictionary's text, where the policy shows it */
        } hello;
        struct {
            struct digest job;
            uint32_t round;
            struct digest invitation; /* what it answers */
            struct digest answer;     /* digest_tree of the bytes */
            uint64_t bytes;
            uint32_t records; /* that it looks at, where the job says a share; else 0 */
            uint32_t
                shift; /* its words count steps of 2^shift grid steps; a receiver that expects other steps
                        * refuses it */
        } offer;
        struct {
            struct digest job;
            uint32_t round;
            uint64_t offset;
        } chunk; /* payload: the bytes */
        struct {
            struct digest job;
            uint32_t round;
        } decline;
        struct {
            struct digest digest;
            uint64_t offset;
            uint32_t length; /* 1 .. CHUNK_BYTES_MAX */
        } fetch;
        struct {
            struct digest public_key;  /* CURVE, raw */
            struct digest signing_key; /* Ed25519, raw; none of a key of an earlier version */
        } enrol;
        struct {
            uint32_t version;
            struct job_name job;
            uint32_t rounds_closed;
            uint32_t
                older; /* 0: a program of this version has begun the job; else job_parse_older's age, at most JOB_AGE_MOST */
        } welcome;
        struct {
            struct digest job;
            uint32_t round;
            struct artifact input; /* the experts to judge; none in a fit round */
            uint32_t deadline_ms;  /* time left; advice, not part of the invitation's digest */
            uint32_t
                slot; /* of this agent among those that share the round out: round_groups. No part of the digest:
                              an answer says itself which part it is, and is the same when the round is asked for again */
        } invite;
        struct {
            struct digest job;
            uint32_t round;
            uint64_t offset;
            uint32_t length; /* 1 .. CHUNK_BYTES_MAX */
        } pull;
        struct {
            struct digest job;
            uint32_t round;
            bool last;               /* the job is over */
            bool failed;             /* below the minimum cohort: the job ends here */
            struct artifact experts; /* after this round */
            uint32_t chosen;         /* row of the experts: the model it broadcasts */
        } release;
        struct {
            struct digest digest;
            uint64_t offset;
        } piece; /* payload: the bytes */
        struct {
            char name[40]; /* under which the coordinator knows the site */
        } enrolled;
        struct {
            uint64_t number; /* PRESENT repeats it; not 0 */
        } challenge, present;
        struct {
            struct digest digest; /* of the text */
        } dictionary;             /* payload: the whole text */
        struct {
            struct digest digest;
        } show;
        struct {
            struct digest job;
            uint32_t round;
            uint32_t width; /* of a ROSTER: bits of a masked word, 32 or 64; else 0 */
        } leg;              /* payload: masks/legs.h */
        struct {
            bool shared; /* it takes pieces that are sealed once for several agents */
        } want;
        struct {
            uint32_t port; /* 1 .. 65535, of the host that this came from */
            uint8_t id[LINE_NAME_BYTES];
            struct digest to_coordinator; /* the key of each direction */
            struct digest to_agent;
        } line;
    } as;
};

/**
 * Returns whether a message may be on the wire with a payload of so many bytes: what can be judged
 * without knowing the job. Versions are PROTOCOL_VERSION, rounds below ROUNDS_MAX, a digest is there
 * unless it may be none, an artifact has bytes exactly when it has a digest, a name is printable and
 * ends, CHUNK, PIECE, DICTIONARY and the legs of a masked round have a payload, OFFER and INVITE none or the whole answer or
 * input of at most WHOLE_BYTES_MAX; a piece ends within TRANSFER_BYTES_MAX.
 */
bool message_is_valid(const struct message *message, size_t payload_bytes);

/** Returns whether messages of a kind always have a payload. */
bool message_carries(enum message_kind kind);

/** Returns how many bytes a payload has that this message may have, or not: an answer's, an input's; 0: it may not. */
size_t message_whole_bytes(const struct message *message);

/** Returns whether text (size) holds a name: 1 to size - 1 printable characters without a space, then a
 * zero. */
bool name_is_valid(const char *text, size_t size);

/** Returns "hello", "offer", ...; "unknown" outside the list. */
const char *message_kind_name(enum message_kind kind);

#endif
