"""Check that imports inside the package point one way.

Strategy: parse every module, import none, so that the check runs without any dependency and
sees an import wherever it stands: inside a function, under `if TYPE_CHECKING`, relative, or
as `import_module("name")`. Each module belongs to the row of `LAYERS` with the longest name
that covers it; the row says what the module may import. A module without a row is a violation
too: where it belongs is then decided by whoever writes it, in the table.

    python tools/check_imports.py [FOLDER]     # FOLDER holds the package; default: the repository
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

ROOT = "scrapy_mss"
TOOL = f"tools/{Path(__file__).name}"

# What a function of its arguments has no use for: files, clock, processes, network, logging.
# `io` is absent on purpose, an in-memory buffer is a value.
OUTSIDE_WORLD = (
    "asyncio",
    "datetime",
    "fileinput",
    "glob",
    "http",
    "importlib",
    "logging",
    "multiprocessing",
    "os",
    "pathlib",
    "shutil",
    "socket",
    "sqlite3",
    "subprocess",
    "tempfile",
    "threading",
    "time",
    "urllib.request",
    "warnings",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """One row: *name* covers the module of that name and all modules below it."""

    name: str
    project: tuple[str, ...] = ()
    libraries: tuple[str, ...] = ()
    closed: tuple[str, ...] = ()  # standard library modules that the layer must not use
    why: str


CORE = f"{ROOT}.core"
API = f"{ROOT}.api"
EXTRACTORS = f"{ROOT}.extractors"
ITEMS = f"{ROOT}.items"
METADATA = f"{ROOT}.metadata"
SETTINGS = f"{ROOT}.settings"
SHIPPED = f"{ROOT}.shipped"
TRAINING = f"{ROOT}.training"
STATS = f"{ROOT}.stats"
STORES = f"{ROOT}.stores"
WRAPPERS = f"{ROOT}.wrappers"
DOWNLOADER_MIDDLEWARES = f"{ROOT}.downloadermiddlewares"
SPIDER_MIDDLEWARES = f"{ROOT}.spidermiddlewares"
PIPELINES = f"{ROOT}.pipelines"
ADDON = f"{ROOT}.addon"
COMPAT = f"{ROOT}._compat"
LEARNING = f"{ROOT}.learning"
PAGES = f"{ROOT}.pages"
PROVIDERS = f"{ROOT}.providers"
REPLAY = f"{ROOT}.replay"
SESSION = f"{ROOT}.session"
SOURCES = f"{ROOT}.sources"
SUMMARY = f"{ROOT}.summary"
SYSTEMS = f"{ROOT}.systems"
WORKER = f"{ROOT}.worker"
WORKERS = f"{ROOT}.workers"

WITHOUT_SCRAPY = (API, CORE, ITEMS, METADATA, SHIPPED, STORES, WRAPPERS)
OF_A_CRAWL = (LEARNING, PAGES, SOURCES, SUMMARY, SYSTEMS, WORKER, WORKERS)
BELOW_GLUE = (*WITHOUT_SCRAPY, *OF_A_CRAWL, SETTINGS, STATS, COMPAT)
GLUE = (DOWNLOADER_MIDDLEWARES, SPIDER_MIDDLEWARES, PIPELINES, REPLAY)
GLUE_LIBRARIES = ("itemadapter", "scrapy", "typing_extensions", "w3lib")

LAYERS = (
    Layer(name=CORE, libraries=("numpy",), closed=OUTSIDE_WORLD, why="arrays in, arrays out"),
    Layer(
        name=f"{CORE}.stemming",
        project=(CORE,),
        libraries=("nltk.stem", "numpy"),
        closed=OUTSIDE_WORLD,
        why="the one place that knows whose stemmer it is",
    ),
    Layer(name=ITEMS, project=(CORE,), libraries=("zyte_common_items",), why="values"),
    Layer(name=SETTINGS, libraries=("scrapy.settings",), why="names and defaults"),
    Layer(name=STATS, why="names"),
    Layer(name=SUMMARY, project=(STATS,), why="numbers as sentences"),
    Layer(
        name=STORES,
        project=(CORE,),
        libraries=("filelock", "numpy"),
        why="models on disk or in a server",
    ),
    Layer(name=SHIPPED, project=(CORE,), why="the one file of data in the package"),
    Layer(
        name=TRAINING,
        project=(CORE, f"{EXTRACTORS}.alignment", f"{EXTRACTORS}.base"),
        libraries=("numpy",),
        why="a model from labelled pages",
    ),
    Layer(name=LEARNING, project=(CORE, SHIPPED, STORES), why="a model that others learn into too"),
    Layer(
        name=PAGES, project=(CORE, EXTRACTORS, METADATA, WRAPPERS), why="one page to one article"
    ),
    Layer(
        name=WORKER,
        project=(CORE, EXTRACTORS, PAGES, SYSTEMS),
        libraries=("numpy",),
        why="the same elsewhere",
    ),
    Layer(
        name=WORKERS,
        project=(ROOT, CORE, PAGES, SETTINGS, WORKER),
        why="processes beside the crawl's",
    ),
    Layer(
        name=SOURCES,
        libraries=("fastwarc", "lxml", "w3lib", "warcio"),
        why="stored pages, however they are stored",
    ),
    Layer(name=COMPAT, libraries=("scrapy", "twisted"), why="versions of Scrapy"),
    Layer(
        name=SESSION,
        project=(ROOT, *BELOW_GLUE),
        libraries=GLUE_LIBRARIES,
        why="what the parts of a crawl share",
    ),
    Layer(
        name=WRAPPERS,
        project=(CORE,),
        libraries=("lxml", "numpy", "parsel", "yaml"),
        why="rules and the trees they select from",
    ),
    Layer(
        name=METADATA,
        project=(CORE, ITEMS),
        libraries=("lxml", "parsel", "tldextract", "w3lib"),
        why="fields from one parsed tree",
    ),
    Layer(
        name=API,
        project=(CORE, SHIPPED, STORES),
        libraries=("typing_extensions",),
        why="the core's extractor, with models in files",
    ),
    Layer(
        name=EXTRACTORS,
        project=(CORE, SHIPPED, STORES, TRAINING),
        libraries=("lxml", "numpy", "parsel", "rapidfuzz"),
        why="systems that use our tokens, or none of ours",
    ),
    Layer(
        name=f"{EXTRACTORS}.stopwords",
        project=(CORE, EXTRACTORS),
        libraries=("numpy", "stopwordsiso"),
        why="the one place that knows whose lists they are",
    ),
    Layer(
        name=f"{EXTRACTORS}.external",
        project=(EXTRACTORS,),
        libraries=(
            "boilerpy3",
            "goose3",
            "justext",
            "newspaper",
            "readability",
            "resiliparse",
            "trafilatura",
            "turbohtml",
        ),
        why="other people's systems, each imported when it is asked for",
    ),
    Layer(
        name=SYSTEMS,
        project=(EXTRACTORS, SETTINGS),
        why="which of the systems a crawl runs",
    ),
    Layer(
        name=f"{ROOT}.bench",
        project=(ROOT, API, EXTRACTORS, CORE, METADATA, STORES, WRAPPERS),
        libraries=("lxml", "numpy", "psutil", "rapidfuzz", "rouge_score", "tldextract"),
        why="measures everything that runs without a crawl",
    ),
    *(
        Layer(
            name=name,
            project=(ROOT, SESSION, *BELOW_GLUE),
            libraries=(*GLUE_LIBRARIES, "twisted"),
            why="Scrapy glue",
        )
        for name in GLUE
    ),
    Layer(
        name=PROVIDERS,
        project=(SESSION, *BELOW_GLUE),
        libraries=("scrapy", "scrapy_poet"),
        why="an optional part: nothing imports it, the add-on names it",
    ),
    Layer(
        name=ADDON,
        project=(PROVIDERS, *BELOW_GLUE, *GLUE),
        libraries=GLUE_LIBRARIES,
        why="wires the glue",
    ),
    Layer(
        name=f"{ROOT}.commands",
        project=(ROOT, *BELOW_GLUE, *GLUE),
        libraries=GLUE_LIBRARIES,
        why="the `scrapy mss` command; nothing imports it",
    ),
    Layer(
        name=f"{ROOT}.__main__",
        project=(ROOT, *WITHOUT_SCRAPY),
        libraries=("w3lib",),
        why="the command line without Scrapy",
    ),
    Layer(
        name=ROOT,
        project=(*WITHOUT_SCRAPY, *GLUE, ADDON),
        why="public names, loaded when asked for; alone in naming the add-on",
    ),
)


@dataclass(frozen=True, slots=True)
class Violation:
    """An import that its row forbids, or a module without a row."""

    path: Path
    line: int
    message: str

    def __str__(self) -> str:
        return f"{self.path}:{self.line}: {self.message}"


def find_violations(folder: Path) -> list[Violation]:
    """Every violation in the package under *folder*, in the order of files and lines."""
    return [
        Violation(path.relative_to(folder), line, message)
        for path in package_files(folder)
        for line, message in _check_module(path, _module_name(path.relative_to(folder)))
    ]


def package_files(folder: Path) -> list[Path]:
    """The files that are read."""
    return sorted((folder / ROOT).rglob("*.py"))


def _module_name(path: Path) -> str:
    return ".".join(path.with_suffix("").parts).removesuffix(".__init__")


def _check_module(path: Path, module: str) -> Iterator[tuple[int, str]]:
    layer = _layer_of(module)
    if layer is None:
        yield 1, f"{module} has no row in LAYERS of {TOOL}: give it one"
        return
    package = module if path.name == "__init__.py" else module.rpartition(".")[0]
    tree = ast.parse(path.read_bytes(), filename=str(path))
    for line, target in sorted(set(_imports(tree, package))):
        if not _may_import(layer, target):
            yield line, f"{module} imports {target}; allowed: {_allowed(layer)}"


def _layer_of(module: str) -> Layer | None:
    rows = [layer for layer in LAYERS if _covers(layer.name, module)]
    return max(rows, key=lambda layer: len(layer.name), default=None)


def _covers(name: str, module: str) -> bool:
    """The root's row is for `scrapy_mss/__init__.py` alone, or it would cover everything."""
    return module == name or (name != ROOT and module.startswith(f"{name}."))


def _imports(tree: ast.AST, package: str) -> Iterator[tuple[int, str]]:
    """Line and full dotted name of everything that *tree* imports."""
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from ((node.lineno, alias.name) for alias in names)
            case ast.ImportFrom(module=module, names=names, level=level):
                base = _absolute(module, level, package)
                yield from ((node.lineno, f"{base}.{alias.name}") for alias in names)
            case ast.Call(
                func=ast.Name(id="import_module" | "__import__")
                | ast.Attribute(attr="import_module"),
                args=[ast.Constant(value=str(name)), *_],
            ):
                yield node.lineno, name


def _absolute(module: str | None, level: int, package: str) -> str:
    if level == 0:
        return module or ""
    parents = package.split(".")
    return ".".join([*parents[: len(parents) - level + 1], *([module] if module else [])])


def _may_import(layer: Layer, target: str) -> bool:
    top_level = target.partition(".")[0]
    if top_level == ROOT:
        module = target if any(_covers(row.name, target) for row in LAYERS) else ROOT
        return any(_covers(name, module) for name in (layer.name, *layer.project))
    if top_level in sys.stdlib_module_names:
        return not any(_covers(name, target) for name in layer.closed)
    return any(_covers(name, target) for name in layer.libraries)


def _allowed(layer: Layer) -> str:
    stdlib = "standard library"
    if layer.closed:
        stdlib += f" without {', '.join(layer.closed)}"
    return "; ".join([stdlib, *layer.libraries, *dict.fromkeys((layer.name, *layer.project))])


def main(arguments: list[str]) -> int:
    """Print the violations; the exit status says whether there were any."""
    folder = Path(arguments[0]) if arguments else Path(__file__).resolve().parents[1]
    n_files = len(package_files(folder))
    if not n_files:
        print(f"check_imports: no modules under {folder / ROOT}", file=sys.stderr)
        return 2
    violations = find_violations(folder)
    for violation in violations:
        print(violation)
    print(f"check_imports: {n_files} modules, {len(violations)} violations")
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
