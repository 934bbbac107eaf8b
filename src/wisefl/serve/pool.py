"""Worker processes that decide, so that the loop which speaks HTTP never waits and a decision can be stopped."""

import asyncio
import json
import sys
from asyncio.subprocess import PIPE, Process
from collections import deque
from collections.abc import Callable, Coroutine
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from typing import Any

from wisefl.errors import WiseFLError

START_S = 300.0
"""A worker's first start on a machine compiles; later ones take a second or two."""
_RESPAWN_S = 1.0
_LARGEST_LINE = 1 << 16

Leaving = Callable[[], Coroutine[Any, Any, None]]
"""Returns when whoever asked is gone."""


class Busy(WiseFLError):
    """Everybody is at work and enough requests wait."""


class TooSlow(WiseFLError):
    """A request took longer than it may."""


class Abandoned(WiseFLError):
    """Who asked is gone, and nobody had begun to answer."""


@dataclass(frozen=True)
class Answered:
    status: int
    body: bytes
    seconds: float
    """In the worker."""


class Worker:
    """One process, asked one thing at a time."""

    def __init__(self, process: Process) -> None:
        self.process = process

    @classmethod
    async def start(cls) -> "Worker":
        process = await asyncio.create_subprocess_exec(
            sys.executable, "-m", "wisefl.serve.worker", stdin=PIPE, stdout=PIPE, limit=_LARGEST_LINE
        )
        worker = cls(process)
        try:
            await asyncio.wait_for(worker._answer(), START_S)
        except BaseException:
            worker.kill()
            raise
        return worker

    @property
    def alive(self) -> bool:
        return self.process.returncode is None

    async def ask(self, kind: str, body: bytes, seconds: float) -> Answered:
        assert self.process.stdin is not None
        head = json.dumps({"kind": kind, "seconds": seconds, "size": len(body)}).encode()
        self.process.stdin.write(head + b"\n" + body)
        await self.process.stdin.drain()
        return await self._answer()

    async def _answer(self) -> Answered:
        assert self.process.stdout is not None
        line = await self.process.stdout.readline()
        if not line:
            raise EOFError
        head = json.loads(line)
        return Answered(head["status"], await self.process.stdout.readexactly(head["size"]), head["seconds"])

    def kill(self) -> None:
        with suppress(ProcessLookupError):
            self.process.kill()


def _leave(turn: "asyncio.Future[Worker]", _: "asyncio.Future[None]") -> None:
    if not turn.done():
        turn.set_exception(Abandoned("nobody waits for this any more"))


class Pool:
    """So many workers, and so many requests that may wait for one."""

    def __init__(self, workers: int, waiting: int, seconds: float) -> None:
        self.size, self.most_waiting, self.seconds = workers, waiting, seconds
        self.busy, self.replaced = 0, 0
        self._idle: deque[Worker] = deque()
        self._turns: deque[asyncio.Future[Worker]] = deque()
        self._all: set[Worker] = set()
        self._starting: set[asyncio.Task[None]] = set()
        self._stopped = False

    @property
    def waiting(self) -> int:
        return len(self._turns)

    @property
    def alive(self) -> int:
        return sum(worker.alive for worker in self._all)

    @property
    def pids(self) -> list[int]:
        return [worker.process.pid for worker in self._all if worker.alive]

    async def start(self) -> None:
        """Returns when the first worker is ready; the others follow."""
        await self._start_one()
        for _ in range(self.size - 1):
            self._start_later()

    async def stop(self) -> None:
        self._stopped = True
        for task in self._starting:
            task.cancel()
        await asyncio.gather(*self._starting, return_exceptions=True)
        for worker in self._all:
            worker.kill()
        await asyncio.gather(*(worker.process.wait() for worker in self._all), return_exceptions=True)

    async def ask(self, kind: str, body: bytes, gone: Leaving) -> Answered:
        """A free worker's answer within the time of a request; `gone` returns when nobody waits for it any more.

        What is asked changes nothing, so when a worker is lost over it another one is asked: all of them may have
        been lost before, but one more and it is the question that loses them.
        """
        loop = asyncio.get_running_loop()
        until = loop.time() + self.seconds
        lost = 0
        while True:
            worker = self._idle_one() or await self._next_one(until - loop.time(), gone)
            kept = False
            self.busy += 1
            try:
                left = until - loop.time()
                async with asyncio.timeout(left):
                    answered = await worker.ask(kind, body, left)
                kept = True
                return answered
            except TimeoutError:
                raise TooSlow(self._slow()) from None
            except (EOFError, ConnectionError, asyncio.IncompleteReadError):
                lost += 1
                if lost > self.size:
                    raise Busy(f"{lost} processes were lost over this: ask again later") from None
            finally:
                self.busy -= 1
                self._give_back(worker, kept)

    def _idle_one(self) -> Worker | None:
        """A worker that lives and has nothing to do."""
        while self._idle:
            worker = self._idle.popleft()
            if worker.alive:
                return worker
            self._give_back(worker, kept=False)
        return None

    async def _next_one(self, seconds: float, gone: Leaving) -> Worker:
        """The next worker that is free when it is this request's turn, unless whoever asked leaves first."""
        if self.waiting >= self.most_waiting:
            raise Busy(
                f"all {self.size} processes are at work and {self.waiting} requests wait: ask again in a second"
            )
        turn: asyncio.Future[Worker] = asyncio.get_running_loop().create_future()
        self._turns.append(turn)
        leaving = asyncio.ensure_future(gone())
        leaving.add_done_callback(partial(_leave, turn))
        try:
            async with asyncio.timeout(seconds):
                return await turn
        except TimeoutError:
            if turn.done() and not turn.cancelled() and turn.exception() is None:
                self._offer(turn.result())  # both in the same moment
            raise Busy(f"no process became free within {self.seconds:g} s: ask again later") from None
        finally:
            leaving.cancel()
            with suppress(ValueError):
                self._turns.remove(turn)

    def _offer(self, worker: Worker) -> None:
        """To whoever has waited longest, if anybody waits."""
        while self._turns:
            turn = self._turns.popleft()
            if not turn.done():
                turn.set_result(worker)
                return
        self._idle.append(worker)

    def _slow(self) -> str:
        return (
            f"this took longer than the {self.seconds:g} s that a request may take: ask for less, choose solver "
            "certified, or start the service with a larger --time-limit"
        )

    def _give_back(self, worker: Worker, kept: bool) -> None:
        """A worker that was stopped in the middle, or is gone, is replaced."""
        if kept:
            self._offer(worker)
            return
        worker.kill()
        self._all.discard(worker)
        if not self._stopped:
            self.replaced += 1
            self._start_later()

    def _start_later(self) -> None:
        task = asyncio.create_task(self._keep_starting())
        self._starting.add(task)
        task.add_done_callback(self._starting.discard)

    async def _keep_starting(self) -> None:
        while not self._stopped:
            with suppress(EOFError, OSError, TimeoutError, ValueError):
                await self._start_one()
                return
            await asyncio.sleep(_RESPAWN_S)

    async def _start_one(self) -> None:
        worker = await Worker.start()
        self._all.add(worker)
        self._offer(worker)
