/* The page's frame. What is specific: the policy below is "nothing from anywhere"; style and
 * scripts are admitted by the digests that were computed when they were embedded, so text that
 * slipped through an escape could still not run. */

#include "report/html.h"

#include "report/assets.h"
#include "report/html_parts.h"

#include <math.h>
#include <stdlib.h>

static void asset(FILE *page, const char *element, const struct asset *asset)
{
    (void)fprintf(page, "<%s>", element);
    (void)fwrite(asset->bytes, 1, asset->size, page);
    (void)fprintf(page, "</%s>\n", element);
}

static void head(FILE *page, const struct result *result)
{
    (void)fprintf(page,
                  "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
                  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
                  "style-src '%s'; script-src '%s' '%s'; base-uri 'none'; form-action 'none'\">\n"
                  "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
                  "<meta name=\"referrer\" content=\"no-referrer\">\n<title>%s",
                  asset_style.hash, asset_charts.hash, asset_page.hash,
                  result->private ? "" : "NOT PRIVATE \xc2\xb7 ");
    html_text(page, result->job);
    (void)fputs(" \xc2\xb7 hedgerow report</title>\n", page);
    asset(page, "style", &asset_style);
    (void)fputs("</head>\n<body>\n", page);
    if (!result->private) {
        (void)fputs("<div class=\"alarm\" role=\"alert\"><strong>NOT PRIVATE</strong> ", page);
        if (result->has_seed) {
            (void)fputs("The noise came from a known seed, so anyone can draw it again and take it "
                        "off. For rehearsals and tests; never share this with real records.",
                        page);
        } else {
            (void)fputs("The file behind this report does not claim that its values are protected. "
                        "Do not share it.",
                        page);
        }
        (void)fputs("</div>\n", page);
    }
}

struct chart {
    const char *id;
    const char *css;
    const char *title;
    const char *text;
    const char *label; /* read out instead of the picture */
    bool wide;
    bool simulator_only;
    double error; /* the chosen one's standard error, which the script draws; 0: none */
};

static void figure(FILE *page, const struct chart *chart)
{
    (void)fprintf(
        page, "<figure class=\"card%s\"><figcaption><h3>%s%s</h3><p>%s</p></figcaption>\n",
        chart->wide ? " wide" : "", chart->title,
        chart->simulator_only ? " <span class=\"tag\">simulator only</span>" : "", chart->text);
    (void)fprintf(
        page,
        "<div class=\"plot %s\"><canvas id=\"%s\" role=\"img\" aria-label=\"%s The figures "
        "are in the tables below.\"",
        chart->css, chart->id, chart->label);
    if (chart->error > 0 && isfinite(chart->error)) {
        (void)fprintf(page, " data-error=\"%.6g\"", chart->error);
    }
    (void)fputs("></canvas></div></figure>\n", page);
}

static bool has_losses(const struct result *result)
{
    for (size_t i = 0; i < result->round_count; i++) {
        if (result->round[i].loss != NULL) {
            return true;
        }
    }
    return false;
}

static void quality(FILE *page, const struct result *result)
{
    if (result->chosen == RESULT_NONE) {
        return; /* questions alone */
    }
    (void)fputs("<section>\n<h2>How good is it?</h2>\n", page);
    if (isfinite(result->error.root_mean_square)) {
        (void)fputs(
            "<p>What is predicted is a number. The chosen model\xe2\x80\x99s error on records "
            "that nobody learned from, beside that of always answering their mean, and of "
            "least squares on everybody\xe2\x80\x99s records in one place. Each "
            "candidate\xe2\x80\x99s released loss stands in the tables below.</p>\n"
            "<div class=\"cards\">\n",
            page);
        figure(page,
               &(struct chart){"chart-error", "dots", "Error",
                               "How far off a prediction is: the root of the mean square, in the "
                               "unit of what is predicted. Lower is better.",
                               "Dot plot of the error of the chosen model, the pooled model "
                               "and the constant.",
                               true, true, 0});
        (void)fputs("</div>\n</section>\n", page);
        return;
    }
    if (isfinite(result->accuracy)) {
        (void)fputs("<p>Each candidate beside the one the federation chose, and beside the model "
                    "that all records in one place would give if privacy did not matter.</p>\n"
                    "<div class=\"cards\">\n",
                    page);
        figure(page,
               &(struct chart){"chart-accuracy", "dots", "Accuracy",
                               "The share of held-out records that a candidate gets right. The bar "
                               "is the chosen one's standard error.",
                               "Dot plot of the accuracy of each expert, the pooled model and the "
                               "majority class.",
                               false, true, result_accuracy_error(result)});
        figure(page, &(struct chart){"chart-auc", "dots", "Ranking (AUC)",
                                     "How often a candidate ranks a positive record above a "
                                     "negative one. A coin reaches 0.5. The bar is the chosen "
                                     "one's standard error.",
                                     "Dot plot of the AUC of each expert and the pooled model.",
                                     false, true, result_auc_error(result)});
        (void)fputs("</div>\n<ul class=\"key\"><li class=\"k-chosen\">chosen</li><li>other "
                    "candidates</li><li class=\"k-pooled\">pooled, not private</li><li "
                    "class=\"k-plain\">majority class</li></ul>\n</section>\n",
                    page);
        return;
    }
    if (!has_losses(result)) {
        (void)fputs("<p>Accuracy and AUC are statistics of exact records, so a deployment does not "
                    "compute them, and no loss was released by which one could tell. A job buys "
                    "such a figure as a query of its own.</p>\n</section>\n",
                    page);
        return;
    }
    (void)fputs(
        "<p>Accuracy and AUC are statistics of exact records, so a deployment does not "
        "compute them. What the institutions released, with their noise, is the loss of each "
        "candidate; the chosen one should be among the lowest.</p>\n<div class=\"cards\">\n",
        page);
    figure(page,
           &(struct chart){"chart-mean-losses", "dots", "Released loss of each candidate",
                           "The mean over all rounds. Lower is better. The bars are one standard "
                           "deviation of the noise.",
                           "Dot plot of the mean released loss of each expert.", true, false, 0});
    (void)fputs("</div>\n</section>\n", page);
}

/* Under central trust no loss is released, and a picture would have nothing to show. */
static void promised(FILE *page, const struct result *result)
{
    if (has_losses(result) || !isfinite(result->regret.bound)) {
        return;
    }
    (void)fputs(
        "<section>\n<h2>How was it chosen?</h2>\n<p>Round by round the coordinator judged the "
        "candidates by exact losses, which it let nobody see, and released by chance, in "
        "favour of the better ones, which candidate to play. The candidates played are "
        "expected to be at most ",
        page);
    html_number(page, result->regret.bound, 4);
    (void)fputs(
        " worse per round than the best one, on a scale from 0 to 1; how much worse they were, "
        "nobody may know.</p>\n</section>\n",
        page);
}

static void charts(FILE *page, const struct result *result)
{
    char weights[512];
    html_weights_said(weights, sizeof weights, result);
    html_answers(page, result);
    quality(page, result);
    promised(page, result);
    if (has_losses(result)) {
        (void)fputs(
            "<section>\n<h2>How was it chosen?</h2>\n<p>Round by round the institutions said, "
            "behind noise, how each candidate does on records it had not been judged on "
            "before. Candidates that do well gain weight.</p>\n<div class=\"cards\">\n",
            page);
        figure(page, &(struct chart){"chart-losses", "", "Noisy losses over rounds",
                                     "One thin line per candidate. The jumps they share come from "
                                     "the rounds' different records; the rest is mostly noise. The "
                                     "bars are one standard deviation of the noise.",
                                     "Line chart of each expert's released loss per round.", false,
                                     false, 0});
        figure(page,
               &(struct chart){"chart-weights", "", "Weights over rounds", weights,
                               "Area chart of the experts' weights per round.", false, false, 0});
        figure(page,
               &(struct chart){
                   "chart-regret", "low", "What the choice cost on the way (regret)",
                   "How much more was lost per round than by always playing the best "
                   "candidate, and the most that theory lets one expect. After the first "
                   "rounds the latter says little, and may lie above the picture.",
                   "Line chart of the average regret and its bound per round.", true, false, 0});
        (void)fputs("</div>\n</section>\n", page);
    }
    html_releases(page, result);
    if (result->agent_count > 0) {
        (void)fputs(
            "<section>\n<h2>What did it cost?</h2>\n<p>Each institution keeps its own ledger "
            "and stops answering when its budget is spent.</p>\n<div class=\"cards\">\n",
            page);
        figure(page,
               &(struct chart){
                   "chart-spend", "", "Privacy budget, institution by institution",
                   result->simulated
                       ? "Epsilon spent in all, and what each site's own policy leaves."
                       : "Epsilon spent on this job, and what is left of the job's price. "
                         "What a site's own policy leaves, only that site knows.",
                   "Bar chart of the epsilon spent and left per institution.", true, false, 0});
        (void)fputs("</div>\n</section>\n", page);
    }
}

/* The data block leaves the experts' models out: no chart shows them, and they may be large. */
static enum status data_block(FILE *page, const struct result *result)
{
    struct result copy = *result;
    char *json = NULL;
    enum status status = STATUS_NO_MEMORY;
    copy.expert = calloc(result->expert_count + 1, sizeof *copy.expert);
    if (copy.expert != NULL) {
        for (size_t i = 0; i < result->expert_count; i++) {
            copy.expert[i] = result->expert[i];
            copy.expert[i].model = NULL;
        }
        status = result_to_json(&json, &copy);
    }
    if (status == STATUS_OK) {
        (void)fputs("<script type=\"application/json\" id=\"data\">", page);
        html_json(page, json);
        (void)fputs("</script>\n", page);
    }
    free(json);
    free(copy.expert);
    return status;
}

static void foot(FILE *page, const struct result *result)
{
    (void)fputs("<footer>\n<p>Written by hedgerow ", page);
    html_text(page, result->version);
    (void)fputs(
        ". This page holds all it shows and loads nothing.</p>\n<details><summary>Licence of "
        "the embedded Chart.js</summary><p>",
        page);
    for (size_t i = 0; i < asset_charts_licence.size; i++) {
        char one[2] = {(char)asset_charts_licence.bytes[i], '\0'};
        html_text(page, one[0] == '\n' ? " " : one);
    }
    (void)fputs("</p></details>\n</footer>\n", page);
}

enum status html_report(char **html, const struct result *result)
{
    size_t size = 0;
    enum status status = STATUS_OK;
    FILE *page = NULL;
    *html = NULL;
    page = open_memstream(html, &size);
    if (page == NULL) {
        return STATUS_NO_MEMORY;
    }
    head(page, result);
    html_summary(page, result);
    charts(page, result);
    html_forecasts(page, result);
    html_tables(page, result);
    (void)fputs("</main>\n", page);
    foot(page, result);
    status = data_block(page, result);
    asset(page, "script", &asset_charts);
    asset(page, "script", &asset_page);
    (void)fputs("</body>\n</html>\n", page);
    if (fclose(page) != 0 && status == STATUS_OK) {
        status = STATUS_NO_MEMORY;
    }
    if (status != STATUS_OK) {
        free(*html);
        *html = NULL;
    }
    return status;
}
