"""The site of a host."""

from __future__ import annotations

import gc
import os
import subprocess
import sys
from pathlib import Path

import pytest
import tldextract
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.pages.addresses import public_suffixes, site_of

SITES = [
    ("example.com", "example.com"),
    ("news.example.com", "example.com"),
    ("bbc.co.uk", "bbc.co.uk"),
    ("news.bbc.co.uk", "bbc.co.uk"),
    ("https://www.bbc.co.uk/news?from=https://other.example/", "bbc.co.uk"),
    ("//cdn.example.com/a.png", "example.com"),
    ("HTTP://News.Example.COM.:8080/a", "example.com"),
    ("user:secret@example.com:80", "example.com"),
    ("localhost", "localhost"),
    ("http://localhost:6800/a", "localhost"),
    ("127.0.0.1", "127.0.0.1"),
    ("http://192.168.1.20:8000/", "192.168.1.20"),
    ("http://[2001:db8::1]:8000/", "2001:db8::1"),
    ("xn--mnchen-3ya.de", "xn--mnchen-3ya.de"),
    ("https://www.münchen.de/a", "xn--mnchen-3ya.de"),
    ("новости.пример.рф", "xn--e1afmkfd.xn--p1ai"),
    ("co.uk", "co.uk"),
    ("www.gov.uk", "gov.uk"),
    ("intranet.corp", "intranet.corp"),
]
RULES = sorted(public_suffixes().rules)
# Hosts at and below rules, wildcards and exceptions, and a little wide of them.
LABELS = st.lists(
    st.sampled_from(["a", "www", "city", "com", "kobe", "uk", "xn--p1ai"]), max_size=3
)
HOSTS = st.builds(
    lambda labels, rule: ".".join((*labels, rule.removeprefix("*.").removeprefix("!"))),
    LABELS,
    st.sampled_from(RULES),
)
EXTRACTOR = tldextract.TLDExtract(suffix_list_urls=(), cache_dir=None)
NO_HOSTS = ["", ".", "http://", "http://[", "https:///a", "/news/a"]


@pytest.mark.parametrize(("host_or_url", "site"), SITES)
def test_the_site_is_the_registrable_domain_or_the_host(host_or_url: str, site: str) -> None:
    assert site_of(host_or_url) == site


@pytest.mark.parametrize("text", NO_HOSTS)
def test_without_a_host_there_is_no_site(text: str) -> None:
    assert site_of(text) == ""


@given(st.text())
def test_every_text_has_an_answer_that_is_its_own_site(text: str) -> None:
    site = site_of(text)

    assert site == site_of(f"//{site}") or ":" in site  # IPv6 addresses need brackets in URLs


@given(HOSTS)
def test_the_site_is_what_tldextract_takes_for_the_registered_domain(host: str) -> None:
    plain = host.encode("idna").decode().removeprefix("www.")
    parts = EXTRACTOR(plain)
    registered = f"{parts.domain}.{parts.suffix}" if parts.domain and parts.suffix else plain

    assert site_of(host) == registered


@pytest.mark.parametrize(
    ("host", "site"),
    [
        ("a.b.kobe.jp", "a.b.kobe.jp"),
        ("b.kobe.jp", "b.kobe.jp"),
        ("a.city.kobe.jp", "city.kobe.jp"),
        ("x.y.z.a.b.kobe.jp", "a.b.kobe.jp"),
    ],
)
def test_rules_with_a_wildcard_have_exceptions(host: str, site: str) -> None:
    assert site_of(host) == site


def test_the_list_is_few_objects_for_the_garbage_collector() -> None:
    public_suffixes.cache_clear()
    gc.collect()
    before = len(gc.get_objects())

    public_suffixes()
    gc.collect()

    assert len(gc.get_objects()) - before < 100


# In a process of its own, because what is cached and where is decided when tldextract is imported.
OFFLINE = """
import socket
calls = []
socket.socket.connect = socket.getaddrinfo = lambda *address, **_: calls.append(address)
from scrapy_mss.pages.addresses import site_of
print(site_of("a.b.co.jp"), calls)
"""


def test_neither_the_network_nor_a_cache_on_disk_is_used(tmp_path: Path) -> None:
    environment = {**os.environ, "TLDEXTRACT_CACHE": str(tmp_path)}

    done = subprocess.run(
        [sys.executable, "-c", OFFLINE], env=environment, capture_output=True, text=True, check=True
    )

    assert done.stdout == "b.co.jp []\n"
    assert list(tmp_path.iterdir()) == []
