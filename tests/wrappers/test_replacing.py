"""A rule in a file is replaced by another one, and the rest of the file stays as it is."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scrapy_mss.wrappers import SamplePage, Wrapper, WrapperError, css, load_wrappers
from scrapy_mss.wrappers.schema import documents, file_of, replaced

SITES = ("a.example", "b.example", "c.example")
NEW = Wrapper(
    site="b.example",
    around=(css("#story"),),
    exclude=(css(".box"), css(".share")),
    tests=(SamplePage("https://b.example/1", ("what it: says",)),),
)
# Files with three rules, of which the second is replaced, with what is old in it.
FORMS = {
    "documents": """# one
site: a.example
body: .a # x
---
# two
site: b.example
body:
- .b  # old
- .c

# three
---
site: c.example
body: .d
""",
    "list": """site: b.example
wrappers:
# one
- name: x
  body: .a # x
  url: /x/*
# two
-   body: .b  # old
    exclude: [.e, .f]
# three
- body: .d
  url: /y/*
""",
    "flow": """wrappers: # one
  [{site: a.example, body: .a}, {site: b.example, body: .b}, # two
   {site: c.example, body: .d}] # three
""",
    "literal": """site: a.example
body: .a # one
--- # two
site: b.example
body: |-
  .b
# three
---
site: c.example
body: .d
""",
}


def rules_in(text: str) -> list[Wrapper]:
    return [rule for each in documents(text.encode()) for rule in each.wrappers("a.yaml")]


@pytest.mark.parametrize("form", FORMS)
def test_other_rules_stay_with_their_comments(form: str) -> None:
    rules = rules_in(FORMS[form])
    after = replaced(FORMS[form], rules[1], NEW)

    assert rules_in(after) == [rules[0], NEW, rules[2]]
    before_it, after_it = FORMS[form].split(".b")[0], FORMS[form].split("three")[1]
    assert after.startswith(before_it.rpartition("site:" if form != "list" else "- ")[0])
    assert after.endswith(f"three{after_it}")
    assert all(f"# {word}" in after for word in ("one", "two", "three"))
    assert "# old" not in after


@pytest.mark.parametrize("form", FORMS)
def test_lines_end_as_in_the_file(form: str) -> None:
    old = rules_in(FORMS[form])[1]

    expected = replaced(FORMS[form], old, NEW).replace("\n", "\r\n")
    assert replaced(FORMS[form].replace("\n", "\r\n"), old, NEW) == expected


def test_a_file_that_has_the_rule_no_more_is_an_error() -> None:
    with pytest.raises(WrapperError, match="changed meanwhile"):
        replaced(FORMS["list"], rules_in(FORMS["documents"])[0], NEW)


def test_the_only_rule_is_replaced_with_its_comments(tmp_path: Path) -> None:
    path = tmp_path / "a: $ b.yaml"
    path.write_text("# old\nsite: b.example\nbody: .b\n")
    (old,) = load_wrappers(path)

    assert file_of(old) == path
    assert replaced(path.read_text(), old, NEW, "# new\n") == "# new\n"


@given(st.lists(st.sampled_from(SITES), min_size=2, max_size=5), st.data())
def test_whatever_the_rules_one_of_them_is_replaced(sites: list[str], data: st.DataObject) -> None:
    text = "---\n".join(f"site: {site}\nbody: .x{n}\n" for n, site in enumerate(sites))
    rules = rules_in(text)
    at = data.draw(st.integers(0, len(sites) - 1))

    expected = [*rules[:at], NEW, *rules[at + 1 :]]
    assert rules_in(replaced(text, rules[at], NEW)) == expected


def test_what_cannot_be_replaced_is_an_error() -> None:
    """A rule in braces, to which a mapping of its own style cannot be given its site."""
    text = "site: b.example\nwrappers: [{body: .b}, {body: .c, url: /c/*}]\n"
    other = Wrapper(site="c.example", body=(css(".d"),))

    with pytest.raises(WrapperError, match="replaced in its place"):
        replaced(text, rules_in(text)[0], other)
