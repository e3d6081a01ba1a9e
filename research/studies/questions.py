"""The paper's experiments beyond one table: what changes with a parameter, on real pages.

Strategy: a study is a row of `STUDIES`: a question, the axis that varies, and a function from the
folder of labelled sets to points on that axis. Pages are tokenized and labelled once; what a
study varies is behind that, so hundreds of settings take minutes. Word-bag F1 throughout, of the
span before cleaning, as the paper measured. The study of features belongs to another paper, with
that one's similarity.
"""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import fmean
from typing import Final

import numpy as np

from research.bench import metrics
from research.bench.folds import assign
from research.datasets.pages import LabelledPage, examples
from research.datasets.sets import load
from research.systems.thresholds import Trial
from research.training.self_training import self_train
from scrapy_mss.blocks.families import new_counts
from scrapy_mss.blocks.page import Page
from scrapy_mss.core.cleaning import simple_scores
from scrapy_mss.core.labels import align
from scrapy_mss.core.naive_bayes import NaiveBayes
from scrapy_mss.core.subsequence import Span, best_span
from scrapy_mss.markup.stemming import porter_nltk
from scrapy_mss.markup.tokens import Bools, Floats, Tokens
from scrapy_mss.models.profiles import CLEANEVAL, PAPER

PENALTIES: Final = (-0.5, -1, -1.5, -2, -2.5, -3.25, -4, -5, -6, -8)
BIASES: Final = (-0.1, -0.05, 0.0, 0.05, 0.1, 0.14, 0.2, 0.25, 0.3, 0.4)
SOURCES: Final = (1, 2, 4, 8, 12, 24, 48, 96, 192, 384)
SHARES: Final = np.linspace(0.0, 1.0, 21)  # of the words below a threshold
REPEATS: Final = 12  # random choices of so many sources; the paper took all 4095 subsets of 12
SEED: Final = 0


@dataclass(frozen=True, slots=True)
class Point:
    """One setting of one curve, and its score."""

    curve: str
    x: float
    y: float


@dataclass(frozen=True, slots=True)
class Study:
    """A question that a table and a plot answer."""

    name: str
    title: str
    x: str
    y: str
    points: Callable[[Path], Iterator[Point]]
    logarithmic: bool = False


@dataclass(frozen=True, slots=True)
class Labelled:
    """A page, its tokens, which of them are gold, and the words of its short gold."""

    labelled: LabelledPage
    page: Page
    inside: Bools
    gold: list[str]

    @property
    def tokens(self) -> Tokens:
        """The page's tokens."""
        return self.page.tokens

    @property
    def site(self) -> str:
        """The page's site."""
        return self.labelled.site

    def words(self, span: Span) -> list[str]:
        """The words of *span*."""
        tokens = self.tokens
        chosen = tokens.is_word
        chosen[: span.start] = chosen[span.end :] = False
        starts, ends = tokens.clean_start[chosen].tolist(), tokens.clean_end[chosen].tolist()
        text = (tokens.clean[start:end] for start, end in zip(starts, ends, strict=True))
        return metrics.words(" ".join(text))

    def f1(self, span: Span) -> float:
        """The word-bag F1 of *span*."""
        return metrics.bag(self.words(span), self.gold).f1


def labelled(folder: Path, name: str) -> list[Labelled]:
    """The pages of the set *name*, tokenized and labelled."""
    pages = load(f"jsonl:{folder / name}.jsonl.xz").pages
    rows = []
    for labelled_page in pages:
        page = Page.of(labelled_page.html, porter_nltk)  # as the paper's profiles have it
        gold = labelled_page.golds[0]
        inside = align(page.tokens, gold)[0]
        rows.append(Labelled(labelled_page, page, inside, metrics.words(gold)))
    return rows


def trained(families: Sequence[str], pages: Iterable[Labelled]) -> NaiveBayes[Page]:
    """Counts of *families* on *pages*."""
    counts = new_counts(families)
    for each in pages:
        counts.learn(each.page, each.inside)
    return counts


def by_penalty(folder: Path) -> Iterator[Point]:
    """Simple MSS on modern articles and on those of the paper's time."""
    for name in ("articles_wcxb", "articles_l3s"):
        pages = labelled(folder, name)
        for penalty in PENALTIES:
            spans = (best_span(simple_scores(p.tokens, penalty)) for p in pages)
            yield Point(name, penalty, _mean_f1(pages, spans))


def by_sources(folder: Path) -> Iterator[Point]:
    """The paper's figure 2: learn from ever more sites, always asked about the same others."""
    pages = labelled(folder, "articles_wcxb")
    fold = assign([p.site for p in pages], 5)
    test = [p for p, number in zip(pages, fold, strict=True) if number == 0]
    sites: dict[str, list[Labelled]] = {}
    for page, number in zip(pages, fold, strict=True):
        if number:
            sites.setdefault(page.site, []).append(page)
    rng = random.Random(SEED)  # noqa: S311 - a choice of pages, not of keys
    for count in SOURCES:
        runs = []
        for _ in range(REPEATS if count < len(sites) // 2 else 3):
            chosen = rng.sample(sorted(sites), count)
            model = trained(PAPER.families, (p for s in chosen for p in sites[s]))
            runs.append(_mean_f1(test, (_span(model, p.page) for p in test)))
        yield Point("mss-paper", count, fmean(runs))
        yield Point("simple-mss", count, _simple(test))


def by_bias(folder: Path) -> Iterator[Point]:
    """CleanEval's development pages, after learning from modern articles and from old news."""
    test = labelled(folder, "cleaneval_dev")
    known = {p.site for p in test}
    sets = {"modern": ["articles_wcxb"], "both": ["articles_wcxb", "articles_l3s"]}
    for era, names in sets.items():
        pages = [p for name in names for p in labelled(folder, name) if p.site not in known]
        for profile in (CLEANEVAL, PAPER):
            model = trained(profile.families, pages)
            scores = [model.probability(p.page, neighbours=profile.neighbours) - 0.5 for p in test]
            for bias in BIASES:
                curve = f"{profile.name}, {era} pages"
                yield Point(curve, bias, _mean_text_only(test, scores, bias))


def _mean_text_only(pages: Sequence[Labelled], scores: Sequence[Floats], bias: float) -> float:
    spans = (best_span(row + bias) for row in scores)
    return fmean(
        metrics.alignment(page.words(span), page.gold)
        for page, span in zip(pages, spans, strict=True)
    )


def by_iteration(folder: Path) -> Iterator[Point]:
    """Self-training on `sites_ctf` after learning from modern articles.

    Once for each site and era by itself, once as the paper has it: one classifier for all sites
    of an era, each of which gives the same share of its pages.
    """
    eras: dict[str, dict[str, list[Labelled]]] = {}
    for page in labelled(folder, "sites_ctf"):
        eras.setdefault(page.labelled.group or "", {}).setdefault(page.site, []).append(page)
    known = {site for sites in eras.values() for site in sites}
    pages = [p for p in labelled(folder, "articles_wcxb") if p.site not in known]
    model = trained(PAPER.families, pages)
    apart = [pages for _, sites in sorted(eras.items()) for _, pages in sorted(sites.items())]
    yield from _averaged("each site alone", [_self_trained(model, group) for group in apart])
    for era, sites in sorted(eras.items()):
        together = _self_trained(model, [p for _, group in sorted(sites.items()) for p in group])
        yield from _averaged(f"all sites of {era}", [together])


def _self_trained(model: NaiveBayes[Page], pages: Sequence[Labelled]) -> list[list[float]]:
    """The F1 of each page before the first iteration and after each one."""
    history = self_train(model, [p.page for p in pages], [p.site for p in pages])
    return [
        [page.f1(found.span) for page, found in zip(pages, predictions, strict=True)]
        for predictions in history
    ]


def _averaged(curve: str, groups: Sequence[Sequence[Sequence[float]]]) -> Iterator[Point]:
    for iteration, rows in enumerate(zip(*groups, strict=True)):
        yield Point(curve, iteration, fmean(score for row in rows for score in row))


def by_threshold(folder: Path) -> Iterator[Point]:
    """Figure 4 of Ziegler and Skubacz (2007): one feature decides, the others let all pass."""
    pages = load(f"jsonl:{folder / 'articles_wcxb'}.jsonl.xz").pages
    for feature, scores in Trial.of(examples(pages)).curves(SHARES):
        for share, score in zip(SHARES.tolist(), scores.tolist(), strict=True):
            yield Point(feature, share, score)


def _mean_f1(pages: Sequence[Labelled], spans: Iterable[Span]) -> float:
    return fmean(page.f1(span) for page, span in zip(pages, spans, strict=True))


def _span(model: NaiveBayes[Page], page: Page) -> Span:
    scores: Floats = model.probability(page) - 0.5
    return best_span(scores)


def _simple(pages: Sequence[Labelled]) -> float:
    return _mean_f1(pages, (best_span(simple_scores(p.tokens)) for p in pages))


STUDIES: Final = {
    study.name: study
    for study in (
        Study("penalty", "Simple MSS by tag penalty", "score of a tag", "F1", by_penalty),
        Study(
            "sources",
            "F1 by number of training sites",
            "training sites",
            "F1",
            by_sources,
            logarithmic=True,
        ),
        Study("bias", "CleanEval text-only score by bias", "bias", "text-only score", by_bias),
        Study("selftraining", "Self-training by iteration", "iteration", "F1", by_iteration),
        Study(
            "features",
            "One feature alone by its threshold",
            "share of words in blocks below the threshold",
            "similarity",
            by_threshold,
        ),
    )
}
