"""test_dashboard.py - compose/watch: the dashboard asks for figures that the programs have, with labels that they have, and shows each
figure that WATCHING names an alarm for."""

import json
import pathlib
import re
import sys

try:
    import yaml
except ImportError:
    print("python3-yaml is missing: nothing is checked")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[3]
WATCH = ROOT / "compose" / "watch"
SET_BY_PROMETHEUS = {"instance", "job"}


def families():
    """{name: labels} of both programs' tables of facts; one that both have has the labels of either."""
    found = {}
    for path in ("coordinator/main_face_table.h", "agent/main_face.c", "common/http/facts.h"):
        text = re.sub(r"\s*\\\n\s*", " ", (ROOT / path).read_text())
        for name, kind, of_job, labels in re.findall(r'"([a-z_]+)", (FACT_[A-Z]+), ([a-z_]+),\s*"[^"]*",\s*\{?([^})]*)[})]', text):
            if kind != "FACT_LIST":
                found.setdefault("hedgerow_" + name, set()).update(re.findall(r'"([a-z_]+)"', labels) + ([] if of_job == "false" else ["job_number"]))
    return found


def queries(dashboard):
    return [(panel["title"], target["expr"], target["legendFormat"]) for panel in dashboard["panels"] for target in panel["targets"]]


def judge(dashboard, known):
    """Returns what is wrong."""
    wrong = []
    asked = set()
    for title, query, legend in queries(dashboard):
        names = re.findall(r"hedgerow_[a-z_]+", query)
        wrong += [f"{title}: there is no {name}" for name in names if name not in known]
        labels = set(re.findall(r"[{,]\s*([a-z_]+)\s*[=!]", query)) | set(re.findall(r"\{\{([a-z_]+)\}\}", legend))
        have = set().union(*(known.get(name, set()) for name in names), SET_BY_PROMETHEUS)
        wrong += [f"{title}: no label {label}" for label in labels - have]
        wrong += [f"{title}: rate of what is no counter: {name}" for name in re.findall(r"rate\((hedgerow_[a-z_]+)", query) if not name.endswith("_total")]
        asked.update(names)
    if not asked:
        wrong.append("it asks for nothing")
    ids = [panel["id"] for panel in dashboard["panels"]]
    if len(set(ids)) != len(ids):
        wrong.append("two panels have one number")
    cells = {}
    for panel in dashboard["panels"]:
        place = panel["gridPos"]
        for x in range(place["x"], place["x"] + place["w"]):
            for y in range(place["y"], place["y"] + place["h"]):
                if x >= 24 or cells.setdefault((x, y), panel["id"]) != panel["id"]:
                    wrong.append(f"{panel['title']} lies on another one, or outside")
                    break
    return sorted(set(wrong))


def not_shown(dashboard, known):
    """The figures that the table of alarms in WATCHING names, and the dashboard does not show."""
    table = (ROOT / "docs" / "WATCHING.md").read_text().split("| figure | alarm |")[1].split("\n\n")[0]
    named = {"hedgerow_" + word for row in table.splitlines()[2:] for word in re.findall(r"[a-z_]+", row.split("|")[1])} & set(known)
    assert len(named) > 10, f"the table of alarms was not read: {named}"
    shown = set(re.findall(r"hedgerow_[a-z_]+", " ".join(query for _, query, _ in queries(dashboard))))
    return [f"WATCHING has an alarm by {name}, and no panel shows it" for name in sorted(named - shown)]


def main():
    known = families()
    assert len(known) > 30 and "state" in known["hedgerow_agents"], f"the tables were not read: {known}"
    text = (WATCH / "grafana" / "dashboards" / "hedgerow.json").read_text()
    wrong = judge(json.loads(text), known) + not_shown(json.loads(text), known)
    if not not_shown(json.loads(text.replace("hedgerow_jobs_set_aside", "hedgerow_jobs_waiting")), known):
        wrong.append("a panel was taken away, and nobody noticed")
    for planted in (("hedgerow_rounds_planned", "hedgerow_rounds_plans"), ("{{state}}", "{{states}}"), ('{allowance=', '{allowances=')):
        if not judge(json.loads(text.replace(*planted)), known):
            wrong.append(f"planted and not noticed: {planted}")
    services = yaml.safe_load((WATCH / "docker-compose.yml").read_text())["services"]
    sources = yaml.safe_load((WATCH / "grafana" / "provisioning" / "datasources" / "prometheus.yml").read_text())["datasources"]
    scraped = yaml.safe_load((WATCH / "prometheus.yml").read_text())["scrape_configs"]
    uids = {panel["datasource"]["uid"] for panel in json.loads(text)["panels"]}
    if uids != {sources[0]["uid"]} or set(services) != {"prometheus", "grafana"} or not scraped[0]["static_configs"]:
        wrong.append(f"the source of figures is another one: {uids}")
    for service in services.values():
        for volume in service["volumes"]:
            source = volume.split(":")[0]
            if source.startswith(".") and not (WATCH / source).exists():
                wrong.append(f"{source} is mounted, and is not there")
    if "--web.listen-address=127.0.0.1:9090" not in services["prometheus"]["command"] or services["grafana"]["environment"]["GF_SERVER_HTTP_ADDR"] != "127.0.0.1":
        wrong.append("others than this machine reach them")
    for line in wrong:
        print(line)
    print(f"{len(queries(json.loads(text)))} queries of {len(known)} figures, {len(wrong)} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
