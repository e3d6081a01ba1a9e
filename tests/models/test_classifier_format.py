from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from scrapy_mss.blocks import classifier
from scrapy_mss.blocks.classifier import BlockClassifier
from scrapy_mss.blocks.page import Page
from scrapy_mss.markup.tokens import Floats
from scrapy_mss.models import format as model_format
from scrapy_mss.models.format import classifier_inputs, from_bytes, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT
from tests.helpers.classifiers import counts_of, random_classifier
from tests.helpers.model_files import assembled, parts_of, rejection_of, with_header

PARTS = tuple(classifier_inputs())


def complete(classifier: BlockClassifier | None = None) -> Model:
    """A model with counts and a classifier."""
    return Model(DEFAULT, classifier or random_classifier(), counts_of(range(2)))


@pytest.fixture(scope="module")
def stored() -> bytes:
    return to_bytes(complete())


def test_a_classifier_is_read_as_it_was_written(stored: bytes) -> None:
    after = from_bytes(stored).classifier

    assert after is not None
    for name, array in random_classifier().arrays.items():
        assert after.arrays[name].dtype == np.float32
        assert np.array_equal(after.arrays[name], array)
    assert to_bytes(from_bytes(stored)) == stored


def why_unusable(data: bytes) -> str:
    """Why the classifier in *data* is left out; the counts are not."""
    model = from_bytes(data)
    assert model.classifier is None
    assert model.bayes.digest == complete().bayes.digest
    return model.unusable_classifier


# What another version has in the place of our third input, and what is said of it.
OTHER_INPUTS: dict[str, tuple[Callable[[list[list[str]]], object], str]] = {
    "missing": (lambda rows: rows.pop(2), "is {after}, here {name}"),
    "additional": (lambda rows: rows.insert(2, ["moon", "0"]), "is moon, here {name}"),
    "renamed": (lambda rows: rows[2].__setitem__(0, "moon"), "is moon, here {name}"),
    "computed otherwise": (
        lambda rows: rows[2].__setitem__(1, "0"),
        "is {name}, but computed in another way",
    ),
}


@pytest.mark.parametrize("part", PARTS)
@pytest.mark.parametrize("difference", OTHER_INPUTS)
def test_the_first_other_input_is_named(
    part: str, difference: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    change, said = OTHER_INPUTS[difference]
    theirs = {name: list(map(list, rows)) for name, rows in classifier_inputs().items()}
    names = [*(name for name, _ in theirs[part]), "nothing"]
    change(theirs[part])
    with monkeypatch.context() as elsewhere:
        elsewhere.setattr(model_format, "classifier_inputs", lambda: theirs)
        data = to_bytes(complete())

    expected = said.format(name=names[2], after=names[3])
    assert why_unusable(data).endswith(f"input 3 of its {part} {expected}")


def test_a_feature_of_another_meaning_under_the_same_name_is_named(
    stored: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    place, whole = classifier.INPUTS.index("link_share"), classifier.fill_inputs

    def fill(page: Page, evidence: Floats, score: Floats, rows: Floats) -> None:
        whole(page, evidence, score, rows)
        rows[place] = 1.0 - rows[place]

    monkeypatch.setattr(classifier, "fill_inputs", fill)
    monkeypatch.setattr(model_format, "classifier_inputs", classifier_inputs.__wrapped__)

    message = why_unusable(stored)

    assert message.endswith("of its blocks is link_share, but computed in another way")


def crafted(data: bytes, **changes: object) -> bytes:
    """The model file *data* with other values in its classifier's header."""
    header, _ = parts_of(data)
    return with_header(data, classifier={**header["classifier"], **changes})


def resized(rows: list[dict[str, Any]], shape: object) -> list[dict[str, Any]]:
    """The *rows* with another shape of the first array."""
    return [{**rows[0], "shape": shape}, *rows[1:]]


def of_one_network(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """As versions had it whose block classifier has one network for all pages."""
    named = ({**row, "name": row["name"].removeprefix("article_")} for row in rows)
    return [row for row in named if not row["name"].startswith("other_")]


CRAFTED_ARRAYS: dict[str, Callable[[list[dict[str, Any]]], object]] = {
    "a number": lambda _: 3,
    "numbers": lambda _: [1, 2, 3, 4, 5, 6],
    "a shape of texts": lambda rows: resized(rows, ["9"]),
    "a shape that is a number": lambda rows: resized(rows, 9),
    "a larger shape": lambda rows: resized(rows, [rows[0]["shape"][0] + 1]),
    "another dimension": lambda rows: resized(rows, [1, *rows[0]["shape"]]),
    "a negative shape": lambda rows: resized(rows, [-1]),
    "larger than any memory": lambda rows: resized(rows, [2**40, 2**40]),
}
OTHER_PARTS: dict[str, Callable[[list[dict[str, Any]]], list[dict[str, Any]]]] = {
    "none": lambda _: [],
    "one too few": lambda rows: rows[:-1],
    "one too many": lambda rows: [*rows, {"name": "more", "shape": [0]}],
    "another name": lambda rows: [{**rows[0], "name": "more"}, *rows[1:]],
    "one network": of_one_network,
}


@pytest.mark.parametrize("difference", OTHER_PARTS)
def test_a_classifier_of_other_parts_is_left_out(difference: str, stored: bytes) -> None:
    arrays = parts_of(stored)[0]["classifier"]["arrays"]

    data = crafted(stored, arrays=OTHER_PARTS[difference](arrays))

    message = why_unusable(data)
    assert "expected were evidence_weights, article_mean" in message


@pytest.mark.parametrize("fault", CRAFTED_ARRAYS)
def test_arrays_that_do_not_agree_with_the_header_are_rejected(fault: str, stored: bytes) -> None:
    arrays = parts_of(stored)[0]["classifier"]["arrays"]

    rejection_of(crafted(stored, arrays=CRAFTED_ARRAYS[fault](arrays)))


@pytest.mark.parametrize("inputs", [None, 3, [], dict.fromkeys(PARTS, 3)], ids=repr)
def test_inputs_of_another_type_are_rejected(inputs: object, stored: bytes) -> None:
    rejection_of(crafted(stored, inputs=inputs))


@pytest.mark.parametrize("more", [b"\0\0\0\0", b"\0"], ids=len)
def test_weights_that_are_too_many_or_too_few_are_rejected(more: bytes, stored: bytes) -> None:
    header, body = parts_of(stored)

    assert "bytes of weights" in rejection_of(assembled(header, body + more))
    rejection_of(assembled(header, body[: -len(more)]))


def test_a_file_that_hides_its_classifier_is_rejected(stored: bytes) -> None:
    rejection_of(with_header(stored, classifier=None))


def test_weights_for_other_inputs_are_rejected_though_the_names_agree() -> None:
    classifier = random_classifier()
    networks = classifier.networks
    network = networks.article
    fewer_inputs = replace(
        network, mean=network.mean[1:], scale=network.scale[1:], hidden=network.hidden[1:]
    )
    for other in (
        replace(classifier, networks=networks._replace(article=fewer_inputs)),
        replace(classifier, evidence_weights=classifier.evidence_weights[1:]),
        replace(classifier, page_weights=classifier.page_weights[1:]),
        replace(classifier, confidence_weights=classifier.confidence_weights[1:]),
        *(
            replace(classifier, networks=networks._replace(other=other))
            for other in (
                replace(network, output=network.output[1:]),
                replace(network, hidden=network.hidden.ravel()),
            )
        ),
    ):
        message = rejection_of(to_bytes(complete(other)))
        assert "weights of shapes" in message


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf])
def test_weights_that_are_no_finite_numbers_are_rejected(number: float) -> None:
    classifier = random_classifier()
    classifier.networks.other.hidden[2, 1] = number

    rejection_of(to_bytes(complete(classifier)))
