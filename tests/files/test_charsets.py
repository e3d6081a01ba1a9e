"""Encodings of pages: declared rightly, wrongly, not at all, or with an invalid name."""

# ruff: noqa: RUF001 - letters of other alphabets

from __future__ import annotations

import encodings
import pkgutil
import subprocess
import sys
from encodings.aliases import aliases

import pytest

from scrapy_mss import Extractor
from scrapy_mss.files.charsets import SEARCHED, UTF8, charset_of, damage, decoded

# Every codec that Python knows, whatever it decodes; those of Windows, and one that is none.
CODECS = sorted(
    {*aliases.values(), *(each.name for each in pkgutil.iter_modules(encodings.__path__)), "x-none"}
)
SENTENCES = {
    "cp1250": "Rząd przyjął w środę ustawę o podwyżkach dla nauczycieli, których żądały związki "
    "zawodowe. „Zażółć gęślą jaźń” – powiedział później dziennikarzom rzecznik prezydenta.",
    "cp1251": "Правительство в среду приняло закон о повышении зарплаты учителей, которого давно "
    "требовали профсоюзы. Об этом журналистам рассказал представитель министерства.",
    "cp1252": "Die Fähre fährt wieder, nachdem der Sturm sie für Tage im Hafen gehalten hatte; "
    "„schön wäre es“, hörte man die Gäste überall sagen, „wenn es früher möglich würde“.",
    "cp1253": "Η κυβέρνηση ψήφισε την Τετάρτη τον νόμο για τις αυξήσεις των εκπαιδευτικών, τον "
    "οποίο ζητούσαν επί χρόνια τα συνδικάτα. Το ανακοίνωσε ο εκπρόσωπος του υπουργείου.",
    "gb18030": "政府星期三通过了提高教师工资的法律，工会多年来一直提出这样的要求。"
    "部长发言人向记者说明了这一决定，并表示新的规定将在明年春天生效，各地的学校都会得到通知。",
    "cp932": "政府は水曜日、教員の給与を引き上げる法律を承認した。"
    "労働組合が長年にわたって求めていたもので、報道官は記者団に対し、新しい規定は来年の春から施行されると述べた。",
    "cp949": "정부는 수요일 교사의 임금을 올리는 법률을 통과시켰다. 노동조합이 여러 해 동안 "
    "요구해 온 것으로, 대변인은 새로운 규정이 내년 봄부터 시행된다고 기자들에게 밝혔다.",
}
STORIES = {name: " ".join([text] * 3) for name, text in SENTENCES.items()}
STORIES["koi8-r"] = STORIES["cp1251"]
WAYS = ("header", "meta", "both")


def page(text: str, declared: str = "") -> str:
    meta = f'<meta charset="{declared}">' if declared else ""
    return f"<html><head>{meta}<title>A page</title></head><body><p>{text}</p></body></html>"


def header(name: str) -> str:
    return f"text/html; charset={name}"


@pytest.mark.parametrize("name", CODECS)
def test_a_page_that_declares_any_codec_is_read(name: str) -> None:
    source = page(STORIES["cp1252"], name)

    assert decoded(source.encode()) == source
    assert decoded(source.encode(), header(name)) == source
    assert decoded(page("plain", name).encode(), header(name)) == page("plain", name)


@pytest.mark.parametrize("name", STORIES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("real", [UTF8, "legacy"])
def test_a_wrongly_declared_page_is_decoded_as_it_is(name: str, way: str, real: str) -> None:
    real, said = (UTF8, name) if real == UTF8 else (name, UTF8)
    source = page(STORIES[name], real if way == "header" else said)
    kind = None if way == "meta" else header(said)

    assert decoded(source.encode(real), kind) == source
    assert charset_of(source.encode(real), kind).is_mended


@pytest.mark.parametrize("name", STORIES)
def test_a_page_that_is_declared_rightly_is_left_as_it_is(name: str) -> None:
    source = page(STORIES[name], name)

    for kind in (None, header(name)):
        assert decoded(source.encode(name), kind) == source
        assert not charset_of(source.encode(name), kind).is_mended


def test_the_header_goes_before_the_page_if_both_may_be_right() -> None:
    body = page(STORIES["cp1251"], "koi8-r").encode("cp1251")

    assert STORIES["cp1251"] in decoded(body, header("windows-1251"))


def test_signs_alone_are_no_evidence_of_a_language() -> None:
    body = page("The ferry is late \x97 it\x92s \xa3120, \xa9 2026.", UTF8).encode("latin-1")

    assert charset_of(body).name in {UTF8, "cp1252"}


def test_text_is_searched_up_to_a_limit_whatever_follows() -> None:
    sound = (page(STORIES["cp949"]) * (SEARCHED // 500)).encode("cp949")
    assert len(sound) > SEARCHED

    assert charset_of(sound, header(UTF8)).is_mended
    assert charset_of(sound + 3 * len(sound) * b"\xff", header(UTF8)) == charset_of(sound)


@pytest.mark.parametrize("name", ["utf-16-le", "utf-16-be", "utf-32-le"])
def test_wide_encodings_are_those_of_pages_with_zeros(name: str) -> None:
    source = page(STORIES["cp1250"], name)

    assert decoded(source.encode(name), header(name)) == source
    assert decoded(source.encode(), header(name)) == source


@pytest.mark.parametrize("name", ["utf-8-sig", "utf-16", "utf-32"])
def test_a_byte_order_mark_goes_before_all_else(name: str) -> None:
    source = page(STORIES["cp1250"], "windows-1252")

    assert decoded(source.encode(name), header("koi8-r")) == source


def test_pages_in_utf8_load_no_detector() -> None:
    program = (
        "import sys; from scrapy_mss.files.charsets import decoded; decoded('<p>ä'.encode());"
        "print('chardetng_py' in sys.modules)"
    )

    assert subprocess.check_output([sys.executable, "-c", program], text=True) == "False\n"


@pytest.mark.parametrize("name", STORIES)
def test_damage_is_seen_in_text_that_was_decoded_wrongly(name: str) -> None:
    text = STORIES[name]

    assert damage(text) == 0
    assert damage(text.encode(name).decode(UTF8, "replace")) > 0.2
    if name in {"cp1250", "cp1251", "cp1252"}:
        assert damage(text.encode().decode(name, "replace")) > 0.2


def test_bytes_are_extracted_and_damage_lowers_the_confidence() -> None:
    extractor = Extractor()
    source = page("</p><p>".join([STORIES["cp1250"]] * 8), UTF8)

    sound = extractor.extract(source)
    assert extractor.extract(source.encode("cp1250")).text == sound.text
    assert extractor.explain(source.encode("cp1250")).extraction.text == sound.text
    damaged = extractor.extract(source.encode("cp1250").decode(UTF8, "replace"))
    assert sound.confidence is not None
    assert damaged.confidence is not None
    assert damaged.confidence < sound.confidence - 0.3
