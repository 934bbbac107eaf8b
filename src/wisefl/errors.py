"""What can go wrong through a user's input, by name. The command line prints these as one sentence."""


class WiseFLError(Exception):
    """Base of every error that a user can act on."""


class InvalidInput(WiseFLError):
    """A value or a file is not what it should be; the message names the place and what is accepted."""


class FolderInUse(InvalidInput):
    """Another process writes to the folder; it can be had later."""


class InfeasibleProblem(WiseFLError):
    """No decision satisfies the limits; the message names the limit to loosen and to what value."""


class Outage(InfeasibleProblem):
    """The clients that a round needs did not come in time; rounds done so far are kept, and the run can go on."""


class MissingExtra(WiseFLError):
    """An optional dependency is not installed; the message names the extra that brings it.

    It comes from a checkout: WiseFL is on no index, and its name there could be anybody's.
    """

    def __init__(self, what: str, extra: str) -> None:
        super().__init__(f"{what} is not installed: pip install '.[{extra}]' in a checkout of WiseFL brings it")
