"""The programming language of a notebook, as its metadata say it."""

import pytest

from viva.notebook.programming import ASSERTED, kernel_name, language_of, says_language


@pytest.mark.parametrize(
    ("metadata", "language"),
    [
        ({}, "python"),
        ({"kernelspec": None}, "python"),
        ({"kernelspec": {"language": "Python", "name": "python3"}}, "python"),
        ({"kernelspec": {"name": "python3"}, "language_info": {"name": "ipython"}}, "python"),
        ({"kernelspec": {"language": "python3", "name": "python3"}}, "python"),
        ({"kernelspec": {"language": "Python 3.11"}}, "python"),
        ({"kernelspec": {"language": "python2"}}, "python2"),
        ({"kernelspec": {"language": "R", "name": "ir"}}, "R"),
        ({"kernelspec": {"name": "ir"}, "language_info": {"name": "R"}}, "R"),
    ],
)
def test_the_language_is_what_the_kernel_or_the_last_run_says_and_else_python(metadata, language):
    assert language_of(metadata) == language
    assert says_language(metadata) == (language != "python" or bool(metadata.get("kernelspec")))


def test_the_kernel_is_the_one_that_the_notebook_names():
    assert kernel_name({"kernelspec": {"name": "ir", "language": "R"}}) == "ir"
    assert kernel_name({"kernelspec": None}) == kernel_name({}) == ""


@pytest.mark.parametrize(
    ("message", "asserted"),
    [
        ("Error: f(2) == 4 is not TRUE", True),
        ("Error: f(1:3) == c(2, 4, 6) are not all TRUE", True),
        ("Error: Test failed", True),
        ("Error: `f(2)` not equal to 4.", True),
        ("AssertionError: 1 != 2", True),
        ('Error in f(2): could not find function "f"', False),
        ("Error in f(2): not done", False),
    ],
)
def test_a_wrong_answer_is_told_from_other_errors_by_what_tests_say(message, asserted):
    assert bool(ASSERTED.search(message)) is asserted
