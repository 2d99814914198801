/* Any bytes as a job, as a policy's and a settings file's text, and as an override of a valid job.
 */

#include "agent/policy.h"
#include "config/config.h"
#include "config/settings.h"
#include "dictionary/dictionary.h"
#include "job/job.h"
#include "support/job_text.h"
#include "support/job_valid.h"

#include <stdint.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void fuzz_override(const uint8_t *data, size_t size)
{
    char assignment[256] = {0};
    char *out = NULL;
    size_t out_size = 0;
    struct job job;
    memcpy(assignment, data, size < sizeof assignment ? size : sizeof assignment - 1);
    if (config_override(&out, &out_size, (struct slice){job_text, strlen(job_text)}, "job.yml",
                        assignment, NULL) == STATUS_OK &&
        job_parse(&job, (struct slice){out, out_size}, "job.yml", NULL) == STATUS_OK) {
        if (!job_is_valid(&job)) {
            abort();
        }
        job_free(&job);
    }
    free(out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct slice text = {data, size};
    struct why why = {{0}};
    struct job job;
    struct policy policy;
    struct dictionary dictionary;
    struct agent_settings agent;
    struct coordinator_settings coordinator;
    if (job_parse(&job, text, "job.yml", &why) == STATUS_OK) {
        if (!job_is_valid(&job)) {
            abort();
        }
        job_free(&job);
    } else if (why.text[0] == '\0') {
        abort();
    }
    if (policy_parse(&policy, text, "policy.yml", &why) == STATUS_OK && policy.epsilon_micro == 0) {
        abort();
    }
    if (dictionary_parse(&dictionary, text, "data.yml", &why) == STATUS_OK) {
        if (dictionary.record_count < DICTIONARY_RECORDS_MIN || dictionary.column_count == 0) {
            abort();
        }
        dictionary_free(&dictionary);
    }
    if (agent_settings_parse(&agent, text, "/etc/a.yml", &why) == STATUS_OK &&
        agent.key[0] != '/') {
        abort();
    }
    if (coordinator_settings_parse(&coordinator, text, "/etc/c.yml", &why) == STATUS_OK &&
        coordinator.job[0] != '/') {
        abort();
    }
    fuzz_override(data, size);
    return 0;
}
