"""The compiled part, without which an installation works, too; everything else is in setup.cfg.

Where there is no compiler, it is left out; `CC=false` says beforehand that there is none.
"""

import os
from pathlib import Path

from setuptools import Extension, setup

# A product and a sum are rounded each, as numpy's are, also where a processor has both in one.
# More than -O2 and symbols for a debugger double what compiling takes, and a page gains nothing.
FLAGS = ["-O2", "-g0", "-ffp-contract=off"] if os.name == "posix" else []
COMPILED = Extension(
    "scrapy_mss.markup._compiled",
    ["scrapy_mss/markup/_compiled.pyx"],
    depends=sorted(map(str, Path("scrapy_mss/markup").glob("*.pxi"))),
    extra_compile_args=FLAGS,
    optional=True,
)

setup(ext_modules=[] if os.environ.get("CC") == "false" else [COMPILED])
