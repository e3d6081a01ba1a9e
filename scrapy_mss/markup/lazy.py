"""What an object computes when it is first asked, and keeps: `functools.cached_property`, quicker.

A page asks for some eighty of them. The one of Python takes a lock up to Python 3.11, and looks for
the value once more before it computes it; here two threads that ask at once both compute it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Generic, TypeVar, overload

Value = TypeVar("Value")


class lazy(Generic[Value]):  # noqa: N801 - a decorator
    """A method whose value replaces it in the object's own dictionary."""

    def __init__(self, of: Callable[[Any], Value]) -> None:
        self._of = of
        self._name = of.__name__
        self.__doc__ = of.__doc__

    @overload
    def __get__(self, instance: None, owner: type) -> lazy[Value]: ...

    @overload
    def __get__(self, instance: object, owner: type) -> Value: ...

    def __get__(self, instance: object | None, owner: type) -> lazy[Value] | Value:
        if instance is None:
            return self
        value = self._of(instance)
        instance.__dict__[self._name] = value
        return value
