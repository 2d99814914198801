/* What an agent says and does where two have one key. Whose place it is, the coordinator's transport decides. */

#include "agent/participant_state.h"
#include "base/exit_code.h"

/* Another connection under this site's key wants the place of this one. The answer comes from here and not from
 * the transport, so that it shows that an agent runs. */
enum status key_on_challenge(struct participant *p, const struct message *message,
                             struct effects *effects)
{
    struct message present = {.kind = MESSAGE_PRESENT};
    present.as.present.number = message->as.challenge.number;
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
        "another agent is connected with this site's key%s%s, so this one stops; remedy: run one agent per "
        "key. Stop the other one, or make a key for this one (hedgerow keygen) and enrol it as a site of "
        "its own",
        p->options.key_text == NULL ? "" : " ",
        p->options.key_text == NULL ? "" : p->options.key_text);
    return STATUS_OK;
}
