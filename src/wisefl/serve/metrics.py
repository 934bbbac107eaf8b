"""What the service counts, as Prometheus reads it."""

from collections import Counter, defaultdict
from dataclasses import dataclass, field

from wisefl.serve.pool import Pool

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)


@dataclass
class Metrics:
    """Since the service began."""

    requests: Counter[tuple[str, int]] = field(default_factory=Counter)
    """(what was asked, status) -> how often."""
    seconds: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    worked: defaultdict[str, float] = field(default_factory=lambda: defaultdict(float))
    """What of it was in a worker."""
    within: Counter[tuple[str, float]] = field(default_factory=Counter)

    def count(self, what: str, status: int, seconds: float) -> None:
        self.requests[what, status] += 1
        self.seconds[what] += seconds
        for bucket in BUCKETS:
            self.within[what, bucket] += seconds <= bucket

    def text(self, pool: Pool) -> str:
        lines = [
            *_head("requests_total", "counter", "Requests by what was asked and status."),
            *(
                f'wisefl_requests_total{{path="{what}",status="{status}"}} {count}'
                for (what, status), count in sorted(self.requests.items())
            ),
            *_head("request_seconds", "histogram", "Time of a request."),
            *(line for what in sorted({what for what, _ in self.requests}) for line in self._histogram(what)),
            *_head("worker_seconds_total", "counter", "Time that workers spent."),
            *(
                f'wisefl_worker_seconds_total{{path="{what}"}} {spent:.6f}'
                for what, spent in sorted(self.worked.items())
            ),
        ]
        for name, kind, help, value in (
            ("workers", "gauge", "Worker processes that live.", pool.alive),
            ("workers_busy", "gauge", "Workers that decide now.", pool.busy),
            ("workers_replaced_total", "counter", "Workers that were stopped or lost, and replaced.", pool.replaced),
            ("requests_waiting", "gauge", "Requests that wait for a worker.", pool.waiting),
        ):
            lines += [*_head(name, kind, help), f"wisefl_{name} {value}"]
        return "\n".join(lines) + "\n"

    def _histogram(self, what: str) -> list[str]:
        total = sum(count for (path, _), count in self.requests.items() if path == what)
        name = "wisefl_request_seconds"
        return [
            *(f'{name}_bucket{{path="{what}",le="{least:g}"}} {self.within[what, least]}' for least in BUCKETS),
            f'{name}_bucket{{path="{what}",le="+Inf"}} {total}',
            f'{name}_sum{{path="{what}"}} {self.seconds[what]:.6f}',
            f'{name}_count{{path="{what}"}} {total}',
        ]


def _head(name: str, kind: str, help: str) -> list[str]:
    return [f"# HELP wisefl_{name} {help}", f"# TYPE wisefl_{name} {kind}"]
