"""Site config files of Full-Text RSS; those here are ours, in their syntax."""

from __future__ import annotations

import pytest

from scrapy_mss.wrappers import Account, Example, Wrapper, class_or_id, label, xpath
from scrapy_mss.wrappers.ftr import PRIORITY, read_site_config, site_of

CONFIG = """\
# A note: not a directive
title: //h1
body: //div[@id='story']
body://article

strip: //aside
strip_id_or_class: 'share bar'
strip_id_or_class: promo #or not?
AUTHOR: //p[@class='by']
date: substring-after(//p[@class='on'], 'on ')
prune: no
find_string: <x
replace_string(<y): <z
test_url: https://example.com/1
test_contains: First
test_contains: Second
test_url: https://example.com/2
"""


def read(text: str, file: str = "rules/example.com.txt") -> tuple[list[Wrapper], Account]:
    account = Account()
    return read_site_config(text, file, account), account


def test_directives_become_fields() -> None:
    wrappers, account = read(CONFIG)

    assert wrappers == [
        Wrapper(
            site="example.com",
            body=(xpath("//div[@id='story']"), xpath("//article")),
            exclude=(xpath("//aside"), class_or_id("share bar"), class_or_id("promo")),
            title=(xpath("//h1"),),
            authors=(xpath("//p[@class='by']"),),
            published=(xpath("substring-after(//p[@class='on'], 'on ')"),),
            priority=PRIORITY,
            tests=(
                Example("https://example.com/1", ("First", "Second")),
                Example("https://example.com/2"),
            ),
        )
    ]
    assert account.ignored == {"prune": 1, "find_string": 1, "replace_string": 1}
    assert (account.files, account.wrappers, account.faults) == (1, 1, [])


def test_a_file_without_a_body_is_counted_and_left_out() -> None:
    wrappers, account = read("title: //h1\nstrip: //aside")

    assert wrappers == []
    assert (account.files, account.without_body, account.wrappers) == (1, 1, 0)


def test_a_fault_is_told_and_the_rest_of_the_file_serves() -> None:
    (wrapper,), account = read("body: //p[\nbody: //article\nstrip: //*\nstrip: //a/@href\ntitle:")

    assert wrapper == Wrapper(site="example.com", body=(xpath("//article"),), priority=PRIORITY)
    assert [str(fault).split(", got")[0] for fault in account.faults] == [
        "rules/example.com.txt: line 1, body: expected an XPath expression",
        "rules/example.com.txt: line 3, strip: expected a selector that leaves something out",
        "rules/example.com.txt: line 4, strip: expected a selector of elements",
        "rules/example.com.txt: line 5, title: expected an XPath expression",
    ]


@pytest.mark.parametrize("text", ["", "\0\0", "body", ": x", "body: //p\r\nstrip: //a\r\n"])
def test_any_text_is_read(text: str) -> None:
    _, account = read(text)

    assert account.files == 1


def test_a_name_that_is_no_host_is_a_fault() -> None:
    wrappers, account = read("body: //p", "notes on rules.txt")

    assert wrappers == []
    assert "expected a host" in str(account.faults[0])


@pytest.mark.parametrize(
    ("file", "site"),
    [
        ("example.com.txt", "example.com"),
        ("a/b.zip/.example.com.txt", "*.example.com"),
        ("C:\\rules\\news.example.com.txt", "news.example.com"),
    ],
)
def test_the_site_is_the_name_of_the_file(file: str, site: str) -> None:
    assert site_of(file) == site


def test_a_config_labels_a_page() -> None:
    (wrapper,), _ = read(CONFIG)
    page = (
        "<h1>Late trains</h1><p class=by>A. Writer</p><p class=on>Published on 2 May 2024</p>"
        "<article>The train was late. <div class='x share bar'>Tell others</div>It left "
        "<i id=promo-2>now!</i> at nine.<aside>More</aside></article>"
    )

    found = label(wrapper, page)

    assert found.text == "The train was late.\n\nIt left at nine."
    assert found.title == "Late trains"
    assert found.authors == ("A. Writer",)
    assert found.published == "2 May 2024"
