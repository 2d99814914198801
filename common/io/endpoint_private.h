/* endpoint_private.h - what the files of the endpoint share. zmq is known to them alone. */

#ifndef IO_ENDPOINT_PRIVATE_H
#define IO_ENDPOINT_PRIVATE_H

#include "io/challenge.h"
#include "io/endpoint.h"
#include "io/log_sink.h"
#include "io/tcp_watch.h"
#include "io/token.h"
#include "protocol/message.h"

#include <zmq.h>

enum {
    QUEUE_MESSAGES = 4,  /* whole messages that may wait to be read; then TCP holds them back */
    SEND_MESSAGES = 16,  /* that may wait to be sent, more are lost: a window of pieces and what
                                else one turn has to say */
    CURVE_OVERHEAD = 33, /* MAXMSGSIZE counts the sealed frame */
    HANDSHAKE_MS = 2000, /* a handshake that takes longer is cut, where there is another address, */
    HANDSHAKE_MS_MAX =
        30000,          /* in other cases: some of 10,000 agents that come back at once wait this
                         * long */
    SAMPLE_MS = 50,     /* how often received bytes are looked at, */
    SAMPLES_MAX = 2048, /* at most this many connections: of 10,000 each five times a second */
    KERNEL_BUFFER = 1 << 20, /* receive buffer asked for; the kernel doubles it */
    TAKEN_PER_CALL = 64,     /* frames, handshakes or events taken before others have their turn */
    WAITING_MAX =
        2, /* messages of an agent that is not let in yet: others are lost. Those of 10,000 that
                                come back at once would hold up the coordinator */
    FAREWELL_MS = 500, /* how long a spent token's connection lives, for its last answer */
    DESCRIPTORS_MAX = 16384,
    DESCRIPTORS_SPARE =
        512, /* or an eighth: no connection takes the last ones. Journals, files and lines need them */
    DESCRIPTORS_OPEN = 64 /* and this many are open before the first connection comes, at most */
};

/* A newer connection under a key that has one already, as long as it waits. */
struct rival {
    struct challenge challenge; /* of the older one; its number is 0 when there is none */
    uint32_t older;             /* whose route this is */
    uint32_t route;
    int descriptor;
    int64_t seen_ms;   /* it may go and come back: an agent that hears nothing connects anew */
    int64_t stayed_ms; /* when the older one had answered: its answer holds for a while */
};

enum { FETCHES_HELD = 8, PIECES_GIVEN = 8 }; /* more than an agent has under way */

/* What has been sent to an agent and has not been acknowledged, and what it has asked for that is held back
 * (endpoint_owed.c). */
struct owed {
    uint64_t given;               /* by its own connection, since that began */
    uint64_t acknowledged_before; /* when it began */
    uint64_t curve;               /* of these not acknowledged, when last looked */
    uint64_t line;                /* likewise by its line */
    uint64_t sent;                /* by both */
    uint64_t taken;               /* of these, when last looked */
    int64_t since_ms;             /* from then on something was always waiting */
    uint64_t moved;               /* bytes taken when that was last seen to go on, */
    int64_t moved_ms;             /* and when that was */
    uint64_t taken_before;        /* bytes taken when a time for it began (endpoint_takers.c) */
    unsigned missed;              /* in how many of these in a row it took too little, */
    uint64_t missed_before;       /* and the bytes taken before them; */
    unsigned behind;              /* in how many far less than others */
    bool queued;                  /* it is in the queue */
    bool held_up;                 /* it waits for others, not for its own share alone */
    size_t held_count;
    struct fetched {
        struct digest digest;
        uint64_t offset;
        uint32_t length;
    } held[FETCHES_HELD];
    struct digest of; /* what the latest pieces are of that it was given */
    size_t pieces;    /* how many so far; the latest stand below, in a ring */
    struct piece_given {
        uint64_t offset;
        uint32_t length;
        uint64_t sent;   /* bytes sent with it */
        int64_t sent_ms; /* then */
        int64_t seen_ms; /* when it was last seen to wait */
    } piece[PIECES_GIVEN];
};

/* Agents with a FETCH that is held back, in the order of their turns. */
struct fetches {
    uint64_t waiting_bytes; /* what all agents owe an acknowledgement of */
    struct digest *key;     /* (room) a ring: (count) from first on; owned */
    size_t room;
    size_t first;
    size_t count;
    size_t passed;  /* of these, since the last look, that had to wait on */
    size_t held_up; /* agents that wait for others */
    int64_t looked_ms;
    int64_t waited_ms;                /* when some did last */
    int64_t judged_ms;                /* when the present time for taking something began */
    uint64_t held;                    /* counters: held back, */
    uint64_t repeated;                /* asked for while it waited or was held, */
    uint64_t not_taken;               /* cut, as they took too little */
    uint8_t frame[CONTROL_BYTES_MAX]; /* of the one that came out last */
};

/* How the latest piece went, or what asked for one: what goes on with the transfer goes the same way (endpoint_lines.c). */
struct way {
    bool by_curve;
    uint64_t offset;
};

enum { WAY_PIECES, WAY_ASKS, WAYS };

/* What the coordinator's end knows of one admitted key. */
struct admitted {
    struct roster_entry entry;
    char name[PEER_NAME_BYTES]; /* the entry's, with "token:" in front for a token */
    struct bucket handshakes;
    struct bucket messages;
    struct bucket bytes;
    int64_t penalty_until_ms;
    bool connected;
    uint32_t route; /* libzmq numbers connections upwards: a later one has a greater route */
    int descriptor;
    struct rival rival;
    struct owed owed;
    struct way way[WAYS];
};

/* One accepted TCP connection; its place in the table is its descriptor. */
struct connection {
    bool live;
    size_t listed;   /* its place among side->unknown, counted from 1; 0: it is not there */
    bool cut;        /* shutdown has been asked for; it will be gone in a moment */
    bool passed;     /* its key was let in: no stranger, though it has not said anything yet */
    bool waits;      /* a rival: its messages are not heard, and the fields below are known */
    bool identified; /* a message has come through: the fields below it are known */
    uint32_t route;
    struct digest key;
    char name[PEER_NAME_BYTES];
    int64_t accepted_ms;
    int64_t cut_at_ms;     /* 0: not to be cut */
    uint64_t bytes_before; /* received when its last whole message was taken */
    uint32_t unheard;      /* messages, while it waited */
    struct tcp_peer peer;
};

enum { CUTS_MAX = 16 };

struct listening_side {
    struct peer
        cut[CUTS_MAX]; /* (cut_count) cut for an attack, not yet told; what is over is lost */
    size_t cut_count;
    struct admitted *admitted; /* (admitted_count) sorted by key, owned */
    struct admitted **by_name; /* (admitted_count) the same, sorted by name; owned */
    size_t admitted_count;
    size_t agent_count;            /* names among them with a key of their own, each once */
    struct connection *connection; /* (connection_room), by descriptor */
    size_t connection_room;
    struct stranger *stranger; /* (connection_room) room for a choice among them */
    int *unknown;              /* (unknown_count) descriptors of all strangers */
    size_t unknown_count;
    size_t going;   /* connections that are cut, and not gone yet */
    size_t looked;  /* which of these is looked at next */
    size_t used;    /* no connection is at this place or above */
    size_t sampled; /* which place is looked at next */
    size_t live;
    struct fetches fetches;
    bool turn;           /* whose message comes first: one that was held back */
    uint64_t challenges; /* so far: a number for each */
    bool challenged;     /* some may be open */
};

struct dialing_side {
    char addresses[ADDRESS_BYTES]; /* all of them, a blank between two; endpoint->address is one */
    size_t next; /* where the one after it begins; 0 too where there is one alone */
    struct digest coordinator_key;
    int descriptor;      /* of the present connection; -1 */
    bool handshaking;    /* connected, but not yet let in */
    bool is_up;          /* let in, */
    bool is_new;         /* and endpoint_next_link has not told so; */
    uint64_t link_bytes; /* how many it has told of, */
    int64_t linked_ms;   /* when it looked last */
    unsigned waiting;    /* or how many messages wait for that */
    struct way way[WAYS];
    bool refused; /* by the coordinator, since the last success */
    uint64_t bytes_before;
    int64_t build_at_ms;            /* when the socket is missing: when to make it */
    unsigned attempts;              /* builds since the last success */
    char written_in[ADDRESS_BYTES]; /* where the address stands, for messages */
    int64_t named_ms;               /* when its host's name was last looked for; 0: never */
    struct why name_trouble;        /* what came of it; empty: it was found */
    struct why trouble;
};

struct lines; /* endpoint_lines.c */

struct endpoint {
    bool listens;
    bool operators; /* which list admits, for messages */
    void *context;
    void *socket;
    void *monitor;
    void *zap;
    unsigned monitor_number;
    char address[ADDRESS_BYTES];
    struct key_pair key;
    size_t payload_bytes_max;
    const struct log *log;
    struct log_rate rate;
    struct endpoint_limits limits;
    int64_t sampled_ms;
    zmq_msg_t route;
    zmq_msg_t control;
    zmq_msg_t payload;
    struct listening_side listening;
    struct dialing_side dialing;
    struct lines *lines; /* NULL: this end has none */
    /* What the latest look found nothing at. To ask libzmq in vain is a system call each time. */
    bool socket_rests;
    bool zap_rests;
    bool monitor_rests;
    bool lines_rest;
};

/** Sets an option, or fails with STATUS_UNSUPPORTED and names it: every one of them protects. */
MUST_USE enum status endpoint_set(void *socket, int option, int value, const char *name,
                                  struct why *why);
MUST_USE enum status endpoint_set_bytes(void *socket, int option, const void *value, size_t size,
                                        const char *name, struct why *why);

/** Sets what both ends' sockets need: limits, buffers, timeouts, the own key. */
MUST_USE enum status endpoint_set_common(struct endpoint *endpoint, void *socket, struct why *why);

/** Takes the address of a list that begins at *at, and moves *at to the next one; after the last comes the first, at 0. */
void endpoint_take_address(char out[static ADDRESS_BYTES], const char *list, size_t *at);

/** Returns whether the address has a host's name, not its number. */
bool endpoint_is_named(const struct endpoint *endpoint);

/** Starts to hear of the socket's connections. */
MUST_USE enum status endpoint_monitor_open(struct endpoint *endpoint, int events, struct why *why);
void endpoint_monitor_close(struct endpoint *endpoint);

/** Takes the next event; returns false when there is none. value: a descriptor, errno or code. */
bool endpoint_monitor_next(struct endpoint *endpoint, int *event, int *value);

/** Returns how many bytes may arrive between two whole messages: full queues, kernel buffers,
 * slack. */
uint64_t endpoint_bytes_between(const struct endpoint *endpoint);

/** Takes the frames of a message after the first into control and payload; returns how many there
 * were. bytes is their sum. */
size_t endpoint_take_frames(struct endpoint *endpoint, uint64_t *bytes);
/** Sends a message's first frame without waiting, more being ZMQ_SNDMORE or 0; -1 when the queue is
 * full even after a second look. The other frames then have their place. */
int endpoint_send_first(struct endpoint *endpoint, const void *data, size_t size, int more);
MUST_USE enum status endpoint_send_frames(struct endpoint *endpoint, struct slice control,
                                          struct slice payload);
struct slice endpoint_frame(zmq_msg_t *frame);

/* endpoint_lines.c: large messages take a connection of their own where there is one, and the others where not. */
MUST_USE enum status endpoint_lines_open(struct endpoint *endpoint, const char *address,
                                         struct why *why);
void endpoint_lines_free(struct endpoint *endpoint);
/** Returns what to wait for; -1: nothing. */
int endpoint_lines_descriptor(const struct endpoint *endpoint);
void endpoint_lines_tend(struct endpoint *endpoint, int64_t now_ms);
/** Ends lines whose agent is not, or no longer, connected under an admitted key. */
void endpoint_lines_judge(struct endpoint *endpoint);
/** The coordinator's end: an agent wants a line. The agent's end: it was given one; its connection has ended. */
void endpoint_lines_grant(struct endpoint *endpoint, const struct admitted *admitted,
                          struct slice control);
void endpoint_lines_take(struct endpoint *endpoint, const struct message *given);
void endpoint_lines_lost(struct endpoint *endpoint);
/** Returns whether the lines' messages come before the others': by turns, where there are lines. */
bool endpoint_lines_first(struct endpoint *endpoint);
/** Gives back what endpoint_lines_receive gave. */
void endpoint_lines_done(struct endpoint *endpoint);
MUST_USE enum status endpoint_lines_receive(struct endpoint *endpoint,
                                            struct endpoint_message *out);
/** Fails with STATUS_NOT_FOUND where the message has to go another way, STATUS_AGAIN when it is lost. */
MUST_USE enum status endpoint_lines_send(struct endpoint *endpoint, const struct peer *peer,
                                         struct slice control, struct slice payload);

/** A message of an admitted key is to come out. Returns false, and cuts its connection, when that is above its limits. */
bool endpoint_listening_allows(struct endpoint *endpoint, struct admitted *admitted, int descriptor,
                               uint64_t bytes);
void endpoint_listening_name(struct endpoint_message *out, const struct admitted *admitted);

/* endpoint_zap.c: the handler that decides which keys come in. */
MUST_USE enum status endpoint_zap_open(struct endpoint *endpoint, struct why *why);
void endpoint_zap_answer(struct endpoint *endpoint, int64_t now_ms);

/* endpoint_guard.c: the table of connections, and who is to be cut. */
MUST_USE enum status endpoint_guard_open(struct endpoint *endpoint, struct why *why);
void endpoint_guard_events(struct endpoint *endpoint, int64_t now_ms);
void endpoint_guard_sample(struct endpoint *endpoint, int64_t now_ms);
/** Notes that an admitted key was cut for an attack, for endpoint_next_cut, and lets it wait. */
void endpoint_guard_punish(struct endpoint *endpoint, struct admitted *admitted, int64_t now_ms);
void endpoint_guard_cut(struct endpoint *endpoint, int descriptor);
struct admitted *endpoint_guard_admitted(struct endpoint *endpoint, const struct digest *key);
/** Returns the place in by_name of the first entry of that name, or where it would be. */
size_t endpoint_guard_named(const struct endpoint *endpoint, const char *name);
/** Returns the key of that name that is connected; NULL: none. */
struct admitted *endpoint_guard_connected(const struct endpoint *endpoint, const char *name);

/* endpoint_strangers.c: which peers without an admitted key to cut. */
MUST_USE enum status endpoint_strangers_open(struct endpoint *endpoint);
/** What is known of a connection has changed: it may be a stranger's now, or no longer. */
void endpoint_strangers_note(struct endpoint *endpoint, int descriptor);
/** Cuts strangers if there are more than keep, until there is some room below it. */
void endpoint_strangers_shed(struct endpoint *endpoint, int64_t now_ms, size_t keep);
/** A key of a connection from this host has just been let in. */
void endpoint_strangers_passed(struct endpoint *endpoint, const char *host, int64_t now_ms);

/* endpoint_rivals.c: two connections under one key. */

/** A message came by a connection with this route and descriptor. Returns whether it is not to be heard, because
 * the connection is newer than the one that has the key's place, and waits. */
bool endpoint_rivals_wait(struct endpoint *endpoint, struct admitted *admitted, uint32_t route,
                          int descriptor);
/** The message that has just been taken is of the connection that has the key's place. Returns whether it was the
 * answer to a challenge, and nothing for others. */
bool endpoint_rivals_answered(struct endpoint *endpoint, struct admitted *admitted);
void endpoint_rivals_look(struct endpoint *endpoint, int64_t now_ms);

/** Returns whether a connection was made after another. */
static inline bool endpoint_route_is_newer(uint32_t route, uint32_t than)
{
    return (int32_t)(route - than) > 0;
}

/* endpoint_owed.c: what waits for agents that fetch. */

/** An agent's connection is another one from now on. */
void endpoint_owed_begin(struct endpoint *endpoint, struct admitted *admitted, int descriptor);
/** A message has left by its own connection; by the line of a key. */
void endpoint_owed_sent(struct endpoint *endpoint, struct admitted *admitted, struct slice control,
                        struct slice payload);
struct line;
void endpoint_owed_sent_by_line(struct endpoint *endpoint, const struct digest *key,
                                const struct line *line, struct slice control,
                                struct slice payload);
/** Looks what has been acknowledged, if somebody waits. */
void endpoint_owed_look(struct endpoint *endpoint, int64_t now_ms);

/* endpoint_turns.c: whose turn it is to be given a piece. */

/** A message came. Returns whether it is a FETCH that the machine is not to hear now: one that has to wait is kept, and comes
 * out in its turn; one of what waits already adds nothing. */
bool endpoint_turns_hold(struct endpoint *endpoint, struct admitted *admitted,
                         struct slice control);
/** Takes a FETCH whose turn it is; returns false when there is none. */
bool endpoint_turns_next(struct endpoint *endpoint, struct endpoint_message *out);
/** Returns whether endpoint_turns_next may have one. */
bool endpoint_turns_are_due(const struct endpoint *endpoint);
/** The list is another one: key (room) takes the place of the queue. Takes key. */
void endpoint_turns_admit(struct endpoint *endpoint, struct digest *key, size_t room);

/* The two sides' parts of the public functions. */
enum status endpoint_listening_receive(struct endpoint *endpoint, struct endpoint_message *out);
enum status endpoint_listening_send(struct endpoint *endpoint, const struct peer *peer,
                                    struct slice control, struct slice payload);
MUST_USE enum status endpoint_listening_send_by(struct endpoint *endpoint, uint32_t route,
                                                struct slice control, struct slice payload);
enum status endpoint_dialing_receive(struct endpoint *endpoint, struct endpoint_message *out);
enum status endpoint_dialing_build(struct endpoint *endpoint, struct why *why);
void endpoint_dialing_tend(struct endpoint *endpoint, int64_t now_ms);
void endpoint_close_socket(struct endpoint *endpoint);

#endif
