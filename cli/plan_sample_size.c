/* `hedgerow plan pac` and `plan sq`: how many records a pick or a set of queries needs. */

#include "cli/plan.h"
#include "learn/sample_size.h"

static enum exit_code print_size(const struct command *command, const struct sample_size *size,
                                 const char *title, const char *advice, bool json)
{
    /* A pick is planned for noise that is added once: it has no such factor. */
    const bool has_factor = command->run != run_plan_pac;
    const struct plan_line line[] = {
        {"records", size->records, "records", size->range},
        {"for_noise", size->for_noise, "records", "what the noise asks for, with half of beta"},
        {"for_sampling", size->for_sampling, "records",
         "what drawing records asks for, private or not"},
        {has_factor ? "trust_factor" : NULL, size->trust_factor, "times",
         "for_noise against noise that is added once"},
        {NULL, 0, NULL, NULL}};
    return plan_answer(
        command, json, title, line,
        size->for_noise > size->for_sampling
            ? advice
            : "\nPrivacy is free here: drawing the records alone asks for as many.\n");
}

enum exit_code run_plan_pac(const struct command *command, int count, char **argument)
{
    struct pac_request request = {0};
    struct sample_size size;
    struct why why = {""};
    bool json = false;
    const struct option option[] = {
        {.name = "--candidates", .what = "C", .required = true, .whole = &request.candidates},
        {.name = "--alpha", .what = "A", .required = true, .real = &request.alpha},
        {.name = "--beta", .what = "B", .required = true, .real = &request.beta},
        {.name = "--epsilon", .what = "E", .required = true, .real = &request.epsilon},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        sample_size_pac(&size, &request, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    return print_size(command, &size, "a private pick by the number of errors",
                      "\nThe noise decides: a larger epsilon or alpha would help; fewer candidates "
                      "help little.\n",
                      json);
}

enum exit_code run_plan_sq(const struct command *command, int count, char **argument)
{
    struct sq_request request = {0};
    struct sample_size size;
    struct why why = {""};
    bool json = false;
    const struct option option[] = {
        {.name = "--queries", .what = "J", .required = true, .whole = &request.queries},
        {.name = "--tolerance", .what = "T", .required = true, .real = &request.tolerance},
        {.name = "--beta", .what = "B", .required = true, .real = &request.beta},
        {.name = "--epsilon", .what = "E", .required = true, .real = &request.epsilon},
        {.name = "--agents", .what = "N", .whole = &request.agents},
        {.name = "--json", .flag = &json}};

    if (options_read(OPTIONS(option), count, argument, &why) != STATUS_OK ||
        sample_size_sq(&size, &request, &why) != STATUS_OK) {
        return command_fail(command, EXIT_CODE_USAGE, "%s", why.text);
    }
    return print_size(
        command, &size, "queries with answers between 0 and 1, all asked at once",
        "\nThe noise decides: fewer queries, a larger tolerance or a larger epsilon would "
        "help; with --agents, another trust.\n",
        json);
}
