"""What a page and its site say on its use by machines, as they publish it.

A page says it in `<meta>` and in headers, a site in robots.txt and in tdmrep.json (TDMRep, of the
W3C's community group). Nothing is concluded but for `is_reserved`: the table says which words of a
site are a reservation of its own. Every file is read within bounds, and nothing in one raises.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from itertools import chain, islice
from typing import Any, Final, NamedTuple

from scrapy_mss.pages.addresses import fits


class Reservation(NamedTuple):
    """One statement: the *place* where it is published, its *name* there, and its *value*."""

    place: str
    name: str
    value: str


class Statement(NamedTuple):
    """A row: what may be stated, what it means, and whether it reserves the page from AI."""

    text: str
    meaning: str
    reserves: bool = False


STATEMENTS: Final = (
    Statement("noai", "not to be used for AI", reserves=True),
    Statement("noimageai", "its images are not to be used for AI"),
    Statement("noindex", "not to be found by search"),
    Statement("none", "the same, and its links are not to be followed"),
    Statement("noarchive", "no copy of it is to be shown"),
    Statement("nosnippet", "no part of it is to be shown"),
    Statement("tdm-reservation: 1", "text and data mining is reserved (TDMRep)", reserves=True),
    Statement("tdm-policy", "where a licence for that is offered"),
    Statement("ai-train=no", "not to train models (Content-Signal)", reserves=True),
    Statement("ai-input=no", "not as an input of models", reserves=True),
    Statement("search=no", "not for search"),
    Statement("disallow", "forbidden to crawlers that collect for AI", reserves=True),
)
RESERVING: Final = frozenset(each.text for each in STATEMENTS if each.reserves)
OF_ROBOTS: Final = frozenset("noai noimageai noindex none noarchive nosnippet".split())
TDM: Final = ("tdm-reservation", "tdm-policy")
ROBOTS_TAG, SIGNAL, DISALLOW = "x-robots-tag", "content-signal", "disallow"
HEADER, META, ROBOTS, TDMREP = "header", "meta", "robots.txt", "tdmrep.json"

# The names by which robots.txt addresses those who collect texts for models, of their own manuals.
AI_CRAWLERS: Final = frozenset(
    "ai2bot amazonbot anthropic-ai applebot-extended bytespider ccbot claudebot claude-web "
    "cohere-ai cohere-training-data-crawler deepseekbot diffbot facebookbot google-extended gptbot "
    "img2dataset meta-externalagent omgili omgilibot pangubot timpibot webzio-extended".split()
)
HEADERS: Final = (ROBOTS_TAG, *TDM, SIGNAL)
NAMES: Final = ("robots", "googlebot", "bingbot", *sorted(AI_CRAWLERS), *HEADERS)

MAX_FILE: Final = 500_000  # characters of robots.txt, as search engines read, and of tdmrep.json
MAX_VALUE: Final = 1000  # characters of a value
MAX_VALUES: Final = 20  # of one name
MAX_RULES: Final = 100  # of a crawler, or of a file
MAX_KEPT: Final = 50_000  # bytes of a file's rules, each with so many around it:
OF_RULE: Final = 100
MAX_STARS: Final = 20  # in a rule: what follows each is searched for in every path
MAX_PATH: Final = 4_096  # characters of it


def is_reserved(found: Iterable[Reservation]) -> bool:
    """Whether one of the statements reserves the page from being used for AI."""
    return any(not RESERVING.isdisjoint(_texts(each)) for each in found)


def _texts(found: Reservation) -> set[str]:
    """The texts of the table that *found* states."""
    if found.name in TDM:
        return {f"{found.name}: {found.value.strip()}"}
    if found.name == DISALLOW:
        return {DISALLOW}
    return {"".join(part.split()).lower() for part in found.value.split(",")}


def stated(place: str, values: Mapping[str, Sequence[str]]) -> tuple[Reservation, ...]:
    """What the headers of a response or the `<meta>` of a page say, by names in lower case."""
    found = list[Reservation]()
    for name in filter(values.__contains__, NAMES):
        for value in values[name][:MAX_VALUES]:
            said = _by_agent(name, value[:MAX_VALUE])
            found += (Reservation(place, agent, text) for agent, text in said if text)
    return tuple(found)


def _by_agent(name: str, value: str) -> list[tuple[str, str]]:
    """What *name* says; directives for robots by the agent before them, if there is one.

    [("x-robots-tag", "noai"), ("googlebot", "noindex, noarchive")]
    """
    if name in (*TDM, SIGNAL):
        return [(name, value)]
    said: dict[str, list[str]] = {}
    value = value.lower()
    for part in value.split(",") if "no" in value else ():  # as all have that are of interest
        agent, _, directive = part.rpartition(":")
        if directive.strip() in OF_ROBOTS:
            name = agent.strip() or name
            said.setdefault(name, []).append(directive.strip())
    return [(each, ", ".join(directives)) for each, directives in said.items()]


class SiteFiles(NamedTuple):
    """What robots.txt and tdmrep.json of a site say, by the paths of its pages."""

    signals: tuple[str, ...] = ()
    rules: Mapping[str, list[tuple[str, bool]]] = {}  # of crawlers: patterns, and if they allow
    tdm: tuple[Mapping[str, str], ...] = ()

    def of(self, path: str) -> tuple[Reservation, ...]:
        """What they say of the page at *path*."""
        path = path[:MAX_PATH]
        signals = (Reservation(ROBOTS, SIGNAL, value) for value in self.signals)
        forbidden = [agent for agent, rules in self.rules.items() if _forbid(rules, path)]
        by_name = [Reservation(ROBOTS, DISALLOW, ", ".join(forbidden))] if forbidden else []
        fitting = [each for each in self.tdm if _matches(each["location"], path)]
        said = max(fitting, key=lambda each: len(each["location"]), default={})
        of_tdm = (Reservation(TDMREP, name, said[name]) for name in TDM if name in said)
        return (*signals, *by_name, *of_tdm)

    def with_robots(self, text: str) -> SiteFiles:
        """The same with the signals and the rules for AI crawlers in a robots.txt."""
        signals: dict[str, None] = {}
        groups: dict[str, list[list[tuple[str, bool]]]] = {}  # of rules, by crawlers
        group: list[tuple[str, bool]] = []
        agents: list[str] = []
        crawlers: frozenset[str] = frozenset()
        in_rules, room = False, MAX_KEPT
        for line in text[:MAX_FILE].splitlines():
            key, _, value = line.partition("#")[0].partition(":")
            key, value = key.strip().lower(), value.strip()[:MAX_VALUE]
            if key == "user-agent":
                agents = [value.lower()] if in_rules else [*agents, value.lower()][-MAX_RULES:]
                in_rules = False
                continue
            if key not in ("allow", DISALLOW, SIGNAL):
                continue
            if not in_rules:
                crawlers, group, in_rules = AI_CRAWLERS.intersection(agents), [], True
                for agent in crawlers:
                    groups.setdefault(agent, []).append(group)
            if key == SIGNAL and (crawlers or "*" in agents):
                signals[value] = None
                continue
            is_kept = crawlers and room > 0 and len(group) < MAX_RULES
            if key != SIGNAL and is_kept and value.count("*") <= MAX_STARS:
                group.append((value, key == "allow"))
                room -= len(value) + OF_RULE
        rules = {
            agent: [*islice(chain.from_iterable(groups[agent]), MAX_RULES)]
            for agent in sorted(groups)
        }
        return self._replace(signals=tuple(islice(signals, MAX_VALUES)), rules=rules)

    def with_tdmrep(self, text: str) -> SiteFiles:
        """The same with the rules in a tdmrep.json."""
        try:
            rows: Any = json.loads(text[:MAX_FILE])
        except (ValueError, RecursionError):
            return self
        read = map(_tdm_row, rows[:MAX_RULES] if isinstance(rows, list) else ())
        tdm, room = [], MAX_KEPT
        for row in filter(None, read):
            room -= sum(map(len, row.values())) + OF_RULE
            if room >= 0:
                tdm.append(row)
        return self._replace(tdm=tuple(tdm))


def _tdm_row(row: object) -> dict[str, str]:
    """A rule of a tdmrep.json; empty if it is none."""
    if not isinstance(row, dict) or not isinstance(row.get("location"), str):
        return {}
    if row["location"].count("*") > MAX_STARS:
        return {}
    values = {
        name: row[name] for name in ("location", *TDM) if isinstance(row.get(name), str | int)
    }
    return {name: str(value)[:MAX_VALUE] for name, value in values.items()}


def _forbid(rules: Iterable[tuple[str, bool]], path: str) -> bool:
    """Whether the longest of the *rules* that fits *path* is one that disallows it."""
    fitting = ((len(rule), allows) for rule, allows in rules if rule and _matches(rule, path))
    return not max(fitting, default=(0, True))[1]


def _matches(pattern: str, path: str) -> bool:
    """Whether *path* begins as *pattern*, in which `*` is anything and `$` at the end its end."""
    return fits(pattern[:-1] if pattern.endswith("$") else f"{pattern}*", path)
