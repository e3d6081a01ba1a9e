"""What is sent between processes: what arrives is what was sent."""

from __future__ import annotations

import io
from collections import deque
from collections.abc import Mapping, Sequence
from contextlib import nullcontext, suppress
from dataclasses import replace
from inspect import signature
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from scrapy_mss.article import ArticleResult, ReadOptions
from scrapy_mss.blocks.lessons import Lessons
from scrapy_mss.bulk.parts import Part
from scrapy_mss.bulk.worker_groups import Answer as GroupAnswer
from scrapy_mss.core.labels import Rejection
from scrapy_mss.core.naive_bayes import Observation
from scrapy_mss.crawl import processes, wire
from scrapy_mss.crawl.page_work import PageWork
from scrapy_mss.crawl.wire import NOTHING, ModelChanges, PageAnswer, PageRequest, follow
from scrapy_mss.items import Article
from scrapy_mss.models.files import bundled_model
from scrapy_mss.models.model import Example, Model, example_of
from scrapy_mss.models.profiles import DEFAULT
from scrapy_mss.seen.paragraphs import Paragraphs
from scrapy_mss.sites.context import SiteContext
from scrapy_mss.sites.memory import SiteMemory
from scrapy_mss.spiders.lists import About, ListAnswer
from scrapy_mss.wrappers import Reason, Wrapper, css, load_wrappers
from tests.helpers.layouts import PAGES
from tests.helpers.memories import NOW, page_memory
from tests.plugin.models import ADDRESS, assert_same_counts, labelled, learned
from tests.plugin.site import RULES, plain, wrapped

T = TypeVar("T")

pytestmark = pytest.mark.any_scrapy("bytes between processes; there is no crawl")

MADE_IN_PYTHON = Wrapper(site="example.com", body=(css("article"),), origin="settings.py")
WRAPPER = load_wrappers(RULES).find(ADDRESS)
MODEL = bundled_model()
WORK = PageWork(MODEL, ReadOptions())
SOUND = WORK.answer(PageRequest(wrapped(1), ADDRESS, WRAPPER, example=True))


def arrived(value: T) -> T:
    """What is received where *value* is sent."""
    return processes.receive(io.BytesIO(processes.message(value)), type(value))


def remembered(pages: list[str]) -> SiteMemory:
    memory = SiteMemory()
    for html in pages:
        memory = memory.plus(page_memory(html))
    return memory


TEXTS = st.text(st.characters(), max_size=9)
VALUES: dict[Any, st.SearchStrategy[Any]] = {
    NoneType: st.none(),
    bool: st.booleans(),
    int: st.integers(-(2**63), 2**64 - 1),
    float: st.floats(allow_nan=False),
    str: TEXTS | TEXTS.map(lambda text: text * 100),
    bytes: st.binary(),
    Wrapper: st.sampled_from([WRAPPER, MADE_IN_PYTHON]),
    SiteMemory: st.lists(PAGES, max_size=2).map(remembered),
    **{each: st.sampled_from(each) for each in (Reason, Rejection)},
    Paragraphs: st.none(),  # a request has bytes instead
    Example: st.none(),  # arrays are not equal as a whole
}


def values(expected: Any) -> st.SearchStrategy[Any]:
    """Values of the *expected* type."""
    kind, arguments = get_origin(expected) or expected, get_args(expected)
    if kind in VALUES:
        return VALUES[kind]
    if kind in (Union, UnionType):
        return st.one_of([*map(values, arguments)])
    if kind in (list, Sequence, frozenset) or ... in arguments:
        make = list if kind is Sequence else kind
        return st.lists(values(arguments[0]), max_size=3).map(make)
    if kind is tuple:
        return st.tuples(*map(values, arguments))
    if kind in (dict, Mapping):
        return st.dictionaries(*map(values, arguments), max_size=3)
    hints, made_of = get_type_hints(kind), signature(kind).parameters
    return st.builds(kind, **{name: values(hints[name]) for name in made_of})


@pytest.mark.parametrize("kind", [PageRequest, PageAnswer, About, ListAnswer, Part, GroupAnswer])
@given(st.data())
def test_whatever_is_sent_arrives_as_it_is(kind: type[Any], data: st.DataObject) -> None:
    sent = data.draw(values(kind))

    assert arrived(sent) == sent


def test_lone_surrogates_arrive_even_if_they_would_make_a_pair() -> None:
    text = "\ud83d\ude00 \ud800 a\x00b \U0001f600"

    assert arrived(text) == text
    assert arrived(text * 100) == text * 100


def test_texts_are_not_in_the_json() -> None:
    """To read JSON keeps the interpreter's lock, megabytes of it for tens of milliseconds."""
    article = Article("about:blank", text="word " * 10_000, html="<p>" + "word " * 10_000)

    (length,) = processes.LENGTH.unpack_from(processes.packed(PageAnswer(ArticleResult(article))))

    assert length < 1_000


def test_a_training_example_arrives_as_it_is() -> None:
    sent, back = SOUND.example, arrived(SOUND).example
    assert isinstance(sent, Example)
    assert isinstance(back, Example)
    assert processes.packed(back) == processes.packed(sent)
    for name, arrays in sent.observation.counts.items():
        for one, other in zip(arrays, back.observation.counts[name], strict=True):
            assert one.dtype == other.dtype
            assert np.array_equal(one, other)


def test_lessons_that_no_page_has_are_an_error() -> None:
    assert isinstance(SOUND.example, Example)
    known = SOUND.example.lessons
    lessons = Lessons(known.keys.copy(), known.sums.copy(), known.reader)
    lessons.sums[0, 0] = -1
    sent = replace(SOUND, example=replace(SOUND.example, lessons=lessons))

    with pytest.raises(processes.PackingError) as caught:
        processes.unpacked(processes.packed(sent), PageAnswer)
    assert len(str(caught.value)) < 2 * processes.LONGEST_REASON


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text() | st.binary(),
    lambda each: st.lists(each, max_size=9),
)


@given(JSON | st.lists(JSON, min_size=8, max_size=8), st.binary(max_size=9), st.data())
def test_a_hostile_answer_is_an_error_or_has_the_declared_types(
    sent: object, changed: bytes, data: st.DataObject
) -> None:
    whole = processes.packed(data.draw(st.sampled_from([sent, SOUND])))
    start, end = sorted(data.draw(st.tuples(*[st.integers(0, len(whole))] * 2)))

    for each in (whole, whole[:start] + changed + whole[end:], whole[:end]):
        with suppress(processes.PackingError):
            answer = processes.unpacked(each, PageAnswer)
            processes.unpacked(processes.packed(answer), PageAnswer)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        processes.LENGTH.pack(2**32 - 1) + b"[]",
        processes.LENGTH.pack(10**6) + b"[" * 10**6,
        *(
            processes.LENGTH.pack(len(each)) + each
            for each in (b'{"":-9}', b'{"":9.0}', b'{"a":1}')
        ),
        processes.packed(b"sound") + b"more",
        processes.packed(b"sound")[:-1],
        processes.packed("a short text"),
        processes.packed([b"two", b"values"]),
    ],
)
def test_bytes_of_another_form_are_an_error(data: bytes) -> None:
    with pytest.raises(processes.PackingError):
        processes.unpacked(data, bytes)


@pytest.mark.parametrize(
    ("buckets", "counts", "is_sound"),
    [
        (np.arange(3, dtype=np.int32), np.zeros((3, 2), np.uint32), True),
        (np.arange(3, dtype=np.int64), np.zeros((3, 2), np.uint32), False),
        (np.arange(3, dtype=np.int32), np.zeros((3, 2), np.float32), False),
        (np.arange(3, dtype=np.int32), np.zeros((2, 2), np.uint32), False),
        (np.zeros(3, np.int32), np.zeros((3, 2), np.uint32), False),
        (np.arange(-1, 2, dtype=np.int32), np.zeros((3, 2), np.uint32), False),
        (np.zeros((3, 1), np.int32), np.zeros((3, 1, 2), np.uint32), False),
    ],
)
def test_arrays_have_the_declared_types_and_shapes(
    buckets: np.ndarray[Any, Any], counts: np.ndarray[Any, Any], *, is_sound: bool
) -> None:
    tokens = np.zeros(2, np.int64)
    data = processes.packed([{"family": (buckets, counts)}, tokens, 0, 1])

    with nullcontext() if is_sound else pytest.raises(processes.PackingError):
        processes.unpacked(data, Observation)


def test_what_is_no_data_is_not_sent() -> None:
    for value in (object(), np.array([object()]), print):
        with pytest.raises(TypeError):
            processes.packed(value)


@pytest.mark.parametrize(("html", "wrapper"), [(plain(1), None), (wrapped(1), WRAPPER)])
def test_the_memory_of_a_site_is_updated_if_it_was_sent(html: str, wrapper: Wrapper | None) -> None:
    context = SiteContext(SiteMemory(), NOW, ADDRESS)

    update = WORK.answer(PageRequest(html, ADDRESS, wrapper, site=context)).update

    assert update is not None
    assert update.added.pages == 1
    assert update.added.labelled_pages == (wrapper is not None)
    assert WORK.answer(PageRequest(html, ADDRESS, wrapper)).update is None


def test_a_page_is_learned_although_its_article_cannot_be_read(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("scrapy_mss.crawl.page_work.article_of_labels", lambda *_, **__: 1 / 0)

    answer = WORK.answer(PageRequest(wrapped(1), ADDRESS, WRAPPER, example=True))

    assert isinstance(answer.example, Example)
    assert answer.article is not None
    assert answer.article.reason == processes.ERROR


@pytest.mark.parametrize("name", ["label", "read_article", "article_of_labels"])
def test_memory_that_runs_out_is_left_to_the_process(
    name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    def failing(*_: object, **__: object) -> None:
        raise MemoryError

    monkeypatch.setattr(f"scrapy_mss.crawl.page_work.{name}", failing)
    wrapper = None if name == "read_article" else WRAPPER

    with pytest.raises(MemoryError):
        WORK.answer(PageRequest(wrapped(1), ADDRESS, wrapper))


def test_a_message_that_is_cut_off_is_an_end() -> None:
    whole = io.BytesIO()
    processes.send(whole, b"seven!!")

    assert processes.receive(io.BytesIO(whole.getvalue()), bytes) == b"seven!!"
    for length in range(len(whole.getvalue())):
        with pytest.raises((EOFError, ValueError)):
            processes.receive(io.BytesIO(whole.getvalue()[:length]), bytes)


# Copies of a model that follow what it learns


class Copy:
    """A copy of the model of *changes*, as a worker has one."""

    def __init__(self, changes: ModelChanges) -> None:
        self.model, self._changes, self._generation = Model(DEFAULT), changes, NOTHING
        self.received = deque[int](maxlen=1)  # bytes of the last message

    def follow(self) -> Model:
        sent, self._generation = self._changes.since(self._generation)
        follow(self.model, sent)
        self.received.append(sum(map(len, sent)))
        return self.model


def learn(changes: ModelChanges, model: Model, number: int) -> None:
    made = example(number, model)
    with changes.changing(made):
        model.learned.add(made, 0)


def example(number: int, model: Model) -> Example:
    made = example_of(*labelled(number), model)
    assert isinstance(made, Example)
    return made


@settings(max_examples=8)  # each of them makes tables of millions of buckets
@given(st.lists(st.sampled_from(["learn", "become", "fail", "one", "other"]), max_size=12))
def test_a_copy_has_the_counts_and_the_name_of_the_state_that_it_was_sent(steps: list[str]) -> None:
    model = Model(DEFAULT)
    changes = ModelChanges(model)
    copies = {"one": Copy(changes), "other": Copy(changes)}
    for number, step in enumerate([*steps, "one", "other"]):
        if step == "learn":
            learn(changes, model, number)
        elif step == "become":
            with changes.changing():
                model.learned.bayes.merge(learned(range(number)).bayes)
        elif step == "fail":
            with (
                pytest.raises(ZeroDivisionError),
                changes.changing(example(0, model)),
            ):
                raise ZeroDivisionError
        else:
            copy = copies[step].follow()
            assert_same_counts(copy, model)
            assert copy.identifier == model.identifier


def test_a_copy_is_sent_what_it_lacks_and_no_more() -> None:
    model = bundled_model()
    model.learned.bayes.merge(model.bayes)
    changes = ModelChanges(model)
    copy = Copy(changes)
    copy.follow()
    (whole,) = copy.received

    copy.follow()
    assert list(copy.received) == [0]
    learn(changes, model, 50)
    copy.follow()
    assert 0 < copy.received[0] < whole / 10


def test_changes_are_kept_up_to_a_bound(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(wire, "MAX_BYTES", 100_000)
    model = Model(DEFAULT)
    changes = ModelChanges(model)
    late = Copy(changes)
    late.follow()
    for number in range(100):
        learn(changes, model, number)

    assert sum(map(len, changes._changes)) <= 100_000
    assert_same_counts(late.follow(), model)
