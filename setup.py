"""The compiled part, without which an installation works, too; everything else is in setup.cfg.

Where there is no compiler, the modules are left out; `CC=false` says beforehand that there is none.
"""

import os

from setuptools import Extension, setup

# A product and a sum are rounded each, as numpy's are, also where a processor has both in one.
# More than -O2 and symbols for a debugger double what compiling takes, and a page gains nothing.
FLAGS = ["-O2", "-g0", "-ffp-contract=off"] if os.name == "posix" else []
NAMES = (
    "_pieces",
    "_tags",
    "_arrays",
    "_attributes",
    "_kept",
    "_opinions",
    "_blocks",
    "_counts",
)


def modules() -> list[Extension]:
    """What is compiled; nothing without a compiler."""
    if os.environ.get("CC") == "false":
        return []
    return [
        Extension(
            f"scrapy_mss.markup.{name}",
            [f"scrapy_mss/markup/{name}.pyx"],
            extra_compile_args=FLAGS,
            optional=True,
        )
        for name in NAMES
    ]


setup(ext_modules=modules(), options={"build_ext": {"parallel": os.cpu_count() or 1}})
