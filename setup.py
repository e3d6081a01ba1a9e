"""The compiled part, without which an installation works, too; everything else is in setup.cfg."""

from setuptools import Extension, setup

setup(
    ext_modules=[
        Extension(f"scrapy_mss.markup.{name}", [f"scrapy_mss/markup/{name}.pyx"], optional=True)
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
