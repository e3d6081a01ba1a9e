from __future__ import annotations

import errno
import os
from collections.abc import Callable
from functools import partial
from importlib.resources import files
from pathlib import Path
from stat import S_ISDIR

import numpy as np
import pytest

from scrapy_mss.blocks.page import Page
from scrapy_mss.models import files as model_files
from scrapy_mss.models.files import (
    FILE,
    ModelFile,
    bundled_model,
    read_model,
    with_bundled,
    write_atomically,
    write_model,
)
from scrapy_mss.models.format import MAGIC, ModelError, from_bytes, read_header, to_bytes
from scrapy_mss.models.model import Model
from scrapy_mss.models.profiles import DEFAULT, PAPER, PAPER_HR, TRIGRAM
from tests.helpers.classifiers import counts_of, random_classifier, trained
from tests.helpers.news_pages import news_page

of_trigrams = partial(trained, profile=TRIGRAM)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "news.model"


def names(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


FAILURES = {"write": "os.fsync", "rename": "pathlib.Path.replace"}


@pytest.mark.parametrize("stage", FAILURES)
@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left"), KeyboardInterrupt()])
def test_a_write_that_fails_leaves_the_old_file_and_nothing_else(
    path: Path, stage: str, error: BaseException, monkeypatch: pytest.MonkeyPatch
) -> None:
    path.write_bytes(b"old")

    def fail(*_: object) -> None:
        raise type(error)(*error.args)

    with monkeypatch.context() as patched:
        patched.setattr(FAILURES[stage], fail)
        with pytest.raises(type(error)) as raised:
            write_atomically(path, b"new")

    assert path.read_bytes() == b"old"
    assert names(path.parent) == [path.name]
    if isinstance(raised.value, OSError):
        assert str(raised.value) == f"[Errno 28] No space left: '{path}'"


def test_content_is_synced_before_the_rename_and_the_folder_after_it(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    order: list[str] = []
    fsync, replace = os.fsync, Path.replace

    def note_fsync(descriptor: int) -> None:
        order.append("folder" if S_ISDIR(os.fstat(descriptor).st_mode) else "content")
        fsync(descriptor)

    def note_replace(source: Path, target: Path) -> Path:
        order.append("rename")
        return replace(source, target)

    monkeypatch.setattr("os.fsync", note_fsync)
    monkeypatch.setattr("pathlib.Path.replace", note_replace)
    write_atomically(path, b"new")

    assert order == ["content", "rename", "folder"]
    assert path.read_bytes() == b"new"


@pytest.mark.parametrize("name", ["missing.model", "missing/a.model", "a.file/below"])
def test_without_a_file_a_store_has_an_empty_model(tmp_path: Path, name: str) -> None:
    (tmp_path / "a.file").write_bytes(b"")

    model = ModelFile(tmp_path / name, PAPER).load()

    assert model.profile is PAPER
    assert model.bayes.pages == 0
    assert names(tmp_path) == ["a.file"]


def full() -> Model:
    model = Model(TRIGRAM)
    model.bayes.counts["trigram"][:] = 2**32 - 1
    return model


UNFIT = {
    "damaged": (to_bytes(of_trigrams(1))[:-1] + b"\0", "the model is damaged"),
    "of other features": (to_bytes(Model(PAPER)), "'paper', not for 'trigram'. Name another file"),
    "full": (to_bytes(full()), "a count would exceed 32 bits"),
}


@pytest.mark.parametrize("name", UNFIT)
def test_a_file_that_cannot_be_added_to_is_named_and_left_alone(path: Path, name: str) -> None:
    data, why = UNFIT[name]
    path.write_bytes(data)

    with pytest.raises(ModelError, match=f"{path.name}: .*{why}"):
        ModelFile(path, TRIGRAM).add(of_trigrams(2))

    assert path.read_bytes() == data


def test_profiles_of_the_same_features_share_a_file(path: Path) -> None:
    write_model(path, Model(PAPER))

    assert ModelFile(path, PAPER_HR).load().profile is PAPER


def test_a_complete_model_keeps_its_classifier_when_counts_are_added(path: Path) -> None:
    write_model(path, Model(DEFAULT, random_classifier(), counts_of([1])))

    ModelFile(path, DEFAULT).add(Model(DEFAULT, None, counts_of([2])))

    added = read_model(path)
    assert to_bytes(added) == to_bytes(Model(DEFAULT, random_classifier(), counts_of([1, 2])))


@pytest.fixture
def links(tmp_path: Path, path: Path) -> list[Path]:
    """Two links to the file, one of them relative, in folders of their own."""
    made = []
    for name, target in (("a", path), ("b", Path("..") / path.name)):
        (tmp_path / name).mkdir()
        link = tmp_path / name / "link.model"
        link.symlink_to(target)
        made.append(link)
    return made


def test_links_to_one_file_lead_to_it_and_stay_links(path: Path, links: list[Path]) -> None:
    write_model(links[0], of_trigrams(0))
    ModelFile(links[1], TRIGRAM).add(of_trigrams(1))

    assert all(link.is_symlink() for link in links)
    assert path.read_bytes() == to_bytes(of_trigrams(0, 1))
    assert [names(link.parent) for link in links] == [["link.model"], ["link.model"]]


def test_a_link_in_a_circle_is_an_error_of_the_file(tmp_path: Path) -> None:
    link = tmp_path / "circle.model"
    link.symlink_to(link)

    with pytest.raises(OSError, match=r"circle\.model"):
        read_model(link)
    with pytest.raises(ModelError, match=r"circle\.model"):
        ModelFile(link, TRIGRAM).load()


UNREADABLE: dict[str, tuple[Callable[[Path], object], str]] = {
    "device": (lambda path: path.symlink_to("/dev/zero"), "expected a regular file, got a device"),
    "pipe": (os.mkfifo, "expected a regular file, got a named pipe"),
    "folder": (Path.mkdir, "Is a directory"),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_is_no_file_is_a_model_error_of_the_store(path: Path, name: str) -> None:
    make, why = UNREADABLE[name]
    make(path)

    with pytest.raises(ModelError) as caught:
        ModelFile(path, TRIGRAM).load()

    expected = f"{path.resolve()}: the model cannot be read: {why}. Give the path of a file"
    assert str(caught.value).startswith(expected)
    assert caught.value.__suppress_context__  # Scrapy logs a traceback, once is enough


def test_a_file_larger_than_any_model_is_rejected(
    path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(model_files, "LARGEST_FILE", 1000)
    path.write_bytes(MAGIC + bytes(1000))

    with pytest.raises(ModelError, match="at most 1,000 bytes"):
        read_model(path)


def test_a_folder_that_cannot_be_synced_fails_no_write(
    path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """What is in the file must not seem to be lost, or it would be added again."""

    def fail(_: Path) -> None:
        raise OSError(errno.EINVAL, "Invalid")

    monkeypatch.setattr(model_files, "sync_directory", fail)

    write_model(path, of_trigrams(1))

    assert path.read_bytes() == to_bytes(of_trigrams(1))
    assert "cannot be synced; a power cut may undo the last change" in caplog.text


MAX_SIZE = 8_000_000  # bytes


@pytest.fixture(scope="module")
def bundled() -> Model:
    return bundled_model()


def test_the_bundled_model_is_small_complete_and_of_the_default_profile(bundled: Model) -> None:
    data = files("scrapy_mss").joinpath(FILE).read_bytes()
    header, _ = read_header(data)

    assert len(data) < MAX_SIZE
    assert header["profile"] == DEFAULT.name
    assert not bundled.restarted  # it is trained again when a family's version is raised
    assert header["pages"] > 1000
    assert from_bytes(data).classifier is not None  # its inputs are those of this version
    assert from_bytes(to_bytes(bundled)).identifier == bundled.identifier


def test_learning_with_one_copy_does_not_change_another(bundled: Model) -> None:
    before, page = bundled.identifier, news_page(0)

    bundled_model().bayes.learn(Page(page.tokens), page.inside)

    assert bundled.identifier == bundled_model().identifier == before


def test_what_a_crawl_learned_stays_beside_the_bundled_counts(bundled: Model) -> None:
    crawl = trained(1, 2)

    whole = with_bundled(crawl)

    assert whole.classifier is not None
    assert whole.learned is crawl
    for name, counts in whole.counted().counts.items():
        assert np.array_equal(whole.bayes.counts[name], bundled.bayes.counts[name])
        assert np.array_equal(counts, bundled.bayes.counts[name] + crawl.bayes.counts[name])


def test_a_complete_model_and_one_of_another_profile_need_no_bundled_one(bundled: Model) -> None:
    for model in (bundled, Model(PAPER)):
        assert with_bundled(model) is model
