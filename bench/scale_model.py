#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What many clients or many ranks would get, from what a few measurements say (docs/scale.md).

    bench/scale_model.py serve --batch 1:5.8 2:9.9 4:18.5 8:36 --host-us 400 --clients 1 8 64 [--processors 2] [--devices 1]
    bench/scale_model.py train --step 25:46 50:86 100:144 --rows 100 --gradients-mb 13.1 --wire-mb 3000 --ranks 1 2 4

serve: --batch gives the milliseconds of a run for each size of batch. --host-us is the processor time of a request beside the
run, of client and server, with the threads that it wakes; --busy-us that of a request that finds a whole batch waiting, and
so wakes none; between them it is a line. Requests share batches as `morton serve` lets them. Where the device is the processor itself (the default), a
request's own work takes time from it; --apart says that it does not.

train: --step gives the milliseconds of a step of one rank for numbers of rows; between them it is a line. --gradients-mb are
the megabytes of all gradients, --wire-mb the megabytes a second that a rank sends and receives. Ranks that share a processor
(--processors) wait for each other."""

import argparse
import heapq
import random


class Model:
    """A closed system: each client asks again as soon as it has its answer. Times in seconds."""

    def __init__(self, batch_seconds, host_seconds, clients, busy_seconds=None, processors=1, devices=1, shared=True, seed=1):
        self.batch_seconds, self.host_seconds, self.shared = dict(batch_seconds), host_seconds, shared
        self.busy_seconds = host_seconds if busy_seconds is None else busy_seconds
        self.clients, self.processors, self.devices = clients, processors, devices
        self.random = random.Random(seed)

    def items_for(self, waiting):
        """As serve/models/batch_times.cpp: fill the next size up with zeros, or leave some for later. The sizes are those that
        times are given for."""
        most = max(self.batch_seconds)
        items = min(waiting, most)
        larger = min(size for size in self.batch_seconds if size >= items)
        smaller = max(size for size in self.batch_seconds if size <= items)
        fewer_pay = smaller * self.batch_seconds[larger] > items * self.batch_seconds[smaller]
        return (smaller, smaller) if fewer_pay else (items, larger)

    def run(self, seconds):
        """Requests a second, and the median and the 99th of 100 latencies, behind a tenth of the time to settle."""
        now, hosts, queue, running, latencies, most = 0.0, {}, [], {}, [], max(self.batch_seconds)
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
                    if seconds / 10 < now <= seconds:
                        latencies.append(now - asked)
                    # The more wait, the fewer threads are asleep.
                    asleep = max(0.0, 1 - len(queue) / most)
                    hosts[client] = [self.busy_seconds + (self.host_seconds - self.busy_seconds) * asleep, now]
            while queue and len(running) < self.devices:
                items, size = self.items_for(len(queue))
                taken = [heapq.heappop(queue) for _ in range(items)]
                free = next(number for number in range(self.devices) if number not in running)
                running[free] = [self.batch_seconds[size], [(client, asked) for _, client, asked in taken]]
        latencies.sort()
        rate = len(latencies) / (0.9 * seconds)
        return rate, latencies[len(latencies) // 2], latencies[int(0.99 * len(latencies))]


def step_of(rows, known):
    """Seconds of a step of so many rows, by a line between the two nearest known ones, or through the last two."""
    sizes = sorted(known)
    if len(sizes) == 1:
        return known[sizes[0]] * rows / sizes[0]
    low = max([size for size in sizes[:-1] if size <= rows], default=sizes[0])
    high = sizes[sizes.index(low) + 1]
    return known[low] + (known[high] - known[low]) * (rows - low) / (high - low)


def training_step(known, rows, ranks, exchange_seconds, processors=None):
    """Seconds of a step of `rows` that `ranks` share: each computes its part of the rows and renews all parameters; all add
    their gradients up. Ranks that share a processor wait for each other."""
    return step_of(rows / ranks, known) * max(1.0, ranks / (processors or ranks)) + (exchange_seconds if ranks > 1 else 0.0)


def exchange(gradient_bytes, ranks, bytes_per_second, message_seconds=0.0):
    """Seconds in which gradients are added up over a network (morton train --sum ordered): a rank sends the slices of the
    others and gets those of its own, and the sums likewise."""
    return 2 * (ranks - 1) * (gradient_bytes / ranks / bytes_per_second + message_seconds)


def pairs(texts, parser, option):
    """SIZE:MILLISECONDS as seconds by size."""
    try:
        return {int(size): float(ms) / 1e3 for size, ms in (text.split(":") for text in texts)}
    except ValueError:
        parser.error(f"{option}: expected SIZE:MS, got {' '.join(texts)}")


def serve(options, parser):
    times = pairs(options.batch, parser, "--batch")
    if 1 not in times:
        parser.error("--batch: the time of a batch of 1 is missing")
    busy = (options.host_us if options.busy_us is None else options.busy_us) / 1e6
    print(f"{'clients':>8}{'requests/s':>12}{'median ms':>11}{'99 of 100':>11}")
    for clients in options.clients:
        rate, median, late = Model(times, options.host_us / 1e6, clients, busy, options.processors, options.devices,
                                   not options.apart).run(options.seconds)
        print(f"{clients:>8}{rate:>12.1f}{1e3 * median:>11.2f}{1e3 * late:>11.2f}")


def train(options, parser):
    known = pairs(options.step, parser, "--step")
    print(f"{'ranks':>8}{'step ms':>12}{'rows/s':>12}{'beside 1':>10}")
    alone = step_of(options.rows, known)
    for ranks in options.ranks:
        added = exchange(1e6 * options.gradients_mb, ranks, 1e6 * options.wire_mb, options.message_us / 1e6)
        seconds = training_step(known, options.rows, ranks, added, options.processors)
        print(f"{ranks:>8}{1e3 * seconds:>12.2f}{options.rows / seconds:>12.1f}{alone / seconds:>10.2f}")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    kinds = parser.add_subparsers(required=True, metavar="serve|train")
    of_serve = kinds.add_parser("serve")
    of_serve.add_argument("--batch", nargs="+", required=True, metavar="SIZE:MS")
    of_serve.add_argument("--host-us", type=float, default=100.0)
    of_serve.add_argument("--busy-us", type=float, help="(that of --host-us)")
    of_serve.add_argument("--clients", nargs="+", type=int, default=[1, 2, 4, 8, 16, 32, 64])
    of_serve.add_argument("--processors", type=int, default=2)
    of_serve.add_argument("--devices", type=int, default=1)
    of_serve.add_argument("--apart", action="store_true", help="the device is none of the processors")
    of_serve.add_argument("--seconds", type=float, default=30.0, help="that are simulated")
    of_serve.set_defaults(work=serve)
    of_train = kinds.add_parser("train")
    of_train.add_argument("--step", nargs="+", required=True, metavar="ROWS:MS")
    of_train.add_argument("--rows", type=int, required=True, help="of a batch of all ranks")
    of_train.add_argument("--gradients-mb", type=float, required=True)
    of_train.add_argument("--wire-mb", type=float, required=True, help="a second")
    of_train.add_argument("--message-us", type=float, default=0.0, help="that a message takes beside its bytes")
    of_train.add_argument("--ranks", nargs="+", type=int, default=[1, 2, 4, 8])
    of_train.add_argument("--processors", type=int, help="that ranks share (one for each)")
    of_train.set_defaults(work=train)
    options = parser.parse_args()
    options.work(options, parser)


if __name__ == "__main__":
    main()
