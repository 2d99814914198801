/* The command line: what is not in the table is refused, and the message says what. */

#include "config/options.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <string.h>

struct asked {
    const char *job;
    const char *out;
    uint64_t agents;
    uint64_t seed;
    bool seeded;
    bool json;
    double share;
    double records;
    struct option_many set;
};

static enum status read_words(struct asked *asked, const char *words, struct why *why)
{
    static char text[256];
    char *argument[32];
    int count = 0;
    *asked = (struct asked){.agents = 5};
    (void)snprintf(text, sizeof text, "%s", words);
    for (char *word = text; *word != '\0';) {
        argument[count++] = word;
        word += strcspn(word, " ");
        if (*word != '\0') {
            *word++ = '\0';
        }
    }
    const struct option option[] = {
        {.text = &asked->job, .required = true, .what = "JOB"},
        {.name = "--out", .text = &asked->out, .required = true, .what = "DIR"},
        {.name = "--agents", .number = &asked->agents, .min = 1, .max = 100, .what = "N"},
        {.name = "--seed",
         .number = &asked->seed,
         .max = 1000,
         .given = &asked->seeded,
         .what = "N"},
        {.name = "--set", .many = &asked->set, .what = "KEY=VALUE"},
        {.name = "--share", .real = &asked->share, .what = "S"},
        {.name = "--records", .whole = &asked->records, .what = "M"},
        {.name = "--json", .flag = &asked->json}};
    return options_read(option, sizeof option / sizeof option[0], count, argument, why);
}

Test(options, are_read_in_both_forms_and_any_order)
{
    struct asked asked;
    struct why why = {""};
    cr_assert(read_words(&asked, "--json --out=d job.yml --set a.b=1 --set=c=d --seed 0", &why) ==
                  STATUS_OK,
              "%s", why.text);
    cr_assert_str_eq(asked.job, "job.yml");
    cr_assert_str_eq(asked.out, "d");
    cr_assert(asked.json && asked.seeded && asked.seed == 0 && asked.agents == 5);
    cr_assert(asked.set.count == 2);
    cr_assert_str_eq(asked.set.value[0], "a.b=1");
    cr_assert_str_eq(asked.set.value[1], "c=d");
}

Test(options, read_numbers_as_people_write_them)
{
    struct asked asked;
    struct why why = {""};
    cr_assert(read_words(&asked, "j --out d --share -1.5e-3 --records 9007199254740992", &why) ==
                  STATUS_OK,
              "%s", why.text);
    cr_assert(asked.share == -1.5e-3 && asked.records == 9007199254740992.0);
}

Test(options, name_what_is_wrong)
{
    static const struct {
        const char *words;
        const char *says;
    } wrong[] = {
        {"job.yml", "--out"},
        {"--out d", "JOB"},
        {"job.yml --out", "--out"},
        {"job.yml --out d --out e", "twice"},
        {"job.yml other.yml --out d", "\"other.yml\" is one argument too many: JOB"},
        {"job.yml --out d --agens 3", "--agens"},
        {"job.yml --out d --agents", "--agents"},
        {"job.yml --out d --agents 0", "1 to 100"},
        {"job.yml --out d --agents 101", "1 to 100"},
        {"job.yml --out d --agents 5x", "1 to 100"},
        {"job.yml --out d --agents -5", "1 to 100"},
        {"job.yml --out d --agents 99999999999999999999", "1 to 100"},
        {"job.yml --out d --json=yes", "--json"},
        {"job.yml --out d --share 0,5", "--share wants a number after it"},
        {"job.yml --out d --share inf", "--share wants a number after it"},
        {"job.yml --out d --records 0",
         "--records wants a whole number from 1 to 9007199254740992"},
        {"job.yml --out d --records 9007199254740993", "1 to 9007199254740992"},
        {"job.yml --out d --records 1.5", "1 to 9007199254740992"},
        {"job.yml --out= ", "--out"},
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct asked asked;
        struct why why = {""};
        cr_expect(read_words(&asked, wrong[i].words, &why) == STATUS_INVALID, "accepted: %s",
                  wrong[i].words);
        cr_expect(strstr(why.text, wrong[i].says) != NULL, "%s: %s", wrong[i].words, why.text);
    }
}
