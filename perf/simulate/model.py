"""A gp2 volume on an instance as one writes it in SimPy: processes are generators that yield how long they wait, and a
heap holds what happens next. It is the peer that perf/simulate compares with; it needs nothing but Python.

Usage: model.py SECONDS
Prints the I/Os that 32 processes read at random in so much virtual time, and the processor seconds that it took.
"""

import heapq
import random
import sys
import time

BLOCK = 4096


class Environment:
    """Virtual time and the processes that wait for it."""

    def __init__(self):
        self.now = 0.0
        self.waiting = []
        self.started = 0

    def start(self, process):
        self.started += 1
        self.schedule(next(process), process)

    def schedule(self, delay, process):
        self.started += 1
        heapq.heappush(self.waiting, (self.now + delay, self.started, process))

    def run(self, until):
        while self.waiting and self.waiting[0][0] < until:
            self.now, _, process = heapq.heappop(self.waiting)
            self.schedule(next(process), process)


class Bucket:
    """A token bucket: what it holds at most, what flows in a second, what an I/O takes."""

    def __init__(self, capacity, rate, cost):
        self.capacity, self.rate, self.cost = capacity, rate, cost
        self.level, self.at = capacity, 0.0

    def ready(self, now):
        level = min(self.capacity, self.level + (now - self.at) * self.rate)
        return now if level >= self.cost else now + (self.cost - level) / self.rate

    def take(self, now):
        self.level = min(self.capacity, self.level + (now - self.at) * self.rate) - self.cost
        self.at = now


class Chain:
    """Buckets that must all have enough, first come first served."""

    def __init__(self, buckets):
        self.buckets, self.last = buckets, 0.0

    def admit(self, now):
        at = max(now, self.last)
        for bucket in self.buckets:
            at = bucket.ready(at)
        for bucket in self.buckets:
            bucket.take(at)
        self.last = at
        return at


def instance():
    """m5.xlarge: a baseline with half an hour of burst, and a maximum, of operations and of bytes."""
    buckets = []
    for baseline, maximum, cost in ((6000, 18750, 1), (143.75e6, 593.75e6, BLOCK)):
        buckets += [Bucket((maximum - baseline) * 1800, baseline, cost), Bucket(maximum, maximum, cost)]
    return Chain(buckets)


def volume():
    """gp2 of 100 GiB: credits, burst rate, throughput."""
    through = 128 * 2**20
    return Chain([Bucket(5.4e6, 300, 1), Bucket(3000, 3000, 1), Bucket(through, through, BLOCK)])


QUANTILES = ((0, 449e-6), (0.5, 569e-6), (0.95, 627e-6), (0.99, 872e-6), (1, 1200e-6))


def service():
    """Draws a service latency."""
    u = random.random()
    for (low, a), (high, b) in zip(QUANTILES, QUANTILES[1:]):
        if u < high:
            return a + (u - low) / (high - low) * (b - a)
    return QUANTILES[-1][1]


def place(env, host, disk, histogram):
    """One I/O in flight after another."""
    while True:
        issued = env.now
        done = max(issued + service(), disk.admit(host.admit(issued)))
        bin_ = int((done - issued) * 1e5)
        histogram[bin_] = histogram.get(bin_, 0) + 1
        yield done - issued


def main():
    seconds = float(sys.argv[1])
    random.seed(1)
    env, histogram = Environment(), {}
    host, disk = instance(), volume()
    began = time.process_time()
    for _ in range(32):
        env.start(place(env, host, disk, histogram))
    env.run(until=seconds)
    print(sum(histogram.values()), time.process_time() - began)


main()
