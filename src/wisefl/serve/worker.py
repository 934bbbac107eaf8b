"""A process that decides: frames come in on standard input and answers go out on standard output.

A frame is a line of JSON that ends with the size of what follows, and so many bytes. When the service is gone the
input ends, and so does the worker.
"""

import gc
import json
import os
import signal
import sys
import time


def main() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is the service's: it tells its workers
    incoming = os.fdopen(os.dup(0), "rb")
    outgoing = os.fdopen(os.dup(1), "wb")
    os.dup2(2, 1)  # whatever prints must not disturb the answers

    from wisefl.serve.jobs import answer, warm

    warm()
    gc.freeze()  # what has been loaded by now stays: looking through it again and again would cost milliseconds

    def tell(status: int, body: bytes, seconds: float) -> None:
        outgoing.write(json.dumps({"status": status, "seconds": seconds, "size": len(body)}).encode() + b"\n" + body)
        outgoing.flush()

    tell(200, b"", 0.0)
    while line := incoming.readline():
        frame = json.loads(line)
        body = incoming.read(frame["size"])
        began = time.perf_counter()
        status, text = answer(frame["kind"], body, frame["seconds"])
        tell(status, text, time.perf_counter() - began)


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        sys.exit(0)
