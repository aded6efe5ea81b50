#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a server of many clients would give, from what a few measurements say (docs/scale.md).

    bench/scale_model.py --batch 1:5.8 2:9.9 4:18.5 8:36 --host-us 400 --clients 1 8 64 [--processors 2] [--devices 1]

--batch gives the milliseconds of a run for each size of batch. --host-us is the processor time of a request beside the run, of
client and server. Requests share batches as `morton serve` lets them. Where the device is the processor itself (the
default), a request's own work takes time from it; --apart says that it does not."""

import argparse
import heapq
import random


class Model:
    """A closed system: each client asks again as soon as it has its answer. Times in seconds."""

    def __init__(self, batch_seconds, host_seconds, clients, processors=1, devices=1, shared=True, seed=1):
        self.batch_seconds, self.host_seconds, self.shared = dict(batch_seconds), host_seconds, shared
        self.clients, self.processors, self.devices = clients, processors, devices
        self.random = random.Random(seed)

    def items_for(self, waiting):
        """As serve/models/batch_times.cpp: fill the next size up with zeros, or leave some for later."""
        most = max(self.batch_seconds)
        items = min(waiting, most)
        larger = min(size for size in self.batch_seconds if size >= items)
        smaller = max(size for size in self.batch_seconds if size <= items)
        fewer_pay = smaller * self.batch_seconds[larger] > items * self.batch_seconds[smaller]
        return (smaller, smaller) if fewer_pay else (items, larger)

    def run(self, seconds):
        """Requests a second, and the median and the 99th of 100 latencies, behind a tenth of the time to settle."""
        now, hosts, queue, running, latencies = 0.0, {}, [], {}, []
        for client in range(self.clients):  # asked at slightly different times
            hosts[client] = [self.host_seconds * (0.5 + self.random.random()), 0.0]
        while now < seconds:
            # Threads share the processors evenly; a run on the processor has as many as there are.
            threads = len(hosts) + (self.processors * len(running) if self.shared else 0)
            share = min(1.0, self.processors / threads) if threads else 1.0
            device = share if self.shared else 1.0
            ends = [left / share for left, _ in hosts.values()] + [left / device for left, _ in running.values()]
            step = min(ends)
            now += step
            for job in hosts.values():
                job[0] -= step * share
            for job in running.values():
                job[0] -= step * device
            for client in [one for one, job in hosts.items() if job[0] <= 1e-12]:
                heapq.heappush(queue, (now, client, hosts.pop(client)[1]))
            for number in [one for one, job in running.items() if job[0] <= 1e-12]:
                for client, asked in running.pop(number)[1]:
                    if now > seconds / 10:
                        latencies.append(now - asked)
                    hosts[client] = [self.host_seconds, now]
            while queue and len(running) < self.devices:
                items, size = self.items_for(len(queue))
                taken = [heapq.heappop(queue) for _ in range(items)]
                free = next(number for number in range(self.devices) if number not in running)
                running[free] = [self.batch_seconds[size], [(client, asked) for _, client, asked in taken]]
        latencies.sort()
        rate = len(latencies) / (0.9 * seconds)
        return rate, latencies[len(latencies) // 2], latencies[int(0.99 * len(latencies))]


def training_step(step_seconds, update_seconds, gradient_bytes, ranks, bytes_per_second, message_seconds):
    """Seconds of a step of `ranks` machines: each computes its part of the rows, sends and gets all slices but its own
    twice (morton train --sum ordered), and renews all parameters."""
    if ranks == 1:
        return step_seconds
    moved = 2 * gradient_bytes * (ranks - 1) / ranks
    return (step_seconds - update_seconds) / ranks + moved / bytes_per_second + 2 * (ranks - 1) * message_seconds + update_seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--batch", nargs="+", required=True, metavar="SIZE:MS")
    parser.add_argument("--host-us", type=float, default=300.0)
    parser.add_argument("--clients", nargs="+", type=int, default=[1, 2, 4, 8, 16, 32, 64])
    parser.add_argument("--processors", type=int, default=2)
    parser.add_argument("--devices", type=int, default=1)
    parser.add_argument("--apart", action="store_true", help="the device is none of the processors")
    parser.add_argument("--seconds", type=float, default=30.0, help="that are simulated")
    options = parser.parse_args()
    times = {int(size): float(ms) / 1e3 for size, ms in (text.split(":") for text in options.batch)}
    if 1 not in times:
        parser.error("--batch: the time of a batch of 1 is missing")
    print(f"{'clients':>8}{'requests/s':>12}{'median ms':>11}{'99 of 100':>11}")
    for clients in options.clients:
        rate, median, late = Model(times, options.host_us / 1e6, clients, options.processors, options.devices,
                                   not options.apart).run(options.seconds)
        print(f"{clients:>8}{rate:>12.1f}{1e3 * median:>11.2f}{1e3 * late:>11.2f}")


if __name__ == "__main__":
    main()
