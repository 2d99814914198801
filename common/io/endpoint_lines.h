/* endpoint_lines.h - what the files of the lines share (endpoint_lines.c, endpoint_lines_listen.c, endpoint_lines_dial.c).
 *
 * An agent that has heard the coordinator over CURVE says WANT. LINE answers it, over CURVE: a port, a name, two fresh keys. The
 * agent dials that port, and both show that they have the keys. From then on the pieces of answers and models, and what
 * asks for them, take the line. It lives as long as the CURVE connection that asked for it: what that has proved is what it rests on. */

#ifndef IO_ENDPOINT_LINES_H
#define IO_ENDPOINT_LINES_H

#include "crypto/random.h"
#include "io/endpoint_private.h"
#include "io/line.h"
#include "io/shared.h"

enum {
    LINES_MAX = 256,  /* agents beyond them send all over CURVE */
    CALLERS_MAX = 64, /* connections that have not shown a name yet */
    LINE_HAIL_MS = 5000,
    LINE_COMES_MS =
        500 /* a large transfer that begins so soon after a line was given waits for it */
};

/* A line of an agent: given, and then open. */
struct held {
    bool used;
    struct digest key; /* of the agent, */
    uint32_t route;    /* and which connection of it asked */
    uint8_t id[LINE_ID_BYTES];
    struct line_keys keys; /* until it is open */
    struct line *line;     /* NULL: not yet open */
    bool shares;           /* it takes what is sealed for others, too */
    int64_t given_ms;
};

/* Somebody who has just connected. */
struct caller {
    int descriptor; /* -1: nobody */
    int64_t came_ms;
    uint8_t hail[LINE_HAIL_BYTES];
    size_t came;
};

enum line_state { LINE_NONE, LINE_DIALS, LINE_HAILS, LINE_OPEN };

/* An agent's own. */
struct own_line {
    enum line_state state;
    struct line *line;
    uint8_t id[LINE_ID_BYTES];
    uint8_t proof[LINE_PROOF_BYTES];
    size_t came; /* of the proof */
    uint32_t port;
    int64_t since_ms; /* in this state */
    bool heard;       /* the coordinator has said something */
    int64_t want_ms;  /* when to ask next */
    unsigned wants;   /* since it was open for a while */
    unsigned brought; /* messages, by the present line */
    bool alone;       /* nothing is to be sealed for others, too, as long as this agent runs */
};

struct lines {
    int epoll;
    int listener; /* -1 at an agent */
    uint32_t port;
    struct random_source *random;
    struct held held[LINES_MAX];
    struct caller caller[CALLERS_MAX];
    int64_t judged_ms;
    int64_t accept_ms; /* 0, or when to accept again */
    struct own_line own;
    struct shared shared; /* the coordinator's */
    struct line *taken;   /* has the message that is out */
    bool taken_is_over;   /* it ends when the message is given back */
    bool turn;            /* whose message comes first: the line's */
};

/* What an event of the epoll is about. */
enum watched { WATCH_LISTENER, WATCH_CALLER, WATCH_LINE };
bool endpoint_lines_watch(struct lines *lines, int descriptor, enum watched what, size_t index,
                          uint32_t events);
void endpoint_lines_rewatch(struct lines *lines, const struct line *line, size_t index);
void endpoint_lines_unwatch(struct lines *lines, int descriptor);

/** Ends a line, at once or when the message that it has given out is given back. */
void endpoint_lines_end(struct lines *lines, struct line *line);

/** Sets what a connection of a line needs; the sizes of buffers before it connects or listens. */
void endpoint_lines_prepare(int descriptor);

/** Takes a message; STATUS_NOT_FOUND: the line was ended. */
MUST_USE enum status endpoint_lines_take_one(struct endpoint *endpoint, struct line *line,
                                             struct endpoint_message *out, const char *peer);

/* endpoint_lines_listen.c */
MUST_USE enum status endpoint_lines_bind(struct endpoint *endpoint, const char *address,
                                         struct why *why);
void endpoint_lines_accept(struct endpoint *endpoint, int64_t now_ms);
void endpoint_lines_hear_caller(struct endpoint *endpoint, size_t index, int64_t now_ms);
void endpoint_lines_shed(struct endpoint *endpoint, int64_t now_ms);
MUST_USE enum status endpoint_lines_hear_held(struct endpoint *endpoint, size_t index,
                                              struct endpoint_message *out);
/** Returns whether an agent was given a line a moment ago that is not open yet. */
bool endpoint_lines_is_coming(const struct endpoint *endpoint, const struct admitted *admitted,
                              int64_t now_ms);
struct held *endpoint_lines_of(struct endpoint *endpoint, const struct admitted *admitted);
void endpoint_lines_drop(struct lines *lines, struct held *held);

/* endpoint_lines_dial.c */
void endpoint_lines_ask(struct endpoint *endpoint, int64_t now_ms);
MUST_USE enum status endpoint_lines_hear_own(struct endpoint *endpoint,
                                             struct endpoint_message *out, int64_t now_ms);
void endpoint_lines_drop_own(struct endpoint *endpoint, int64_t now_ms, const char *text);

#endif
