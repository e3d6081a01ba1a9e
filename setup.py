"""The compiled part, without which an installation works, too, and the description of the package.

Everything else is in setup.cfg. Where there is no compiler, the compiled part is left out;
`CC=false` says beforehand that there is none. `PROJECT_URL` is the address of the repository, which
the release workflow knows: with it, links in the description lead somewhere from a package index.
"""

import os
import re
import shlex
from pathlib import Path
from subprocess import run
from sysconfig import get_config_var

from setuptools import Extension, setup


def accepted(flag: str) -> list[str]:
    """The *flag* in a list, if the compiler knows it."""
    compiler = shlex.split(os.environ.get("CC") or get_config_var("CC") or "cc")
    try:
        tried = run(  # noqa: S603 - the compiler that compiles
            [*compiler, flag, "-E", "-x", "c", os.devnull], check=False, capture_output=True
        )
    except OSError:
        return []
    return [] if tried.returncode else [flag]


# A product and a sum are rounded each, as numpy's are, also where a processor has both in one.
# Loops over arrays become vectors, which halves the network's ends. The rest of -O3 and symbols for
# a debugger double what compiling takes, and a page gains nothing. What clang does at -O2, GCC has
# to be told; clang stops at a flag that is GCC's alone, and the compiled part would be left out.
# The last counts: who compiles may say otherwise.
OWN = shlex.split(os.environ.get("CFLAGS", ""))
FLAGS = []
if os.name == "posix":
    vectors = ["-ftree-vectorize", *accepted("-fvect-cost-model=dynamic")]
    FLAGS = ["-O2", *vectors, "-g0", "-ffp-contract=off", *OWN]
COMPILED = Extension(
    "scrapy_mss.markup._compiled",
    ["scrapy_mss/markup/_compiled.pyx"],
    depends=sorted(map(str, Path("scrapy_mss/markup").glob("*.pxi"))),
    extra_compile_args=FLAGS,
    optional=True,
)

# A picture or a link of the README whose target is a path in the repository.
RELATIVE = re.compile(r"(!?)\[([^\]]*)\]\((?!\w+:|#)([^)]+)\)")


def description(url: str) -> str:
    """The README with links into the repository at *url*, or without them."""

    def link(found: re.Match[str]) -> str:
        mark, text, path = found.groups()
        if not url:
            return "" if mark else text
        return f"{mark}[{text}]({url}/{'raw' if mark else 'blob'}/HEAD/{path})"

    return RELATIVE.sub(link, Path("README.md").read_text(encoding="utf-8"))


URL = os.environ.get("PROJECT_URL", "").rstrip("/")
URLS = {
    "Source": URL,
    "Documentation": f"{URL}/blob/HEAD/docs/index.md",
    "Changelog": f"{URL}/blob/HEAD/CHANGELOG.md",
    "Issues": f"{URL}/issues",
}

setup(
    ext_modules=[] if os.environ.get("CC") == "false" else [COMPILED],
    long_description=description(URL),
    project_urls=URLS if URL else {},
)
