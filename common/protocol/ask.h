/* ask.h - what an operator's command asks a coordinator's desk, and what it is told. Each question has one answer. Every
 * question may be asked again: a repeated one changes nothing more. */

#ifndef PROTOCOL_ASK_H
#define PROTOCOL_ASK_H

#include "base/bytes.h"
#include "base/status.h"

#include <stdbool.h>
#include <stdint.h>

enum {
    ASK_VERSION = 1,
    ASK_FRAME_BYTES_MAX = 128,        /* a packed control frame; larger is refused unread */
    ASK_PAYLOAD_BYTES_MAX = 64 * 1024 /* a job's text, an answer, a piece of a file */
};
#define ASK_FROM_MAX  (UINT64_C(1) << 40)
#define ASK_JOB_MAX   UINT32_C(999999999)
#define ASK_CODE_MAX  UINT32_C(255)
#define ASK_FILES_MAX UINT32_C(2) /* result.json, model.json */

/* name, text, which of job, id, from, file and payload the question has. TEXT: the payload is a job's text. */
#define ASK_VERBS(ENTRY)                                                                           \
    ENTRY(ASK_ENROL, "enrol", ID)                                                                  \
    ENTRY(ASK_WHO, "who", NOTHING)                                                                 \
    ENTRY(ASK_SUBMIT, "submit", ID_AND_TEXT)                                                       \
    ENTRY(ASK_JOBS, "jobs", FROM)                                                                  \
    ENTRY(ASK_STATUS, "status", JOB)                                                               \
    ENTRY(ASK_WATCH, "watch", JOB_AND_FROM)                                                        \
    ENTRY(ASK_RESULT, "result", JOB)                                                               \
    ENTRY(ASK_READ, "read", JOB_AND_FILE)                                                          \
    ENTRY(ASK_CANCEL, "cancel", JOB)                                                               \
    ENTRY(ASK_AGENTS, "agents", FROM)

enum ask_verb {
    ASK_NONE,
#define ASK_ENUM(name, text, has) name,
    ASK_VERBS(ASK_ENUM)
#undef ASK_ENUM
        ASK_VERB_END
};

/** Returns a verb's word; never NULL. */
const char *ask_verb_name(enum ask_verb verb);

struct ask {
    enum ask_verb verb;
    uint64_t number; /* not 0; the answer has it */
    uint32_t job;    /* its number in the queue */
    struct digest
        id; /* ENROL: the operator's own key. SUBMIT: of this submission, drawn by the command */
    uint64_t
        from; /* JOBS: those behind this number. WATCH: rounds that were seen; ASK_FROM_MAX: only whether the job is over. AGENTS: lines that
                         were seen. READ: the first byte */
    uint32_t file; /* READ: which file of RESULT's list */
};

struct told {
    uint64_t number; /* of the question */
    uint32_t
        code; /* 0: the payload is what was asked for; else an exit code, and it is a sentence */
};

/** Returns whether a question has what its verb has, and nothing else. */
bool ask_is_valid(const struct ask *ask, size_t payload_bytes);

/** Pack to out (ASK_FRAME_BYTES_MAX); return the size. What is packed is not judged. */
size_t ask_encode(uint8_t *out, const struct ask *ask);
size_t told_encode(uint8_t *out, const struct told *told);

/** Read a frame as strictly as wire_decode; out is zeroed on failure. Fail with STATUS_INVALID, and ask_decode with
 * STATUS_UNSUPPORTED (another version). Allocate nothing. */
MUST_USE enum status ask_decode(struct ask *out, struct slice control, struct slice payload);
MUST_USE enum status told_decode(struct told *out, struct slice control, struct slice payload);

#endif
