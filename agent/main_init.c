/* `hedgerow-agent init`: the files that a site begins with. */

#include "agent/main.h"
#include "io/daemon.h"

static const char NEXT[] =
    "\nNext, in this folder:\n"
    "  1. hedgerow keygen --out key\n"
    "  2. put coordinator.pub here, which the coordinator's operator gives you, and the address into agent.yml\n"
    "  3. put the records into data.csv, or their path into agent.yml\n"
    "  4. hedgerow-agent describe data.csv > data.yml, and correct what it says of the records\n"
    "  5. read policy.yml line by line: it decides what these records may lose\n"
    "  6. hedgerow-agent enrol --config agent.yml --token FILE\n"
    "  7. hedgerow-agent check --config agent.yml, and then run\n";

int main_init(const struct arguments *arguments)
{
    struct daemon_file file[] = {{"agent.yml", agent_settings_template()},
                                 {"policy.yml", policy_template()}};
    return daemon_init("hedgerow-agent", arguments->folder != NULL ? arguments->folder : ".", file,
                       sizeof file / sizeof file[0], NEXT);
}
