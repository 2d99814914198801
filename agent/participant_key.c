/* What an agent says and does where two have one key. Whose place it is, the coordinator's transport decides. */

#include "agent/participant_state.h"
#include "base/exit_code.h"

/* When a challenge that comes now may be answered. An answer at once would show how busy the machine is, and
 * challenges all the time when a computation ended. So they are answered once a second, and from the beginning
 * of a computation until its answer has left only at whole seconds from the invitation. */
static int64_t present_due_ms(const struct participant *p, int64_t now_ms)
{
    const int64_t next_ms = p->present_ms + PRESENT_MS;
    const int64_t due_ms = p->was_present && next_ms > now_ms ? next_ms : now_ms;
    if (!participant_is_computing(p) && p->round_phase != ROUND_WAITING) {
        return due_ms;
    }
    const int64_t after_ms = due_ms - p->invited_ms;
    const int64_t ticks = (after_ms + PRESENT_MS - 1) / PRESENT_MS;
    return p->invited_ms + (due_ms == now_ms ? after_ms / PRESENT_MS + 1 : ticks) * PRESENT_MS;
}

/* Another connection under this site's key wants the place of this one. The answer comes from here and not from
 * the transport, so that it shows that an agent runs. */
enum status key_on_challenge(struct participant *p, const struct event *event,
                             const struct message *message, struct effects *effects)
{
    if (message->as.challenge.number == 0) {
        return STATUS_OK; /* no question has this number */
    }
    if (p->challenged == 0) {
        p->present_ms = present_due_ms(p, event->now_ms);
        p->was_present = true;
    }
    p->challenged = message->as.challenge.number;
    return key_on_time(p, event, effects);
}

enum status key_on_time(struct participant *p, const struct event *event, struct effects *effects)
{
    struct message present = {.kind = MESSAGE_PRESENT, .as.present.number = p->challenged};
    if (p->challenged == 0 || event->now_ms < p->present_ms) {
        return STATUS_OK;
    }
    p->challenged = 0;
    p->present_ms =
        event->now_ms - (event->now_ms - p->present_ms) % PRESENT_MS; /* the same grid */
    return participant_send(p, effects, &present, (struct slice){0});
}

/* Two agents with one key would charge two ledgers for one answer, so this one ends. In a computation it is deaf
 * to this too, or the moment of its end would tell the coordinator when the computation ended. */
enum status key_on_in_use(struct participant *p, struct effects *effects)
{
    if (participant_is_deaf(p)) {
        return STATUS_OK;
    }
    struct effect *finish = effects_add(effects, EFFECT_FINISH);
    if (finish == NULL) {
        return STATUS_NO_MEMORY;
    }
    finish->as.finish.exit_code = EXIT_CODE_KEY_IN_USE;
    p->finished = true;
    log_event(
        p->options.log, LOG_ERROR, "key-in-use", p->coordinator.name,
        "the coordinator says that another agent is connected with this site's key%s%s, so this one stops; remedy: run one agent per "
        "key. Stop the other one, or make a key for this one (hedgerow keygen) and enrol it as a site of "
        "its own",
        p->options.key_text == NULL ? "" : " ",
        p->options.key_text == NULL ? "" : p->options.key_text);
    return STATUS_OK;
}
