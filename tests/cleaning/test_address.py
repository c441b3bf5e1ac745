from __future__ import annotations

import pytest

from tests.hostile import png
from viva.cleaning.address import may_link, may_show


@pytest.mark.parametrize(
    "url",
    """https://numpy.org http://en.wikipedia.org/wiki/Softmax_(function)?a=1&b=%20#top #part mailto:ada@example.org
    https://münchen.example/x https://example.org:8443/ https://example.org.""".split(),
)
def test_a_link_to_another_host_or_a_place_on_the_page_may_be_clicked(url):
    assert may_link(url)


HERE = r"""javascript:alert(1) JaVaScRiPt:1 data:text/html,x vbscript:x file:///etc/passwd ftp://a.org blob:x
//localhost/x / page.html ../x /formgrader/gradebook https://a.org/formgrader https://a.org/%66ormgrader
http://localhost:8888 http://127.0.0.1 http://2130706433 http://0x7f.1 http://[::1]/ http://a.localhost http://hub
http://a.org@localhost https:localhost https:/localhost https:\\localhost http://127%2e0.0.1
mailto:a@b@c files/javascript:alert(1)""".split()
WIDE = "".join(chr(ord(letter) + 0xFEE0) for letter in "localhost")
ODD = [
    "https://a.org/\nx",
    "https://a.org/\u202ex",
    "java\tscript:1",
    "",
    " ",
    f"http://{WIDE}",
    "http://localhost\u3002",
]


@pytest.mark.parametrize("url", [*HERE, *ODD])
def test_a_link_to_a_script_to_this_machine_or_to_a_file_that_was_handed_in_may_not(url):
    assert not may_link(url)


def test_a_picture_may_be_in_its_address_or_beside_the_notebook_and_nowhere_else():
    assert may_show(f"data:image/png;base64,{png(9, 9)}")
    assert may_show("figure 1.png")
    assert may_show("pictures/a%20b.JPEG")
    others = [
        "https://a.org/p.png",
        "//a.org/p.png",
        "/p.png",
        "../p.png",
        "p.svg",
        "p.html",
        "x:p.png",
        "a/..%2fp.png",
    ]
    assert [url for url in [*others, "data:text/html,x", "data:image/svg+xml;base64,AAAA"] if may_show(url)] == []
