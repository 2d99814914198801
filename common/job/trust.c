#include "job/trust.h"

#include "base/check.h"

static const struct trust table[] = {
    [TRUST_LOCAL] = {.name = "local",
                     .promise = "every answer leaves this site with noise on it",
                     .sent = "the coordinator was sent only answers that carry noise",
                     .noise = "each institution adds its noise itself, before anything leaves it",
                     .own_answers = true,
                     .trusted = "nobody is trusted; each site counts on its own noise alone",
                     .messages = 5,
                     .round_trips = 2,
                     .commits = 2,
                     .rival = TRUST_CENTRAL},
    [TRUST_CENTRAL] = {.name = "central",
                       .promise = "this site sends EXACT sums; the coordinator adds the noise, and "
                                  "its operator could read them",
                       .sent = "the coordinator was sent exact sums, which it is trusted with, and "
                               "let nothing out without noise",
                       .noise = "the coordinator sees exact sums and adds the noise once; the "
                                "promise is about all it lets out, and not about what it sees",
                       .exact_answers = true,
                       .trusted = "the coordinator's operator is trusted with every site's exact "
                                  "sums",
                       .messages = 5,
                       .round_trips = 2,
                       .commits = 2,
                       .one_noise = true,
                       .rival = TRUST_LOCAL},
    [TRUST_DISTRIBUTED] =
        {.name = "distributed",
         .promise = "every answer leaves this site under masks, with a share of the noise on it; "
                    "only the sum of a cohort can be read, and it carries one whole noise",
         .sent = "the coordinator was sent masked answers, and could read their noisy sum alone",
         .noise = "each institution adds a share of one noise and masks its answer; the sum that "
                  "is opened carries the whole noise, if enough institutions are honest",
         .trusted = "nobody is trusted with a site's sums; of the sites at most "
                    "cohort.dishonest may help the coordinator",
         .messages = 11, /* those of local, and KEYS, ROSTER, SURVIVORS, SIGNED, OPEN, REVEAL */
         .round_trips = 5,
         .commits = 6, /* keys, roster, answer, survivors at both ends, outcome */
         .one_noise = true,
         .masked = true,
         .rival = TRUST_CENTRAL},
};
CHECK_TABLE(table, TRUST_COUNT);

const struct trust *trust_at(enum job_trust trust)
{
    CHECK(trust < TRUST_COUNT);
    return &table[trust];
}

const struct trust *trust_of(const struct job *job)
{
    return trust_at(job->trust);
}

const char *job_trust_name(unsigned trust)
{
    return trust < TRUST_COUNT ? trust_at((enum job_trust)trust)->name : NULL;
}
