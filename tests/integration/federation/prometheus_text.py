"""prometheus_text.py - a strict reader of Prometheus' text format 0.0.4: every scraper accepts what it
accepts.

https://prometheus.io/docs/instrumenting/exposition_formats/ - and stricter: every family has its HELP and TYPE once, in this
order, before its samples, which stand together; no sample is there twice; counters end with _total and are not negative."""

import math
import re

NAME = r"[a-zA-Z_][a-zA-Z0-9_]*"
HEAD = re.compile(rf"# (HELP|TYPE) ({NAME}) (.+)\Z")
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (\S+)\Z")
LABEL = re.compile(rf'({NAME})="((?:[^"\\\n]|\\\\|\\"|\\n)*)"(,|\Z)')
VALUE = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]+)?(?:e[+-]?[0-9]+)?|Inf)\Z|NaN\Z")


class Malformed(Exception):
    """Why a text is not of the format."""


def expect(truth, sentence):
    if not truth:
        raise Malformed(sentence)


def read_labels(text):
    labels = []
    while text:
        found = LABEL.match(text)
        expect(found, f"no label: {text}")
        value = re.sub(r"\\(.)", lambda one: {"n": "\n"}.get(one[1], one[1]), found[2])
        labels.append((found[1], value))
        text = text[found.end():]
        expect(found[3] == "" or text, "a comma behind the last label")
    names = [name for name, _ in labels]
    expect(len(set(names)) == len(names), f"a label twice: {names}")
    return tuple(labels)


def read(text):
    """Returns {family: (type, {labels: value})}; labels is a tuple of pairs."""
    expect(text == "" or text.endswith("\n"), "the last line has no end")
    families = {}
    helped = None
    current = None
    for line in text.split("\n")[:-1]:
        expect(line == line.strip() and line.isprintable(), f"blanks or control letters: {line!r}")
        head = HEAD.match(line)
        if head and head[1] == "HELP":
            expect(head[2] not in families and helped is None, f"HELP again, or without TYPE: {line}")
            expect(re.fullmatch(r"(?:[^\\]|\\\\|\\n)*", head[3]), f"a lone backslash: {line}")
            helped = head[2]
        elif head:
            expect(helped == head[2], f"TYPE without its HELP: {line}")
            expect(head[3] in ("counter", "gauge"), f"type {head[3]}")
            current, helped = head[2], None
            families[current] = (head[3], {})
        else:
            sample = SAMPLE.match(line)
            expect(sample, f"no sample: {line}")
            expect(helped is None and sample[1] == current, f"not beside its family: {line}")
            kind, samples = families[current]
            labels = read_labels(sample[2] or "")
            expect(sample[2] is None or labels, f"empty braces: {line}")
            expect(VALUE.match(sample[3]), f"no number: {line}")
            value = float(sample[3].replace("Inf", "inf"))
            expect(labels not in samples, f"a sample twice: {line}")
            expect(all([name for name, _ in one] == [name for name, _ in labels] for one in samples), f"other labels: {line}")
            if kind == "counter":
                expect(current.endswith("_total") and (math.isnan(value) or value >= 0), f"no counter: {line}")
            samples[labels] = value
    expect(helped is None, "HELP without TYPE at the end")
    expect(all(samples for _, samples in families.values()), "a family without samples")
    return families


def self_test():
    """The reader takes what is right and refuses each mistake."""
    good = '# HELP a_total H \\\\ \\n\n# TYPE a_total counter\na_total{x="q\\"\\\\\\n"} 1e+18\na_total{x=""} +Inf\n'
    expect(read(good)["a_total"][1][(("x", 'q"\\\n'),)] == 1e18, "the good text")
    read("")
    for wrong in (good[:-1], good + good, good.replace("counter", "count"), good.replace("_total", ""), good.replace("# HELP", "#HELP"),
                  good.replace(' 1e+18', ''), good.replace("+Inf", "inf"), good.replace("+Inf", "-1"), good.replace('x=""', 'x="'),
                  good.replace('x=""', 'y=""'), good.replace('{x=""}', '{x="",}'), good.replace('{x=""}', '{}'), good + "b 1\n",
                  good.replace('x=""', 'x="q\\"\\\\\\n"'), good.replace('x=""', 'x="\\t"'), good + "\n", good.replace("1e+18", "1,5"),
                  good.replace(" 1e+18", "  1e+18"), good.split("\n", 1)[1], "# HELP b B\n", "# HELP b B\n# TYPE b gauge\n"):
        try:
            read(wrong)
        except Malformed:
            continue
        raise Malformed(f"taken, and is wrong: {wrong!r}")
