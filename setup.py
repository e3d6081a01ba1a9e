"""The compiled part, without which an installation works, too; everything else is in setup.cfg."""

import os

from setuptools import Extension, setup

# A product and a sum are rounded each, as numpy's are, also where a processor has both in one.
ROUNDING = ["-ffp-contract=off"] if os.name == "posix" else []

setup(
    ext_modules=[
        Extension(
            f"scrapy_mss.markup.{name}",
            [f"scrapy_mss/markup/{name}.pyx"],
            extra_compile_args=ROUNDING,
            optional=True,
        )
        for name in (
            "_pieces",
            "_tags",
            "_arrays",
            "_runs",
            "_sums",
            "_attributes",
            "_kept",
            "_blocks",
            "_features",
            "_opinions",
            "_automaton",
        )
    ]
)
