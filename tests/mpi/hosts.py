# SPDX-License-Identifier: Apache-2.0
"""Two hosts on one machine: namespaces with a network and a name of their own, and a cable between them."""

import os
import pathlib
import shutil
import subprocess

ADDRESSES = ("10.213.77.1", "10.213.77.2")


def why_none():
    """Why hosts cannot be made here; empty where they can."""
    if os.geteuid() != 0:
        return "only root makes namespaces with a network between them"
    missing = [program for program in ("ip", "nsenter", "unshare") if shutil.which(program) is None]
    if missing:
        return f"not installed: {', '.join(missing)} (Debian: iproute2, util-linux)"
    done = subprocess.run(["unshare", "--net", "--uts", "ip", "link", "add", "name", "veth-a", "type", "veth", "peer", "name",
                           "veth-b"],
                          capture_output=True, text=True, check=False)
    return f"namespaces cannot be made here: {done.stderr.strip()}" if done.returncode != 0 else ""


class Hosts:
    """Two hosts, as long as it is entered. `mpirun` begins a command on the first that starts a rank on each."""

    def __init__(self, folder):
        self.folder, self.holders, self.cables = pathlib.Path(folder), [], []

    def __enter__(self):
        try:
            for name in ("morton-a", "morton-b"):
                self.holders.append(subprocess.Popen(
                    ["unshare", "--net", "--uts", "sh", "-c", f"hostname {name} && echo ready && exec sleep 600"],
                    stdout=subprocess.PIPE, text=True))
                assert self.holders[-1].stdout.readline() == "ready\n", name
            self.cables = [f"mo{end}{os.getpid() % 100000}" for end in "ab"]
            self.run(["ip", "link", "add", "name", self.cables[0], "type", "veth", "peer", "name", self.cables[1]])
            for cable, holder, address in zip(self.cables, self.holders, ADDRESSES):
                self.run(["ip", "link", "set", cable, "netns", str(holder.pid)])
                for words in (["link", "set", "lo", "up"], ["addr", "add", f"{address}/24", "dev", cable],
                              ["link", "set", cable, "up"]):
                    self.run([*self.on(holder), "ip", *words])
            # What takes the place of ssh: it is called with a host and a command.
            self.agent = self.folder / "agent"
            self.agent.write_text(f"""#!/bin/sh
case $1 in {ADDRESSES[1]} | morton-b) host={self.holders[1].pid} ;; *) host={self.holders[0].pid} ;; esac
shift
exec nsenter -t $host -n -u sh -c "$*"
""", encoding="ascii")
            self.agent.chmod(0o755)
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for holder in self.holders:
            holder.kill()
            holder.communicate()
        if self.cables:  # one that no host took
            subprocess.run(["ip", "link", "delete", self.cables[0]], capture_output=True, check=False)

    @staticmethod
    def run(words):
        subprocess.run(words, check=True, capture_output=True)

    @staticmethod
    def on(holder):
        return ["nsenter", "-t", str(holder.pid), "-n", "-u"]

    def mpirun(self):
        network = ADDRESSES[0].rsplit(".", 1)[0] + ".0/24"
        return [*self.on(self.holders[0]), "mpirun", "-n", "2", "--host", ",".join(ADDRESSES), "--bind-to", "none", "--mca",
                "plm_rsh_agent", str(self.agent), "--mca", "btl_tcp_if_include", network, "--mca", "oob_tcp_if_include", network]

    def bytes_sent(self):
        """By the first host."""
        text = subprocess.run([*self.on(self.holders[0]), "cat", "/proc/net/dev"], check=True, capture_output=True, text=True).stdout
        line = next(line for line in text.splitlines() if line.strip().startswith(self.cables[0]))
        return int(line.split(":")[1].split()[8])
