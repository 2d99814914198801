/* status.h - what can go wrong because of the outside world, in one closed list. */

#ifndef BASE_STATUS_H
#define BASE_STATUS_H

#if defined(__GNUC__)
#define MUST_USE __attribute__((warn_unused_result))
#define UNUSED   __attribute__((unused)) /* a parameter that a table's other functions need */
#else
#define MUST_USE
#define UNUSED
#endif

/* name, text for an operator */
#define STATUS_LIST(ENTRY)                                                                         \
    ENTRY(STATUS_OK, "ok")                                                                         \
    ENTRY(STATUS_INVALID, "input breaks its rules")                                                \
    ENTRY(STATUS_REFUSED, "refused by policy")                                                     \
    ENTRY(STATUS_EXHAUSTED, "the privacy budget does not cover it")                                \
    ENTRY(STATUS_NOT_FOUND, "not found")                                                           \
    ENTRY(STATUS_EXISTS, "exists already")                                                         \
    ENTRY(STATUS_NO_MEMORY, "out of memory or over a configured limit")                            \
    ENTRY(STATUS_NO_RANDOM, "the random source failed")                                            \
    ENTRY(STATUS_IO, "reading or writing failed")                                                  \
    ENTRY(STATUS_UNKNOWN_OUTCOME, "it is unknown whether the commit happened: restart")            \
    ENTRY(STATUS_BUSY, "held by another process")                                                  \
    ENTRY(STATUS_AGAIN, "not now")                                                                 \
    ENTRY(STATUS_CORRUPT, "stored or received bytes do not match their digest")                    \
    ENTRY(STATUS_FOREIGN, "it belongs to another job")                                             \
    ENTRY(STATUS_UNSUPPORTED, "a version or a choice this program does not know")

enum status {
#define STATUS_ENUM(name, text) name,
    STATUS_LIST(STATUS_ENUM)
#undef STATUS_ENUM
};

/** Returns the English text of a status; never NULL. */
const char *status_text(enum status status);

#endif
