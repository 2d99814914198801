/* challenge.h - which of two connections under one key may stay. The older one stays if its agent answers a
 * question that was asked after the newer one came. Bytes alone prove nothing: the kernel of a machine goes on
 * sending what a program left behind when it ended. They only show that an answer may still be on its way. Time
 * comes from the caller. */

#ifndef IO_CHALLENGE_H
#define IO_CHALLENGE_H

#include <stdbool.h>
#include <stdint.h>

enum {
    CHALLENGE_SILENCE_MS =
        2500, /* an older connection without a byte for this time has lost its place, */
    CHALLENGE_PATIENCE_MS = 30000, /* and so has one that never answers */
    CHALLENGE_REPEAT_MS = 1000     /* the question may have been lost */
};

enum challenge_verdict {
    CHALLENGE_OPEN,
    CHALLENGE_STAYS, /* the older one */
    CHALLENGE_YIELDS /* to the newer one */
};

struct challenge {
    uint64_t number; /* of the question; 0: there is no challenge */
    int64_t begun_ms;
    int64_t asked_ms; /* last */
    int64_t heard_ms; /* when the older one's last byte or message came */
    uint64_t bytes;   /* that had come by then */
    bool asked;
    bool answered;
};

/** Begins one. number is not 0 and was not used before on this connection; bytes: what has come over the older
 * connection. */
void challenge_begin(struct challenge *challenge, uint64_t number, int64_t now_ms, uint64_t bytes);

/** A whole message of the older one was taken, which may have come long ago. */
void challenge_heard(struct challenge *challenge, int64_t now_ms);

/** The older one has answered a question of this number. */
void challenge_answered(struct challenge *challenge, uint64_t number);

/** Returns whether the question is due, for the first time or again; then it counts as asked. */
bool challenge_asks(struct challenge *challenge, int64_t now_ms);

/** Returns the verdict. bytes: what has come over the older connection by now. */
enum challenge_verdict challenge_look(struct challenge *challenge, int64_t now_ms, uint64_t bytes);

#endif
