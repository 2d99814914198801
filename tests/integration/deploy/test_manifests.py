"""test_manifests.py - deploy/ against its promises, and against the API's schemas if these are available.

Without a cluster kubectl checks nothing. So: every field of the manifests is among those listed here, by hand, from the API's reference
(unknown ones are refused, which a cluster would ignore); what is promised is there; the settings inside are read by the program itself.

With --types the schemas' types check them, and nothing else does: HEDGEROW_KUBERNETES is a folder that `npm ci` filled by
tests/npm/package.json. Skipped (77) where there is none."""

import argparse
import copy
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

try:
    import yaml
except ImportError:
    print("python3-yaml is missing: nothing is checked")
    sys.exit(77)

ROOT = pathlib.Path(__file__).resolve().parents[3]
APP = "app.kubernetes.io/name"

TEXT, WHOLE, FLAG = str, int, bool
ANY = {"*": TEXT}  # names of one's own
LABELS = {"matchLabels": ANY}
META = {"name": TEXT, "labels": ANY}
PROBE = {"httpGet": {"path": TEXT, "port": (TEXT, WHOLE), "scheme": TEXT, "httpHeaders": [{"name": TEXT, "value": TEXT}]},
         "periodSeconds": WHOLE, "timeoutSeconds": WHOLE, "failureThreshold": WHOLE}
CONTAINER = {"name": TEXT, "image": TEXT, "command": [TEXT], "env": [{"name": TEXT, "value": TEXT}],
             "ports": [{"name": TEXT, "containerPort": WHOLE, "protocol": TEXT}],
             "securityContext": {"allowPrivilegeEscalation": FLAG, "readOnlyRootFilesystem": FLAG, "privileged": FLAG, "capabilities": {"drop": [TEXT]}},
             "resources": {"requests": ANY, "limits": ANY}, "startupProbe": PROBE, "livenessProbe": PROBE, "readinessProbe": PROBE,
             "volumeMounts": [{"name": TEXT, "mountPath": TEXT, "readOnly": FLAG}]}
POD = {"serviceAccountName": TEXT, "automountServiceAccountToken": FLAG, "enableServiceLinks": FLAG, "restartPolicy": TEXT,
       "terminationGracePeriodSeconds": WHOLE,
       "securityContext": {"runAsNonRoot": FLAG, "runAsUser": WHOLE, "runAsGroup": WHOLE, "fsGroup": WHOLE, "seccompProfile": {"type": TEXT}},
       "affinity": {"podAntiAffinity": {"preferredDuringSchedulingIgnoredDuringExecution": [
           {"weight": WHOLE, "podAffinityTerm": {"topologyKey": TEXT, "labelSelector": LABELS}}]}},
       "initContainers": [CONTAINER], "containers": [CONTAINER],
       "volumes": [{"name": TEXT, "configMap": {"name": TEXT}, "secret": {"secretName": TEXT}, "emptyDir": {"medium": TEXT, "sizeLimit": TEXT},
                    "persistentVolumeClaim": {"claimName": TEXT}}]}
PORT = {"port": WHOLE, "protocol": TEXT}
KINDS = {
    "v1/ServiceAccount": {"metadata": META, "automountServiceAccountToken": FLAG},
    "v1/ConfigMap": {"metadata": META, "data": ANY},
    "v1/PersistentVolumeClaim": {"metadata": META, "spec": {"accessModes": [TEXT], "resources": {"requests": ANY}}},
    "v1/Service": {"metadata": META, "spec": {"type": TEXT, "selector": ANY, "ports": [{"name": TEXT, "port": WHOLE, "targetPort": TEXT, "protocol": TEXT}]}},
    "networking.k8s.io/v1/NetworkPolicy": {"metadata": META, "spec": {"podSelector": LABELS, "policyTypes": [TEXT],
        "ingress": [{"from": [{"podSelector": LABELS}], "ports": [PORT]}],
        "egress": [{"to": [{"namespaceSelector": LABELS}], "ports": [PORT]}]}},
    "policy/v1/PodDisruptionBudget": {"metadata": META, "spec": {"minAvailable": WHOLE, "selector": LABELS}},
    "batch/v1/Job": {"metadata": META, "spec": {"parallelism": WHOLE, "backoffLimit": WHOLE,
        "podFailurePolicy": {"rules": [{"action": TEXT, "onPodConditions": [{"type": TEXT, "status": TEXT}],
                                        "onExitCodes": {"containerName": TEXT, "operator": TEXT, "values": [WHOLE]}}]},
        "template": {"metadata": {"labels": ANY}, "spec": POD}}},
    "apps/v1/Deployment": {"metadata": META, "spec": {"replicas": WHOLE, "selector": LABELS, "strategy": {"type": TEXT},
        "template": {"metadata": {"labels": ANY}, "spec": POD}}},
}


class Wrong(Exception):
    """What is wrong, and where."""


def expect(truth, sentence):
    if not truth:
        raise Wrong(sentence)


def check_fields(value, schema, place):
    if isinstance(schema, dict):
        expect(isinstance(value, dict), f"{place} is no object")
        for key, one in value.items():
            expect(key in schema or "*" in schema, f"{place} has no field {key}")
            check_fields(one, schema.get(key, schema.get("*")), f"{place}.{key}")
    elif isinstance(schema, list):
        expect(isinstance(value, list) and value, f"{place} is no list, or empty")
        for i, one in enumerate(value):
            check_fields(one, schema[0], f"{place}[{i}]")
    else:
        kinds = schema if isinstance(schema, tuple) else (schema,)
        expect(type(value) in kinds, f"{place} is {value!r}, and no {' or '.join(kind.__name__ for kind in kinds)}")


def of_kind(objects, kind):
    found = [one for one in objects if one["kind"] == kind]
    expect(found, f"there is no {kind}")
    return found


def workload(objects):
    """What runs the coordinators: of one job a Job, of a queue a Deployment."""
    found = [one for one in objects if one["kind"] in ("Job", "Deployment")]
    expect(len(found) == 1, "not one workload")
    return found[0]


def check_container(container):
    name = container["name"]
    context = container["securityContext"]
    expect(context["readOnlyRootFilesystem"] is True and context["allowPrivilegeEscalation"] is False and context["privileged"] is False
           and context["capabilities"] == {"drop": ["ALL"]}, f"{name} is not confined")
    expect("memory" in container["resources"]["limits"], f"{name} has no limit of memory")


def check_promises(objects):
    job = workload(objects)
    pod = job["spec"]["template"]["spec"]
    context = pod["securityContext"]
    expect(context["runAsNonRoot"] is True and context["runAsUser"] > 0 and context["seccompProfile"]["type"] == "RuntimeDefault", "runs as root, or unconfined")
    expect(pod["automountServiceAccountToken"] is False, "has a token of the API")
    for account in of_kind(objects, "ServiceAccount"):
        expect(account["automountServiceAccountToken"] is False, "the account has a token")
    for container in pod["initContainers"] + pod["containers"]:
        check_container(container)
        for mount in container["volumeMounts"]:
            expect(mount["name"] in {one["name"] for one in pod["volumes"]}, f"no volume {mount['name']}")
    main = pod["containers"][0]
    ports = {one["name"]: one["containerPort"] for one in main["ports"]}
    for probe, path in (("startupProbe", "/healthz"), ("livenessProbe", "/healthz"), ("readinessProbe", "/readyz")):
        get = main[probe]["httpGet"]
        expect(get["path"] == path and get["scheme"] == "HTTPS" and get["port"] in ports, f"{probe}: {get}")
    if job["kind"] == "Job":
        expect(job["spec"]["parallelism"] >= 2 and "completions" not in job["spec"], "not two that share one job")
    else:
        expect(job["spec"]["replicas"] >= 2 and job["spec"]["strategy"] == {"type": "Recreate"} and pod["restartPolicy"] == "Always"
               and job["spec"]["selector"]["matchLabels"].items() <= job["spec"]["template"]["metadata"]["labels"].items(), "not two that share one queue")
    labels = job["spec"]["template"]["metadata"]["labels"]
    for service in of_kind(objects, "Service"):
        expect(service["spec"]["selector"].items() <= labels.items(), "the service finds no pod")
        for port in service["spec"]["ports"]:
            expect(ports.get(port["targetPort"]) == port["port"], f"the service's port {port}")
    policy = of_kind(objects, "NetworkPolicy")[0]["spec"]
    expect(policy["podSelector"]["matchLabels"].items() <= labels.items() and set(policy["policyTypes"]) == {"Ingress", "Egress"}, "the network policy")
    page = [rule for rule in policy["ingress"] if any(port["port"] == ports["https"] for port in rule["ports"])]
    expect(page and all("from" in rule for rule in page), "everybody reaches the page")
    expect({port["port"] for rule in policy["egress"] for port in rule["ports"]} == {53, 5432}, "out: names and the database alone")
    for one in objects:
        expect("namespace" not in one["metadata"] and one["metadata"]["labels"].items() <= labels.items(), f"{one['kind']}: a namespace, or other labels")


def check_settings(objects, programs):
    """The settings are the program's: a name that it does not know would be found at the first start alone."""
    data = of_kind(objects, "ConfigMap")[0]["data"]
    settings = yaml.safe_load(data["coordinator.yml"])
    main = workload(objects)["spec"]["template"]["spec"]["containers"][0]
    ports = {one["name"]: one["containerPort"] for one in main["ports"]}
    expect(settings["listen"].endswith(f":{ports['agents']}") and settings["http"]["listen"].endswith(f":{ports['https']}"), "the settings' ports")
    place = settings["state" if workload(objects)["kind"] == "Job" else "jobs"]
    expect(place.startswith("postgresql://") and "@" in place and ":" not in place.split("@")[0][13:], "a password in the settings")
    desk = settings.get("operators", {}).get("listen")
    expect(desk is None or desk.endswith(f":{ports['operators']}"), "the desk's port")
    hosts = {header["value"] for probe in ("startupProbe", "livenessProbe", "readinessProbe") for header in main[probe]["httpGet"]["httpHeaders"]}
    expect(hosts <= set(settings["http"]["names"].split()), f"probes ask for {hosts}")
    limit = main["resources"]["limits"]["memory"]
    expect(limit == "1Gi" and settings["memory_mb_max"] * 1e6 < 2**30, "the memory")
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        folder.chmod(0o700)
        for file, text in data.items():
            (folder / file).write_text(text)
            (folder / file).chmod(0o400)
        done = subprocess.run([programs / "hedgerow-coordinator", "agents", "list", "--config", folder / "coordinator.yml"],
                              capture_output=True, text=True, timeout=60, check=False)
        expect("coordinator.yml:" not in done.stderr + done.stdout, f"the program refuses the settings: {done.stderr}")
        spoiled = data["coordinator.yml"].replace("token:", "tokens:")
        (folder / "spoiled.yml").write_text(spoiled)
        done = subprocess.run([programs / "hedgerow-coordinator", "agents", "list", "--config", folder / "spoiled.yml"],
                              capture_output=True, text=True, timeout=60, check=False)
        expect("spoiled.yml:" in done.stderr + done.stdout, "a planted key is not noticed by the program")


def check(objects):
    for one in objects:
        kind = f"{one['apiVersion']}/{one['kind']}"
        expect(kind in KINDS, f"{kind} is not among those that are known here")
        check_fields({key: value for key, value in one.items() if key not in ("apiVersion", "kind")}, KINDS[kind], one["kind"])
    check_promises(objects)


def must_fail(sentence, objects, change):
    spoiled = copy.deepcopy(objects)
    change(workload(spoiled)["spec"]["template"]["spec"], spoiled)
    try:
        check(spoiled)
    except Wrong:
        return
    raise Wrong(f"planted and not noticed: {sentence}")


def self_test(objects):
    must_fail("root", objects, lambda pod, _: pod["securityContext"].update(runAsUser=0))
    must_fail("an unknown field", objects, lambda pod, _: pod.update(hostNetworks=True))
    must_fail("a wrong type", objects, lambda pod, _: pod["containers"][0]["ports"][0].update(containerPort="7310"))
    must_fail("a token", objects, lambda pod, _: pod.update(automountServiceAccountToken=True))
    must_fail("a writable root", objects, lambda pod, _: pod["containers"][0]["securityContext"].update(readOnlyRootFilesystem=False))
    must_fail("a capability", objects, lambda pod, _: pod["initContainers"][0]["securityContext"]["capabilities"].update(drop=["NET_RAW"]))
    must_fail("another path", objects, lambda pod, _: pod["containers"][0]["livenessProbe"]["httpGet"].update(path="/readyz"))
    must_fail("an open page", objects, lambda _, all_: of_kind(all_, "NetworkPolicy")[0]["spec"]["ingress"][1].pop("from"))
    must_fail("no policy", objects, lambda _, all_: all_.remove(of_kind(all_, "NetworkPolicy")[0]))


def check_types(objects, modules):
    """The API's own types (schemas of Kubernetes 1.27 and later, as kubernetes-models has them), by TypeScript: strict, unknown fields too.
    A planted misspelling beside the manifests, in the same run, must be found, and nothing else."""
    lines = []
    for i, one in enumerate(objects):
        lines.append(f"import {{ I{one['kind']} as I{i} }} from 'kubernetes-models/{one['apiVersion']}/{one['kind']}';")
        lines.append(f"export const object{i}: I{i} = {json.dumps(one)};")
    text = "\n".join(lines)
    with tempfile.TemporaryDirectory(dir=modules) as name:
        paths = [pathlib.Path(name) / "objects.ts", pathlib.Path(name) / "planted.ts"]
        paths[0].write_text(text)
        paths[1].write_text(text.replace('"automountServiceAccountToken"', '"automountServiceAccountTokens"'))
        done = subprocess.run(["node", modules / "node_modules" / "typescript" / "bin" / "tsc", "--noEmit", "--strict", "--skipLibCheck", "--pretty", "false",
                               "--module", "nodenext", "--moduleResolution", "nodenext", *paths], capture_output=True, text=True, timeout=600, check=False)
    found = [line for line in done.stdout.splitlines() if not line.startswith(" ")]
    planted = [line for line in found if "planted.ts(" in line]
    expect(found == planted and not done.stderr, f"the API's types: {done.stdout[:3000]}{done.stderr[:1000]}")
    expect(done.returncode != 0 and planted and all("automountServiceAccountTokens" in line for line in planted),
           f"planted and not noticed by the types: {done.stdout[:500]}")

def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--programs", required=True, type=pathlib.Path)
    parser.add_argument("--types", action="store_true", help="by the API's types, and nothing else")
    options = parser.parse_args()
    modules = os.environ.get("HEDGEROW_KUBERNETES", "")
    if options.types and not (modules and shutil.which("node")):
        print("skipped: no node, or HEDGEROW_KUBERNETES names no folder that `npm ci` filled by tests/npm (scripts/test does)")
        return 77
    paths = sorted((ROOT / "deploy").glob("*.yml"))
    objects = []
    for path in paths:
        own = [one for one in yaml.safe_load_all(path.read_text()) if one is not None]
        if not options.types:
            check(own)
            self_test(own)
            check_settings(own, options.programs)
        objects += own
    expect({workload([one])["kind"] for one in objects if one["kind"] in ("Job", "Deployment")} == {"Job", "Deployment"}, "a job and a queue")
    if options.types:
        check_types(objects, pathlib.Path(modules))
    print(f"{len(objects)} objects are as promised")
    return 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except Wrong as wrong:
        print(f"FAILED: {wrong}")
        sys.exit(1)
