/* `hedgerow-coordinator init`: the file that an operator begins with. */

#include "coordinator/main.h"
#include "io/daemon.h"

static const char NEXT[] =
    "\nNext, in this folder:\n"
    "  1. hedgerow keygen --out key\n"
    "  2. write job.yml (docs/JOBS.md), and read what it costs: hedgerow plan job job.yml\n"
    "  3. hedgerow-coordinator agents add NAME --token NAME.token --address tcp://HOST:PORT --config coordinator.yml\n"
    "  4. give each site its token, and key.pub as coordinator.pub\n"
    "  5. hedgerow-coordinator check --config coordinator.yml, and then run\n";

int main_init(const struct arguments *arguments)
{
    struct daemon_file file[] = {{"coordinator.yml", coordinator_settings_template()}};
    return daemon_init("hedgerow-coordinator", arguments->folder != NULL ? arguments->folder : ".",
                       file, 1, NEXT);
}
