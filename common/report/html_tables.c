/* The figures behind the charts, for those who do not see them, print them, or want to check them.
 */

#include "report/html_parts.h"

#include <math.h>
#include <stdint.h>

enum { ROWS_MAX = 1000 }; /* a page of 100,000 rows serves nobody; result.json has them all */

static void cell(FILE *page, double value, int decimals)
{
    (void)fputs("<td>", page);
    html_number(page, value, decimals);
    (void)fputs("</td>", page);
}

static void share(FILE *page, double value)
{
    (void)fputs("<td>", page);
    html_percent(page, value);
    (void)fputs("</td>", page);
}

static void table_open(FILE *page, const char *title, const char *caption, const char *heads)
{
    (void)fprintf(page,
                  "<details><summary>%s</summary><div class=\"scroll\"><table><caption>%s</caption>"
                  "<thead><tr>%s</tr></thead><tbody>\n",
                  title, caption, heads);
}

static void table_close(FILE *page, size_t rows)
{
    (void)fputs("</tbody></table></div>", page);
    if (rows > ROWS_MAX) {
        (void)fprintf(page, "<p>The first %d of %zu; result.json has all.</p>", (int)ROWS_MAX,
                      rows);
    }
    (void)fputs("</details>\n", page);
}

static double last_weight(const struct result *result, size_t expert)
{
    for (size_t i = result->round_count; i-- > 0;) {
        if (result->round[i].weight != NULL) {
            return result->round[i].weight[expert];
        }
    }
    return NAN;
}

static void experts(FILE *page, const struct result *result)
{
    if (result->expert_count == 0) {
        return;
    }
    table_open(page, "Candidates",
               "Every expert, the pooled model and the majority class. Accuracy and AUC: simulator "
               "only. Losses and weights: released, noise included.",
               "<th scope=\"col\">expert</th><th scope=\"col\">lambda</th><th "
               "scope=\"col\">accuracy</th><th scope=\"col\">AUC</th><th scope=\"col\">mean "
               "loss</th><th scope=\"col\">last weight</th>");
    for (size_t i = 0; i < result->expert_count && i < ROWS_MAX; i++) {
        const struct result_expert *expert = &result->expert[i];
        bool chosen = (int64_t)i == result->chosen;
        double mean = NAN;
        (void)fprintf(page, "<tr%s><th scope=\"row\">", chosen ? " class=\"chosen\"" : "");
        html_text(page, expert->name);
        (void)fprintf(page, "%s</th><td>%.6g</td>", chosen ? " (chosen)" : "", expert->lambda);
        share(page, expert->accuracy);
        cell(page, expert->auc, 4);
        (void)html_mean_loss(&mean, result, i);
        cell(page, mean, 4);
        share(page, last_weight(result, i));
        (void)fputs("</tr>\n", page);
    }
    if (isfinite(result->baseline.pooled_accuracy)) {
        (void)fprintf(page,
                      "<tr class=\"pooled\"><th scope=\"row\">pooled, not private, simulator "
                      "only</th><td>%.6g</td>",
                      result->baseline.pooled_lambda);
        share(page, result->baseline.pooled_accuracy);
        cell(page, result->baseline.pooled_auc, 4);
        (void)fputs("<td></td><td></td></tr>\n<tr><th scope=\"row\">majority class</th><td></td>",
                    page);
        share(page, result->baseline.majority);
        cell(page, 0.5, 4);
        (void)fputs("<td></td><td></td></tr>\n", page);
    }
    table_close(page, result->expert_count);
}

static void rounds(FILE *page, const struct result *result)
{
    table_open(page, "Rounds", "Every round, as the coordinator closed it.",
               "<th scope=\"col\">round</th><th scope=\"col\" class=\"text\">stage</th><th "
               "scope=\"col\">institutions</th><th scope=\"col\" class=\"text\">played</th><th "
               "scope=\"col\">epsilon so far</th><th scope=\"col\">regret</th><th "
               "scope=\"col\">bound</th><th scope=\"col\">seconds</th>");
    for (size_t i = 0; i < result->round_count && i < ROWS_MAX; i++) {
        const struct result_round *round = &result->round[i];
        (void)fprintf(page, "<tr><th scope=\"row\">%u</th><td class=\"text\">", round->round + 1);
        html_text(page, round->stage);
        (void)fprintf(page, "%s</td><td>%u</td><td class=\"text\">",
                      round->failed ? " (failed)" : "", round->agents);
        html_text(page, round->said != NULL            ? round->said
                        : round->chosen == RESULT_NONE ? ""
                                                       : result->expert[round->chosen].name);
        (void)fputs("</td>", page);
        cell(page, round->epsilon, 4);
        cell(page, round->regret_average, 4);
        cell(page, round->regret_bound, 4);
        cell(page, round->seconds, 2);
        (void)fputs("</tr>\n", page);
    }
    table_close(page, result->round_count);
}

static void agents(FILE *page, const struct result *result)
{
    table_open(page, "Institutions",
               result->simulated
                   ? "By each institution\xe2\x80\x99s own ledger."
                   : "By the answers that counted, against the job's price; what a site's "
                     "own policy leaves, only that site knows.",
               "<th scope=\"col\">institution</th><th scope=\"col\">answers</th><th "
               "scope=\"col\">epsilon spent</th><th scope=\"col\">at delta</th><th "
               "scope=\"col\">epsilon left</th>");
    for (size_t i = 0; i < result->agent_count && i < ROWS_MAX; i++) {
        const struct result_agent *agent = &result->agent[i];
        (void)fputs("<tr><th scope=\"row\">", page);
        html_text(page, agent->name);
        (void)fprintf(page, "</th><td>%u</td>", agent->answers);
        cell(page, agent->epsilon_spent, 6);
        (void)fprintf(page, "<td>%.3g</td>", agent->delta_spent > 0 ? agent->delta_spent : 0.0);
        cell(page, agent->epsilon_left, 6);
        (void)fputs("</tr>\n", page);
    }
    table_close(page, result->agent_count);
}

static void regret(FILE *page, const struct result *result)
{
    if (!isfinite(result->regret.bound)) {
        return;
    }
    table_open(page, "Regret", "Average per round, in units of the clamped loss.",
               "<th scope=\"col\">figure</th><th scope=\"col\">value</th>");
    (void)fprintf(page, "<tr><th scope=\"row\">reached%s</th>",
                  isfinite(result->regret.average) ? "" : ": nobody may know, under this trust");
    cell(page, result->regret.average, 5);
    (void)fputs("</tr>\n<tr><th scope=\"row\">bound (Hoeffding\xe2\x80\x99s lemma)</th>", page);
    cell(page, result->regret.bound, 5);
    (void)fputs("</tr>\n<tr><th scope=\"row\">of which due to the noise on the losses</th>", page);
    cell(page, result->regret.noise, 5);
    (void)fputs("</tr>\n<tr><th scope=\"row\">bound as in the textbook (Dwork and Roth, 11.1)</th>",
                page);
    cell(page, result->regret.textbook, 5);
    (void)fputs("</tr>\n", page);
    table_close(page, 0);
}

static void glossary(FILE *page, const struct result *result)
{
    const bool has_models = result->expert_count > 0;
    (void)fputs(
        "<section>\n<h2>What the words mean</h2>\n<dl>\n"
        "<dt>epsilon (\xce\xb5)</dt><dd>How much more, or less, likely any observation can become "
        "when one record is replaced: at most e<sup>\xce\xb5</sup> times. It adds up over answers; "
        "small is private.</dd>\n",
        page);
    if (has_models) {
        (void)fputs(
            "<dt>candidate, expert</dt><dd>A model made from what the institutions had already "
            "released, also with its threshold moved, or one that the job wrote down. Making more of "
            "them costs no privacy; judging them does.</dd>\n"
            "<dt>loss</dt><dd>A number from 0, right and sure, to 1, wrong, averaged over the records "
            "of one round.</dd>\n"
            "<dt>regret, cost of the choice</dt><dd>How much more the candidates that were played lost "
            "per round than the best single one, as it turned out. 0 is perfect.</dd>\n",
            page);
    }
    if (isfinite(result->auc)) {
        (void)fputs(
            "<dt>AUC</dt><dd>The share of pairs, one positive and one negative record, that a "
            "model puts in the right order.</dd>\n",
            page);
    }
    if (isfinite(result->baseline.pooled_accuracy) || isfinite(result->error.pooled)) {
        (void)fprintf(
            page,
            "<dt>pooled, not private</dt><dd>%s on all records in one place, without noise, on the "
            "same features. Cross-validation on those records chooses its penalty. No deployment "
            "could make it.</dd>\n",
            isfinite(result->error.pooled) ? "Least squares" : "Logistic regression");
    }
    (void)fputs("</dl>\n</section>\n", page);
}

void html_tables(FILE *page, const struct result *result)
{
    (void)fputs(
        "<section>\n<h2>The figures</h2>\n<p>All that the charts show, and some more.</p>\n", page);
    experts(page, result);
    rounds(page, result);
    agents(page, result);
    regret(page, result);
    (void)fputs("</section>\n", page);
    glossary(page, result);
}
