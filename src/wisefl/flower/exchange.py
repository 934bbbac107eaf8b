"""Messages out, answers back: who answered what, and why somebody did not."""

import gc
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass

from flwr.app import Message, RecordDict
from flwr.serverapp import Grid

LATE = "no answer in time"
FAILED = "failed"
NOT_SENT = "not sent"
MOST_TEXT = 200


def plain(text: str, most: int = MOST_TEXT) -> str:
    """What a node wrote, fit for a log and a record: short, on one line, without what a terminal would obey."""
    cut = text[:most]
    return "".join(letter if letter.isprintable() else repr(letter)[1:-1] for letter in cut)[:most]


@dataclass(frozen=True)
class Missing:
    """Why a node's answer cannot be used."""

    reason: str
    """Few words that many nodes share: for counting."""
    detail: str = ""

    def __str__(self) -> str:
        return f"{self.reason}: {plain(self.detail)}" if self.detail else self.reason

    @property
    def forgivable(self) -> bool:
        """Whether an honest node can be the cause: it may be asked again when there is nobody else."""
        return self.reason in (LATE, FAILED, NOT_SENT)


Answers = Mapping[int, Message | Missing]
"""By node id; every node that was asked is in it."""


@contextmanager
def uncollected() -> Iterator[None]:
    """Messages to and from a crowd are many objects without a cycle among them: the collector of cycles would go
    through all of them again and again, and find nothing."""
    collecting = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if collecting:
            gc.enable()


def ask(grid: Grid, messages: Sequence[Message], timeout_s: float) -> Answers:
    """Send these messages, one per node, and wait for the answers, but not beyond the timeout."""
    if not messages:
        return {}
    return sort_answers(messages, grid.send_and_receive(messages, timeout=timeout_s))


@uncollected()
def sort_answers(messages: Sequence[Message], replies: Iterable[Message]) -> Answers:
    """Every node that was asked with its answer, or with why there is none."""
    asked = {message.metadata.message_id: message.metadata.dst_node_id for message in messages}
    answers: dict[int, Message | Missing] = dict.fromkeys(asked.values(), Missing(LATE))
    for reply in replies:
        # By the message that it answers: an error made by the SuperLink does not carry the node's id.
        node = asked.get(reply.metadata.reply_to_message_id)
        if node is not None:
            answers[node] = Missing(*_reason(reply)) if reply.has_error() else reply
    return answers


@uncollected()
def queries(nodes: Sequence[int], name: str, content: RecordDict, ttl_s: float) -> list[Message]:
    """The same query for all of these nodes."""
    return [Message(content, node, f"query.{name}", ttl=ttl_s) for node in nodes]


def _reason(reply: Message) -> tuple[str, str]:
    """The last line of an error's text says most: the ones before are a stack trace."""
    lines = [line for line in (reply.error.reason or "")[-10_000:].splitlines() if line.strip()]
    return FAILED, plain(lines[-1].strip()) if lines else f"error {reply.error.code}"
