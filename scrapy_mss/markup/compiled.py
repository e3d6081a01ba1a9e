"""The seam between Python and the compiled part.

A step that takes much time, from arrays to arrays, is written twice: clearly in Python, which says
what it does, and in the compiled module, which is built at installation where there is a compiler.
Both give the same to the last bit, so that an installation without it is slower and nothing else.
`accelerated` decorates the Python of each step; no other module asks which is used.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial, wraps
from typing import Any, TypeVar

try:
    from scrapy_mss.markup import _compiled  # type: ignore[attr-defined]
except ImportError:  # no compiler, or another processor than it is for
    _compiled = None

IS_COMPILED = _compiled is not None  # whether it was built

Function = TypeVar("Function", bound=Callable[..., Any])

_in_use = [True]  # whether what is compiled is; the last counts


def accelerated(
    tables: Callable[[], tuple[object, ...]] = tuple, by: str = ""
) -> Callable[[Function], Function]:
    """Let the compiled function of the same name stand for the decorated one, where it is at hand.

    Both take the same arguments, by their places, and return the same. What the compiled one has
    to know beforehand is in *tables*, which it takes before them, or an object of the class *by*,
    made when it is first called.
    """

    def decorate(python: Function) -> Function:
        name = by or python.__name__.removeprefix("_")
        if not IS_COMPILED:
            return python
        compiled = getattr(_compiled, name, None)
        if compiled is None:
            raise ImportError(
                f"{_compiled.__file__} was built of other sources: it has no {name}; install "
                "scrapy-mss again, in a checkout by pip install -e ."
            )
        made = [compiled] if tables is tuple else []

        @wraps(python)
        def step(*arguments: Any) -> Any:  # noqa: ANN401 - what the decorated one takes and gives
            if not _in_use[-1]:
                return python(*arguments)
            if not made:
                made.append(compiled(*tables()) if by else partial(compiled, *tables()))
            return made[0](*arguments)

        return step  # type: ignore[return-value]

    return decorate


@contextmanager
def python_alone() -> Iterator[None]:
    """In this context the compiled part is not used: for tests and measurements, in one thread."""
    _in_use.append(False)
    try:
        yield
    finally:
        _in_use.pop()
