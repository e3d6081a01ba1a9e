"""The tables of `research.bench.loso`: F1 by set, pages that are wrong, differences to the peers.

Sites are resampled within each set; a mean over sets is resampled as the mean of theirs. The score
of a page is its mean over the fits, and so is whether it is wrong: what is shown is one fit's
expected score, not that of an ensemble. Where several fits were made, their spread is what is noise
between two of them.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Final, NamedTuple

import numpy as np

from research.bench.markdown import table
from research.bench.resampling import Resampler, Sample, interval
from research.bench.scoring import POOR
from research.datasets.languages import UNKNOWN
from research.systems import titled
from scrapy_mss.markup.tokens import Floats, Indices

FEWEST: Final = 20  # pages of a language
OURS: Final = "mss"

# The golds of this set begin behind headline and date, cut by rule, and half of it is Chinese,
# which no peer was made for: it is shown, and no part of the mean.
ASIDE: Final = frozenset({"articles_world"})


class Scores(NamedTuple):
    """The F1 of every page by one system; a system that learns has several fits."""

    system: str
    f1: Floats  # float64[n_fits, n_pages]


@dataclass(frozen=True, eq=False)
class Pages:
    """The set and the site of each page; both decide what is averaged and resampled.

    *languages* are those of the texts, where they are asked for.
    """

    sets: Sequence[str]
    sites: Sequence[str]
    languages: Sequence[str] = ()

    @cached_property
    def names(self) -> list[str]:
        """The sets in their order."""
        return list(dict.fromkeys(self.sets))

    @cached_property
    def averaged(self) -> list[str]:
        """The sets that the mean is of: all but those aside, if there are others."""
        return [name for name in self.names if name not in ASIDE] or self.names

    @cached_property
    def _members(self) -> dict[str, Indices]:
        return {name: np.flatnonzero(np.equal(self.sets, name)) for name in self.names}

    @cached_property
    def _resamplers(self) -> dict[str, Resampler]:
        return {
            name: Resampler([self.sites[i] for i in self._members[name]], seed=number)
            for number, name in enumerate(self.names)
        }

    def of_sets(self, values: Floats) -> list[Sample]:
        """The mean of *values* (one a page) over each set, and over their mean as the last."""
        samples = {name: self._of(name, values) for name in self.names}
        means = [samples[name].mean for name in self.averaged]
        drawn = [samples[name].resampled for name in self.averaged]
        fewest = min(map(len, drawn))  # none, where a set has a single site
        resampled = np.mean([each[:fewest] for each in drawn], axis=0)
        return [*samples.values(), Sample(float(np.mean(means)), resampled)]

    def _of(self, name: str, values: Floats) -> Sample:
        sample = self._resamplers[name].sample(values[self._members[name]])
        assert sample is not None  # a set has a page, and each page a score
        return sample

    def of_language(self, language: str) -> Pages:
        """The pages of all sets in one *language*, as one set."""
        sites = [self.sites[i] for i in self.in_language(language)]
        return Pages([language] * len(sites), sites)

    def in_language(self, language: str) -> Indices:
        """The numbers of the pages in *language*."""
        return np.flatnonzero(np.equal(self.languages, language))

    def pooled(self, values: Floats) -> float:
        """The mean of *values* over all pages of the sets that are averaged."""
        return float(values[np.isin(self.sets, self.averaged)].mean())


def tables(pages: Pages, scores: Sequence[Scores], n_ours: int) -> str:
    """All tables as Markdown; the last *n_ours* of the *scores* are of our system."""
    peers, ours = scores[:-n_ours], scores[-n_ours:]
    ordered = [*ours, *peers]
    head = ["system", *pages.names, "mean"]
    parts = [
        table(head, [_row(each, [s.mean for s in pages.of_sets(_f1(each))]) for each in ordered]),
        f"Pages under {POOR:.2f}, in percent; the last column is of all pages of the mean's sets:",
        table([*head[:-1], "pooled"], [_row(each, _poor(pages, each), 1) for each in ordered]),
    ]
    if peers:
        parts += [
            "Difference to the best of the others on each set, with its 95 % interval:",
            table(head, [_difference(pages, each, peers) for each in ours]),
        ]
    if peers and pages.languages:
        parts += [
            f"By language of the text, all sets together, {FEWEST} pages and more:",
            table(
                ["language", "pages", OURS, "best", "F1", "difference"],
                _languages(pages, ours[0], peers),
            ),
        ]
    parts += [line for each in ours for line in _fits(pages, each)]
    return "\n\n".join(parts) + "\n"


def _f1(scores: Scores) -> Floats:
    """float64[n_pages]: the mean over the fits."""
    f1: Floats = scores.f1.mean(axis=0)
    return f1


def _row(scores: Scores, values: Sequence[float], digits: int = 3) -> list[str]:
    return [titled(scores.system), *(f"{value:.{digits}f}" for value in values)]


def _poor(pages: Pages, scores: Scores) -> list[float]:
    poor = 100 * (scores.f1 < POOR).mean(axis=0)
    return [*(sample.mean for sample in pages.of_sets(poor)[:-1]), pages.pooled(poor)]


def _difference(pages: Pages, ours: Scores, peers: Sequence[Scores]) -> list[str]:
    """A row: on each set, and in the mean, how far *ours* is before the best of the *peers*."""
    of_peers = [pages.of_sets(_f1(each)) for each in peers]
    cells = []
    for column, sample in enumerate(pages.of_sets(_f1(ours))):
        best = max((each[column] for each in of_peers), key=lambda other: other.mean)
        found = interval(sample.resampled - best.resampled)
        bounds = f" [{found[0]:+.3f}, {found[1]:+.3f}]" if found else ""
        cells.append(f"{sample.mean - best.mean:+.3f}{bounds}")
    return [titled(ours.system), *cells]


def _languages(pages: Pages, ours: Scores, peers: Sequence[Scores]) -> list[list[str]]:
    """A row for each language: how far *ours* is before the best of the *peers* on its pages."""
    rows = []
    for language, count in Counter(pages.languages).most_common():
        if count < FEWEST or language == UNKNOWN:
            continue
        own, members = pages.of_language(language), pages.in_language(language)
        sample, *others = (own.of_sets(_f1(each)[members])[-1] for each in (ours, *peers))
        best = max(range(len(peers)), key=lambda number: others[number].mean)
        found = interval(sample.resampled - others[best].resampled)
        bounds = f" [{found[0]:+.3f}, {found[1]:+.3f}]" if found else ""
        gain = f"{sample.mean - others[best].mean:+.3f}{bounds}"
        f1 = (f"{sample.mean:.3f}", titled(peers[best].system), f"{others[best].mean:.3f}")
        rows.append([language, str(count), *f1, gain])
    return rows


def _fits(pages: Pages, ours: Scores) -> list[str]:
    """The mean of each fit, if there are several."""
    if len(ours.f1) == 1:
        return []
    means = (pages.of_sets(f1)[-1].mean for f1 in ours.f1)
    return [f"{ours.system}, mean of each fit: {', '.join(f'{mean:.4f}' for mean in means)}"]
