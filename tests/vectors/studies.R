# studies.R - known answers of studies' statistics by R's `survival` and `stats`: Rscript tests/vectors/studies.R from the
# repository's root writes tests/vectors/studies.json. Debian: r-base-core, r-cran-survival. No test needs R.
library(survival)

json <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ", "), "]")
entry <- function(name, value) sprintf('    "%s": %s', name, value)
object <- function(name, entries) sprintf('  "%s": {\n%s\n  }', name, paste(entries, collapse = ",\n"))

# Cells as estimate/survival.h lays them out: deaths at an interval's end are in it, censorings at its begin.
cells <- function(time, event, group, k, end) {
  out <- c()
  for (g in levels(group)) {
    own <- group == g
    edges <- end * (0:k) / k
    died <- event & time <= end & own
    lost <- !event & time < end & own
    out <- c(out, table(cut(time[died], edges, include.lowest = TRUE)),
      table(cut(time[lost], edges, right = FALSE)), sum(own) - sum(died) - sum(lost))
  }
  c(out, 0)
}

# Deaths at the intervals' ends and no censoring before the last: the actuarial curve is Kaplan and Meier's.
set.seed(14)
n <- 240
group <- factor(rep(c("a", "b", "c"), length.out = n))
when <- ceiling(rexp(n, c(0.05, 0.08, 0.12)[group]))
death <- when <= 10
time <- pmin(when, 10)
fit <- survfit(Surv(time, death) ~ group)
at <- summary(fit, times = 1:10)
two <- group != "c"
medians <- c(t(summary(fit)$table[, c("median", "0.95LCL", "0.95UCL")])) # NA: beyond the end, told as 11
toy <- object("toy", c(
  entry("intervals", 10), entry("end_of", json(10)), entry("groups", 3),
  entry("cells", json(cells(time, death, group, 10, 10))),
  entry("survival", json(at$surv)), entry("low", json(at$lower)), entry("high", json(at$upper)),
  entry("medians", json(replace(medians, is.na(medians), 11))),
  entry("log_rank", json(survdiff(Surv(time, death) ~ group)$chisq)),
  entry("log_rank_p", json(pchisq(survdiff(Surv(time, death) ~ group)$chisq, 2, lower.tail = FALSE))),
  entry("cells_of_two", json(cells(time[two], death[two], factor(group[two]), 10, 10))),
  entry("log_rank_of_two", json(survdiff(Surv(time, death) ~ group, subset = two)$chisq))))

# The hospitals' records as they are, in 20 intervals.
f <- read.csv("compose/hospitals/flchain.csv")
f$sex <- factor(f$sex)
end <- 5000
exact <- summary(survfit(Surv(futime, death) ~ sex, f), times = end * (1:20) / 20)
seen <- with(f, list(time = pmin(futime, end), death = death == 1 & futime <= end))
means <- summary(survfit(Surv(futime, death) ~ sex, f), rmean = end)$table
flchain <- object("flchain", c(
  entry("intervals", 20), entry("end_of", json(end)), entry("groups", 2),
  entry("cells", json(cells(f$futime, f$death == 1, f$sex, 20, end))),
  entry("survival", json(exact$surv)), entry("low", json(exact$lower)), entry("high", json(exact$upper)),
  entry("mean", json(means[, "rmean"])), entry("mean_error", json(means[, "se(rmean)"])),
  entry("log_rank", json(survdiff(Surv(seen$time, seen$death) ~ f$sex)$chisq))))

# The ratio of hazards that is constant: of an interval's deaths the second group has a binomial number, whose odds are the ratio of
# the times at risk times it. Restricted means of cells, and their sampling errors by Greenwood, as estimate/survival.h has them.
hazard_ratio <- function(cells, k) {
  of <- lapply(0:1, function(g) {
    own <- cells[g * (2 * k + 1) + 1:(2 * k + 1)]
    d <- own[1:k]
    c <- own[k + 1:k]
    later <- rev(cumsum(rev(c(d[-1] + c[-1], own[2 * k + 1]))))
    list(d = d, t = later + (d + c) / 2)
  })
  fit <- glm(cbind(of[[2]]$d, of[[1]]$d) ~ offset(log(of[[2]]$t / of[[1]]$t)), family = binomial,
             control = list(epsilon = 1e-14, maxit = 100))
  c(coef(fit), sqrt(vcov(fit)))
}
hazards <- object("hazards", c(
  entry("toy", json(unname(hazard_ratio(cells(time[two], death[two], factor(group[two]), 10, 10), 10)))),
  entry("flchain", json(unname(hazard_ratio(cells(f$futime, f$death == 1, f$sex, 20, end), 20))))))

# Cross tables: Pearson's test; the odds ratio's interval by inverting the score test (Cornfield), the risk difference's by
# inverting Pearson's with the difference given (Mee 1984; by numbers alone: uniroot on the constrained likelihood).
counts <- table(f$sex, f$death)
larger <- table(f$flc.grp, f$death)
z2 <- qchisq(0.95, 1)
cornfield <- function(t, side) {
  a <- t[1, 1]; b <- t[1, 2]; c <- t[2, 1]; d <- t[2, 2]
  r1 <- a + b; c1 <- a + c; n <- sum(t)
  gap <- function(log_theta) {
    theta <- exp(log_theta)
    fit <- uniroot(function(x) x * (n - r1 - c1 + x) - theta * (r1 - x) * (c1 - x),
      c(max(0, r1 + c1 - n), min(r1, c1)), tol = 1e-12)$root
    (a - fit)^2 * (1 / fit + 1 / (r1 - fit) + 1 / (c1 - fit) + 1 / (n - r1 - c1 + fit)) - z2
  }
  middle <- log(a * d / (b * c))
  exp(uniroot(gap, if (side == 0) c(middle - 3, middle) else c(middle, middle + 3), tol = 1e-12)$root)
}
# The shares under a given difference: of the greatest likelihood (Mee), whose derivative falls in the first share; or by all
# records together (Wallenstein 1997), as estimate/crosstab.h has them.
risk_difference <- function(t, side, pooled = FALSE) {
  a <- t[1, 1]; b <- t[1, 2]; c <- t[2, 1]; d <- t[2, 2]
  gap <- function(more) {
    ends <- c(max(0, -more), min(1, 1 - more)) + c(1e-12, -1e-12)
    p <- if (pooled) (b + d - (c + d) * more) / sum(t)
      else uniroot(function(p) b / p - a / (1 - p) + d / (p + more) - c / (1 - p - more), ends, tol = 1e-14)$root
    q <- p + more
    (d / (c + d) - b / (a + b) - more)^2 / (p * (1 - p) / (a + b) + q * (1 - q) / (c + d)) - z2
  }
  middle <- d / (c + d) - b / (a + b)
  uniroot(gap, if (side == 0) c(middle - 0.2, middle) else c(middle, middle + 0.2), tol = 1e-12)$root
}
crosstab <- object("crosstab", c(
  entry("difference", json(c(counts[2, 2] / sum(counts[2, ]) - counts[1, 2] / sum(counts[1, ]),
    risk_difference(counts, 0), risk_difference(counts, 1)))),
  entry("difference_pooled", json(c(risk_difference(counts, 0, TRUE), risk_difference(counts, 1, TRUE)))),
  entry("share", json(c(counts[1, 2] / sum(counts[1, ]), prop.test(counts[1, 2], sum(counts[1, ]), correct = FALSE)$conf.int))),
  entry("cells", json(c(t(counts)))), entry("chi_squared", json(chisq.test(counts, correct = FALSE)$statistic)),
  entry("p", json(chisq.test(counts, correct = FALSE)$p.value)),
  entry("odds_ratio", json(counts[1, 1] * counts[2, 2] / (counts[1, 2] * counts[2, 1]))),
  entry("odds_low", json(cornfield(counts, 0))), entry("odds_high", json(cornfield(counts, 1))),
  entry("cells_of_ten", json(c(t(larger)))),
  entry("chi_squared_of_ten", json(chisq.test(larger, correct = FALSE)$statistic))))

# Table 1 of the hospitals' records: mean, sd and quantile (type 1: a value that is there) by death and together, and counts.
with_missing <- c(split(f, f$death), list(all = f))
figures <- function(column) unname(unlist(lapply(with_missing, function(g) c(mean(g[[column]], na.rm = TRUE),
  sd(g[[column]], na.rm = TRUE), quantile(g[[column]], c(0.25, 0.5, 0.75), type = 1, na.rm = TRUE), sum(is.na(g[[column]]))))))
# Intervals of a mean by the normal distribution; of a share by the score (Wilson).
wilson <- function(x, n) prop.test(x, n, correct = FALSE)$conf.int
men <- unname(unlist(lapply(with_missing, function(g) c(sum(g$sex == "M"), nrow(g), wilson(sum(g$sex == "M"), nrow(g))))))
levels_of <- function(column) sort(unique(f[[column]]))
counts_of <- function(column) c(table(factor(f[[column]], levels_of(column)), f$death)) # of the living, then of the dead
table1 <- object("table1", c(
  entry("age", json(figures("age"))), entry("age_values", json(levels_of("age"))), entry("age_counts", json(counts_of("age"))),
  entry("creatinine", json(figures("creatinine"))), entry("creatinine_values", json(levels_of("creatinine"))),
  entry("creatinine_counts", json(counts_of("creatinine"))), entry("men", json(men))))

# A score judged by an event: age for death, in 8 levels from 50 to 98. The AUC is Wilcoxon's statistic of the levels, ties a half.
level <- pmin(pmax(floor((f$age - 50) / 6), 0), 7)
u <- unname(suppressWarnings(wilcox.test(level[f$death == 1], level[f$death == 0])$statistic))
dead <- f$death == 1
# DeLong's variance: of each record's mean of comparisons with the other class.
of_dead <- sapply(level[dead], function(s) mean((level[!dead] < s) + 0.5 * (level[!dead] == s)))
of_alive <- sapply(level[!dead], function(s) mean((level[dead] > s) + 0.5 * (level[dead] == s)))
population <- function(x) mean((x - mean(x))^2)
ratio <- function(x, n) c(x / n, wilson(x, n))
# As a risk of k/8 from each level on: the net benefit and its standard error, of treating those and of treating all; and the share with
# the event less the mean of the levels' middles.
mean_error <- function(x) c(mean(x), sqrt(population(x) / length(x)))
benefit <- function(k, all) { odds <- k / (8 - k); mean_error((all | level >= k) * ifelse(dead, 1, -odds)) }
evaluate <- object("evaluate", c(
  entry("net_benefit", json(unlist(lapply(1:7, benefit, all = FALSE)))), entry("of_all", json(unlist(lapply(1:7, benefit, all = TRUE)))),
  entry("in_the_large", json(mean_error(dead - (level + 0.5) / 8))),
  entry("cells", json(c(table(factor(level, 0:7), f$death)))), entry("auc", json(u / sum(dead) / sum(!dead))),
  entry("auc_error", json(sqrt(population(of_dead) / sum(dead) + population(of_alive) / sum(!dead)))),
  entry("accuracy", json(ratio(sum((level >= 4) == dead), length(dead)))),
  entry("sensitivity", json(ratio(sum(level >= 4 & dead), sum(dead)))),
  entry("specificity", json(ratio(sum(level < 4 & !dead), sum(!dead)))),
  entry("calibration", json(unname(unlist(lapply(0:7, function(k) ratio(sum(dead[level == k]), sum(level == k)))))))))

# The C-index of the hospitals' records: age for the time to death, in 8 bins each; by sex and together. A death is in the interval that
# ends with it, a censoring in the one that begins with it. The error is survival's, by the infinitesimal jackknife.
bins <- 8
aged <- pmin(pmax(floor((f$age - 50) / 48 * bins), 0), bins - 1)
dies <- f$death == 1 & f$futime <= end
gone <- ifelse(dies, ceiling(f$futime / end * bins) - 1, floor(f$futime / end * bins))
gone <- ifelse(f$futime > end | (!dies & f$futime >= end), bins, pmax(gone, 0))
rows_of <- function(own) {
  row <- ifelse(dies, gone, ifelse(gone == bins, 2 * bins, bins + gone))[own]
  c(table(factor(aged[own], 0:(bins - 1)), factor(row, 0:(2 * bins))))
}
harrell <- function(own) {
  fit <- concordance(Surv(gone[own], dies[own]) ~ aged[own], reverse = TRUE)
  c(fit$concordance, sqrt(fit$var), sum(dies[own]), sum(own))
}
everybody <- rep(TRUE, nrow(f))
concordances <- object("concordance", c(
  entry("cells", json(c(rows_of(f$sex == "F"), rows_of(f$sex == "M"), 0))),
  entry("women", json(unname(harrell(f$sex == "F")))), entry("men", json(unname(harrell(f$sex == "M")))),
  entry("all", json(unname(harrell(everybody))))))

# Correlations of the hospitals' records as the schema of the tests maps them, clamped: complete cases. Sums and products of columns
# in [-1, 1], as estimate/correlate.h lays them out; a column of two categories is -1 and 1.
ranged <- function(x, centre, half) pmin(pmax((x - centre) / half, -1), 1)
z <- cbind(ranged(f$age, 75, 25), ranged(log1p(f$creatinine), 0.75, 0.6), ranged(log1p(f$kappa), 1, 0.8), ifelse(f$sex == "M", 1, -1))
z <- z[complete.cases(z), ]
moments <- function(z) c(nrow(z) / 2, colSums(z), unlist(lapply(seq_len(ncol(z)), function(i) sapply(i:ncol(z), function(j)
  sum(z[, i] * z[, j]) / (1 + (i == j))))))
pairs <- combn(ncol(z), 2)
tested <- apply(pairs, 2, function(p) { t <- cor.test(z[, p[1]], z[, p[2]]); c(t$estimate, t$p.value) })
# Fourth moments of weight 1, and the sampling error by the squares of the records' influences; the test by that at a correlation of 0.
fourth <- function(z) c(unlist(lapply(seq_len(ncol(z)), function(i) c(sum(z[, i]^3), sum(z[, i]^4)) / 4)),
  apply(combn(ncol(z), 2), 2, function(p) { x <- z[, p[1]]; y <- z[, p[2]]
    c(sum(x^2 * y), sum(x * y^2), sum(x^3 * y) / 2, sum(x^2 * y^2), sum(x * y^3) / 2) }))
own <- function(x) (x - mean(x)) / sqrt(population(x))
error_at <- function(p, at) {
  x <- own(z[, p[1]]); y <- own(z[, p[2]])
  sqrt(sum((x * y - mean(x * y) - at * (x^2 + y^2 - 2) / 2)^2)) / nrow(z)
}
errors <- apply(pairs, 2, function(p) error_at(p, cor(z[, p[1]], z[, p[2]])))
log_p <- apply(pairs, 2, function(p) log(2) + pnorm(-abs(cor(z[, p[1]], z[, p[2]])) / error_at(p, 0), log.p = TRUE))
correlate <- object("correlate", c(
  entry("cells", json(moments(z))), entry("fourth", json(fourth(z))),
  entry("correlations", json(tested[1, ])), entry("p", json(tested[2, ])), entry("p_normal", json(2 * pnorm(-abs(tested[1, ]) * sqrt(nrow(z))))),
  entry("errors", json(errors)), entry("log_p_robust", json(log_p)),
  entry("eigenvalues", json(prcomp(z, scale. = TRUE)$sdev^2)), entry("loadings", json(c(prcomp(z, scale. = TRUE)$rotation)))))

# One effect at several sites (hospitals), without noise: tau^2 where the weighted squares are the median of chi-squared, the mean by
# weighted least squares with the t distribution, its variance's factor at least 1, and Cochran's test.
between <- function(y, v) {
  k <- length(y)
  squares <- function(tau2) { w <- 1 / (v + tau2); sum(w * (y - weighted.mean(y, w))^2) }
  median <- qchisq(0.5, k - 1)
  tau2 <- if (squares(0) <= median) 0 else uniroot(function(x) squares(x) - median, c(0, 100 * var(y)), tol = 1e-15)$root
  w <- 1 / (v + tau2)
  fit <- lm(y ~ 1, weights = w)
  error <- sqrt(max(1, summary(fit)$sigma^2) / sum(w))
  typical <- (k - 1) * sum(1 / v) / (sum(1 / v)^2 - sum(1 / v^2))
  c(coef(fit), coef(fit) + c(-1, 1) * qt(0.975, k - 1) * error, error, sqrt(tau2), tau2 / (tau2 + typical), squares(0),
    pchisq(squares(0), k - 1, lower.tail = FALSE))
}
y <- c(0.12, 0.31, 0.05, 0.44, 0.22, 0.18)
v <- c(0.0021, 0.0144, 0.0009, 0.0225, 0.0049, 0.0036)
alike <- c(0.21, 0.19, 0.2)
sites <- object("between", c(
  entry("y", json(y)), entry("v", json(v)), entry("joined", json(between(y, v))),
  entry("alike", json(alike)), entry("joined_alike", json(between(alike, v[1:3])))))

# Regressions on cells: a number's levels -2/3, 0, 2/3, two categories, outcomes fastest. Errors are the sandwich's.
# Hazards: regress_hazard.py.
level <- rep(c(-2, 0, 2) / 3, each = 2)
second <- rep(0:1, 3)
X <- cbind(1, level, second)

sandwich_of <- function(x, weight, residual, curve) {
  bread <- solve(crossprod(x, x * (weight * curve)))
  sqrt(diag(bread %*% crossprod(x, x * (weight * residual^2)) %*% bread))
}

regress_of <- function(family, cells, values) {
  n <- as.vector(t(matrix(cells, ncol = length(values), byrow = TRUE)))
  x <- X[rep(1:6, each = length(values)), ]
  y <- rep(values, 6)
  link <- list(logistic = quasibinomial(), linear = gaussian(), poisson = quasipoisson())[[family]]
  fit <- glm(y ~ x - 1, family = link, weights = n, control = list(epsilon = 1e-14, maxit = 100))
  mean <- fitted(fit)
  curve <- switch(family, logistic = mean * (1 - mean), linear = 1, poisson = mean)
  object(paste0("regress_", family), c(
    entry("cells", json(cells)), entry("coefficients", json(unname(coef(fit)))),
    entry("errors", json(unname(sandwich_of(x, n, y - mean, curve))))))
}

regress <- paste(
  regress_of("logistic", c(90, 10, 80, 22, 70, 31, 75, 35, 40, 44, 33, 71), 0:1),
  regress_of("linear", c(40, 30, 20, 10, 30, 30, 25, 15, 22, 28, 27, 23, 12, 25, 33, 30, 10, 18, 32, 40, 5, 15, 30, 50),
             c(-1, -1 / 3, 1 / 3, 1)),
  regress_of("poisson", c(60, 20, 5, 1, 50, 30, 9, 2, 44, 33, 12, 4, 36, 35, 18, 6, 25, 35, 24, 9, 18, 33, 30, 14), 0:3), sep = ",\n")

cat("{\n", paste(toy, flchain, crosstab, table1, evaluate, concordances, correlate, sites, hazards, regress, sep = ",\n"), "\n}\n", sep = "", file = "tests/vectors/studies.json")
