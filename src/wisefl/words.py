"""Words of a sentence that follow a number."""


def several(count: int, what: str) -> str:
    """1 client, but 3 clients."""
    return f"{count} {what}" if count == 1 else f"{count} {what}s"
