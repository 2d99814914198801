#include "io/challenge.h"

void challenge_begin(struct challenge *challenge, uint64_t number, int64_t now_ms, uint64_t bytes)
{
    *challenge = (struct challenge){
        .number = number, .begun_ms = now_ms, .heard_ms = now_ms, .bytes = bytes};
}

void challenge_heard(struct challenge *challenge, int64_t now_ms)
{
    challenge->heard_ms = now_ms;
}

void challenge_answered(struct challenge *challenge, uint64_t number)
{
    challenge->answered = challenge->answered || number == challenge->number;
}

bool challenge_asks(struct challenge *challenge, int64_t now_ms)
{
    if (challenge->asked && now_ms - challenge->asked_ms < CHALLENGE_REPEAT_MS) {
        return false;
    }
    challenge->asked = true;
    challenge->asked_ms = now_ms;
    return true;
}

enum challenge_verdict challenge_look(struct challenge *challenge, int64_t now_ms, uint64_t bytes)
{
    if (challenge->answered) {
        return CHALLENGE_STAYS;
    }
    if (bytes != challenge->bytes) {
        challenge->bytes = bytes;
        challenge->heard_ms = now_ms;
    }
    return now_ms - challenge->heard_ms >= CHALLENGE_SILENCE_MS ||
                   now_ms - challenge->begun_ms >= CHALLENGE_PATIENCE_MS
               ? CHALLENGE_YIELDS
               : CHALLENGE_OPEN;
}
