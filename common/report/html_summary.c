/* The top of the report, for a reader who will read nothing else: no symbol, no jargon, and for
 * every figure whether a deployment would know it. */

#include "report/html_parts.h"

#include <math.h>
#include <string.h>

struct tile {
    const char *name;
    bool main;
    bool simulator_only;
};

static void tile_open(FILE *page, const struct tile *tile)
{
    (void)fprintf(page, "<div class=\"tile%s\"><div class=\"name\"><span>%s</span>%s</div>",
                  tile->main ? " main" : "", tile->name,
                  tile->simulator_only ? "<span class=\"tag\">simulator only</span>" : "");
    (void)fputs("<div class=\"value\">", page);
}

/* A label that is a number: how far off the chosen model is, in the label's own unit. */
static void error_tiles(FILE *page, const struct result *result)
{
    tile_open(page, &(struct tile){"Root mean square error", true, true});
    html_number(page, result->error.root_mean_square, 3);
    (void)fputs("</div><div class=\"beside\">constant ", page);
    html_number(page, result->error.constant, 3);
    (void)fputs(" \xc2\xb7 pooled ", page);
    html_number(page, result->error.pooled, 3);
    (void)fputs("</div></div>\n", page);
    tile_open(page, &(struct tile){"Mean absolute error", true, true});
    html_number(page, result->error.mean_absolute, 3);
    (void)fputs("</div><div class=\"beside\">", page);
    if (isfinite(result->error.pinball)) {
        (void)fputs("pinball ", page);
        html_number(page, result->error.pinball, 3);
    } else {
        (void)fputs("in the unit of what is predicted", page);
    }
    (void)fputs("</div></div>\n", page);
}

static void price_tiles(FILE *page, const struct result *result)
{
    tile_open(page, &(struct tile){"Privacy price", false, false});
    (void)fprintf(page, "\xce\xb5 %.3g</div><div class=\"beside\">", result->privacy.epsilon);
    if (result->privacy.delta > 0) {
        (void)fprintf(page, "\xce\xb4 %.3g, ", result->privacy.delta);
    }
    (void)fputs("in all, per ", page);
    html_text(page, result->privacy.unit);
    (void)fprintf(page, "%s</div></div>\n", result->private ? "" : ", had the noise been secret");
    tile_open(page, &(struct tile){"Rounds", false, false});
    (void)fprintf(page, "%zu</div><div class=\"beside\">", result->round_count);
    html_count(page, result->agent_count, false);
    (void)fprintf(page, " institution%s", result->agent_count == 1 ? "" : "s");
    if (isfinite(result->seconds)) {
        (void)fprintf(page, " \xc2\xb7 %.1f seconds", result->seconds);
    }
    (void)fputs("</div></div>\n</div>\n", page);
}

/* The last thing that a select stage picked, or that was learned from answers. */
static const char *last_said(const struct result *result)
{
    for (size_t i = result->round_count; i-- > 0;) {
        if (result->round[i].said != NULL) {
            return result->round[i].said;
        }
    }
    return NULL;
}

/* A job of questions: no model that could be right or wrong. */
static void question_tiles(FILE *page, const struct result *result)
{
    const char *said = last_said(result);
    if (result->answer_count > 0) {
        tile_open(page, &(struct tile){"Answers", true, false});
        (void)fprintf(page, "%zu</div><div class=\"beside\">each with its error bar</div></div>\n",
                      result->answer_count);
    }
    if (said != NULL) {
        size_t count = 0;
        for (size_t i = 0; i < result->round_count; i++) {
            count += result->round[i].said != NULL;
        }
        tile_open(page, &(struct tile){"Found", true, false});
        (void)fprintf(page, "%zu</div><div class=\"beside\">%s", count,
                      count > 1 ? "lastly: " : "");
        html_text(page, said);
        (void)fputs("</div></div>\n", page);
    }
}

static void tiles(FILE *page, const struct result *result)
{
    bool exact = isfinite(result->accuracy);
    (void)fputs("<div class=\"tiles\">\n", page);
    if (result->chosen == RESULT_NONE && (result->answer_count > 0 || last_said(result) != NULL)) {
        question_tiles(page, result);
        price_tiles(page, result);
        return;
    }
    if (isfinite(result->error.root_mean_square)) {
        error_tiles(page, result);
        price_tiles(page, result);
        return;
    }
    tile_open(page, &(struct tile){"Accuracy", true, exact});
    html_percent(page, result->accuracy);
    (void)fputs("</div><div class=\"beside\">", page);
    if (exact) {
        (void)fputs("majority ", page);
        html_percent(page, result->baseline.majority);
        (void)fputs(" \xc2\xb7 pooled ", page);
        html_percent(page, result->baseline.pooled_accuracy);
    } else {
        (void)fputs("not computed: it needs exact records", page);
    }
    (void)fputs("</div></div>\n", page);
    tile_open(page, &(struct tile){"Ranking (AUC)", true, exact});
    html_number(page, result->auc, 3);
    (void)fputs("</div><div class=\"beside\">", page);
    if (exact) {
        (void)fputs("coin 0.5 \xc2\xb7 pooled ", page);
        html_number(page, result->baseline.pooled_auc, 3);
    } else {
        (void)fputs("not computed: it needs exact records", page);
    }
    (void)fputs("</div></div>\n", page);
    price_tiles(page, result);
}

static bool is_central(const struct result *result)
{
    return strcmp(result->privacy.trust, "central") == 0;
}

/* Who saw what: the sentence that must never claim more than the trust gives. */
static void who_saw_what(FILE *page, const struct result *result)
{
    (void)fputs(result->simulated
                    ? " One machine played all parts, each institution a process with its own "
                      "records, key and ledger; "
                    : " Records never left their institution; ",
                page);
    (void)fputs(is_central(result)
                    ? "the coordinator was sent exact sums, which it is trusted with, and let "
                      "nothing out without noise.</p>\n"
                    : "the coordinator was sent only answers that carry noise.</p>\n",
                page);
}

static void learned(FILE *page, const struct result *result)
{
    const bool has_model = result->chosen != RESULT_NONE;
    (void)fputs("<p><b>What was learned</b>", page);
    html_count(page, result->agent_count, true);
    (void)fprintf(page, " institution%s ", result->agent_count == 1 ? "" : "s");
    if (result->answer_count > 0) {
        (void)fprintf(page, "gave %zu answer%s about their records together%s",
                      result->answer_count, result->answer_count == 1 ? "" : "s",
                      has_model ? ", and " : "");
    }
    if (!has_model) {
        if (result->answer_count == 0 && last_said(result) != NULL) {
            (void)fputs("selected together from what the job lists", page);
        }
        (void)fputs(result->answer_count > 0 || last_said(result) != NULL
                        ? "; no model was asked for"
                        : "learned no model",
                    page);
        (void)fputs(".", page);
        who_saw_what(page, result);
        return;
    }
    (void)fputs(result->expert_count > 1 ? "compared " : "built ", page);
    html_count(page, result->expert_count, false);
    (void)fputs(result->expert_count > 1 ? " candidate models" : " candidate model together", page);
    if (result->expert_count > 1) {
        (void)fputs(" and settled on \xe2\x80\x9c", page);
        html_text(page, result->expert[result->chosen].name);
        (void)fputs("\xe2\x80\x9d", page);
    }
    (void)fputs(".", page);
    who_saw_what(page, result);
}

/* Of answers: how far the noise carried them is known to the simulator alone. */
static void close_to_exact(FILE *page, const struct result *result)
{
    size_t known = 0;
    size_t inside = 0;
    for (size_t i = 0; i < result->answer_count; i++) {
        const struct result_answer *answer = &result->answer[i];
        if (isfinite(answer->exact)) {
            known++;
            inside += answer->low <= answer->exact && answer->exact <= answer->high ? 1 : 0;
        }
    }
    (void)fputs("<p><b>How close to the exact answers</b>", page);
    if (known == 0) {
        (void)fputs(
            "Unknown, by design. Each answer\xe2\x80\x99s bar says where the exact one lies "
            "with at least 95 %.</p>\n",
            page);
        return;
    }
    (void)fprintf(page,
                  "The simulator asked the same questions without noise: %zu of %zu exact answers "
                  "lie within their bars, each of which may miss once in twenty times.</p>\n",
                  inside, known);
}

static void close_to_pooled(FILE *page, const struct result *result)
{
    const double majority = result->baseline.majority;
    const double pooled = result->baseline.pooled_accuracy;
    (void)fputs("<p><b>How close to pooling all records</b>", page);
    if (isfinite(result->error.root_mean_square)) {
        (void)fputs("On records that nobody learned from, its root mean square error is ", page);
        html_number(page, result->error.root_mean_square, 3);
        (void)fputs("; always answering their mean would err by ", page);
        html_number(page, result->error.constant, 3);
        (void)fputs(
            "; least squares on everybody\xe2\x80\x99s records in one place, without privacy, by ",
            page);
        html_number(page, result->error.pooled, 3);
        (void)fputs(".</p>\n", page);
        return;
    }
    if (!isfinite(result->accuracy) || !isfinite(pooled)) {
        (void)fputs(
            "Unknown, by design: to compare with records pooled in one place one would have to "
            "pool them. A rehearsal with <code>hedgerow simulate</code> on public records "
            "answers this question.</p>\n",
            page);
        return;
    }
    (void)fputs("On ", page);
    html_grouped(page, result->baseline.records_held);
    (void)fputs(" records that nobody learned from, it is right on ", page);
    html_percent(page, result->accuracy);
    (void)fputs(" (standard error ", page);
    html_percent(page, result_accuracy_error(result));
    if (isfinite(result_auc_error(result))) {
        (void)fprintf(page, "; of the AUC %.3f", result_auc_error(result));
    }
    (void)fputs("). Always answering the more frequent class would reach ", page);
    html_percent(page, majority);
    (void)fputs(
        "; the forbidden model, trained on everybody\xe2\x80\x99s records in one place without "
        "privacy, ",
        page);
    html_percent(page, pooled);
    (void)fputs(".</p>\n", page);
}

static void cost(FILE *page, const struct result *result)
{
    double epsilon = result->privacy.epsilon;
    (void)fputs("<p><b>What it cost in privacy</b>", page);
    if (!result->private) {
        (void)fputs(
            "Nothing here is protected: the noise can be drawn again by anyone who knows the "
            "seed. With secret noise the same job would hold to the following. ",
            page);
    }
    if (isfinite(epsilon)) {
        (void)fputs("Replace any one ", page);
        html_text(page, result->privacy.unit);
        (void)fprintf(
            page,
            " of an institution by another: whatever can be observed becomes at most %.3g "
            "times as likely, or as unlikely (\xce\xb5 = %.4g",
            exp(epsilon), epsilon);
        if (result->privacy.delta > 0.0) {
            (void)fprintf(page, ", but for a chance of at most \xce\xb4 = %.3g",
                          result->privacy.delta);
        }
        (void)fputs(").", page);
    }
    (void)fputs(" Under \xe2\x80\x9c", page);
    html_text(page, result->privacy.trust);
    (void)fputs(is_central(result)
                    ? "\xe2\x80\x9d trust the coordinator sees exact sums and adds the noise once; "
                      "the promise is about all it lets out, and not about what it sees.</p>\n"
                    : "\xe2\x80\x9d trust each institution adds its noise itself, before anything "
                      "leaves it.</p>\n",
                page);
}

static void exact_only(FILE *page, const struct result *result)
{
    (void)fputs("<p><b>What only a rehearsal can know</b>", page);
    if (result->simulated) {
        (void)fputs(
            "Everything marked <span class=\"tag\">simulator only</span> was computed from "
            "exact records by the simulator, which holds all of them. A deployment does not "
            "have these figures: they are not private. Released answers, losses, weights, regret "
            "and spending are what a deployment sees, too.</p>\n",
            page);
    } else {
        (void)fputs(
            "Accuracy, AUC, exact answers and the pooled model need exact records, so they are "
            "missing here. Losses, weights and regret are computed from released, noisy values, and "
            "missing where none were released; spending counts the answers that arrived.</p>\n",
            page);
    }
}

void html_summary(FILE *page, const struct result *result)
{
    (void)fputs("<header>\n<div class=\"brand\"><b>hedgerow</b><span>", page);
    html_text(page, result->job);
    (void)fprintf(page, "</span><span>%s</span></div>\n<h1>",
                  result->simulated ? "a rehearsal on one machine" : "a federation");
    if (result->finished) {
        html_count(page, result->agent_count, true);
        (void)fprintf(page, " institution%s %s together%s", result->agent_count == 1 ? "" : "s",
                      result->chosen != RESULT_NONE ? "learned one model" : "answered questions",
                      result->simulated ? ", in rehearsal." : ". Every record stayed at home.");
    } else {
        (void)fputs("The job has not come to its end.", page);
    }
    (void)fputs(
        "</h1>\n<p class=\"lede\">Private federated learning: institutions answer with figures of "
        "their records, a coordinator adds them up, and nothing is released without noise that "
        "hides any one record.</p>\n",
        page);
    tiles(page, result);
    (void)fputs("</header>\n<main>\n<section aria-label=\"In plain words\" class=\"words\">\n",
                page);
    learned(page, result);
    if (result->answer_count > 0) {
        close_to_exact(page, result);
    }
    if (result->chosen != RESULT_NONE) {
        close_to_pooled(page, result);
        html_worth(page, result);
    }
    cost(page, result);
    exact_only(page, result);
    (void)fputs("</section>\n", page);
}
