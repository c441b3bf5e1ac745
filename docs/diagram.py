"""Writes the picture of the whole decoder into ``docs/pictures/``, whole and with the part of each assignment lit.

The cells ``decoder_map_text`` and ``decoder_map`` of each notebook show it, too: a test holds them equal.

Run ``python docs/diagram.py``. The pictures have their own light ground, readable in dark mode and in print.
What is lit also has a thick edge, so it shows without colours.
"""

from __future__ import annotations

from html import escape
from itertools import pairwise
from pathlib import Path

PARTS = (
    ("tokens", "tokens", 250, 20),
    ("embedding", "embedding", 170, 80),
    ("positions", "+ positions", 330, 80),
    ("norm_1", "layer norm", 250, 160),
    ("attention", "attention (one head)", 250, 210),
    ("heads", "several heads, causal mask", 250, 260),
    ("residual_1", "+ residual", 250, 310),
    ("norm_2", "layer norm", 250, 370),
    ("feed_forward", "feed-forward layer", 250, 420),
    ("residual_2", "+ residual", 250, 470),
    ("norm", "last layer norm", 250, 550),
    ("logits", "unembedding: logits", 250, 600),
    ("loss", "softmax, cross-entropy", 250, 650),
    ("write", "draw the next token", 545, 600),
    ("cache", "key-value cache", 545, 260),
    ("backward", "gradient of the block", 545, 390),
    ("all_backward", "gradient of the rest", 545, 550),
    ("step", "step: Adam", 545, 650),
)
"""Each part of the decoder: its name, its label, and the middle of its box."""
BLOCK = {"norm_1", "attention", "heads", "residual_1", "norm_2", "feed_forward", "residual_2"}
LIT = {
    "ps1": {"attention"},
    "ps2": {"attention"},
    "ps3": {"attention"},
    "ps4": {"attention", "heads"},
    "ps5": {"embedding", "positions", "attention"},
    "ps6": BLOCK | {"positions"},
    "ps7": {"tokens", "embedding", "positions", "norm", "logits", "loss", "write", "cache"},
    "ps8": {"logits", "loss"},
    "ps9": {"backward"},
    "ps10": {"all_backward", "step"},
}
"""What each assignment builds."""
DOWN = (
    "tokens",
    "embedding",
    "norm_1",
    "attention",
    "heads",
    "residual_1",
    "norm_2",
    "feed_forward",
    "residual_2",
    "norm",
    "logits",
    "loss",
)
LINKS = (("logits", "write"), ("heads", "cache"), ("loss", "step"), ("all_backward", "backward"))
WIDE, HIGH = 240, 34
PLACES = {name: (x, y + HIGH / 2) for name, _, x, y in PARTS}


def picture(assignment: str | None = None) -> str:
    """The decoder as SVG; the parts that the assignment builds are lit."""
    lit = LIT.get(assignment or "", set())
    labels = [label for name, label, _, _ in PARTS if name in lit]
    about = (
        "A decoder from tokens at the top to the loss at the bottom, one box for each part, with the block in a frame."
    )
    about += f" Lit, built in {assignment}: {', '.join(labels)}." if assignment else ""
    lines = [
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 680 710" width="510" role="img" '
        f'aria-label="{escape(about)}" font-family="sans-serif" font-size="14">',
        f"<title>{escape(about)}</title>",
        '<rect width="680" height="710" rx="8" fill="#fbfbf8"/>',
        '<rect x="115" y="148" width="270" height="370" rx="8" fill="none" stroke="#777" stroke-dasharray="5 4"/>',
        '<text x="107" y="335" fill="#444" text-anchor="end">block</text>',
    ]
    for one, other in pairwise(DOWN):
        lines.append(_line(PLACES[one], PLACES[other]))
    lines += [_line(PLACES["tokens"], PLACES["positions"]), _line(PLACES["positions"], PLACES["norm_1"])]
    lines += [_line(PLACES[one], PLACES[other]) for one, other in LINKS]
    for name, label, x, y in PARTS:
        width = 150 if name in ("embedding", "positions") else WIDE
        fill, edge, thick, weight = (
            ("#ffd766", "#7a4b00", 3, "bold") if name in lit else ("#ffffff", "#777777", 1, "normal")
        )
        lines.append(
            f'<rect x="{x - width / 2:g}" y="{y}" width="{width}" height="{HIGH}" rx="5" fill="{fill}" '
            f'stroke="{edge}" stroke-width="{thick}"/>'
        )
        lines.append(
            f'<text x="{x}" y="{y + 22}" fill="#111" text-anchor="middle" font-weight="{weight}">{escape(label)}</text>'
        )
    return "\n".join([*lines, "</svg>"]) + "\n"


def _line(start: tuple[float, float], end: tuple[float, float]) -> str:
    """A line between the middles of two boxes, behind them."""
    (x, y), (across, down) = start, end
    return f'<line x1="{x:g}" y1="{y:g}" x2="{across:g}" y2="{down:g}" stroke="#777" stroke-width="1.5"/>'


def pictures() -> dict[str, str]:
    """All pictures, by the name of the file."""
    return {"decoder.svg": picture(), **{f"decoder-{name}.svg": picture(name) for name in LIT}}


def cells(assignment: str) -> tuple[str, str]:
    """The text and the code with which a notebook shows its picture: no file and no attachment is needed."""
    labels = [label.removeprefix("+ ") for name, label, _, _ in PARTS if name in LIT[assignment]]
    text = (
        "**Where we are.** The next cell draws the whole decoder, from the tokens at the top "
        "to the loss at the bottom.\n"
        f"Lit, with a thick edge, is what this notebook is about: {', '.join(dict.fromkeys(labels))}."
    )
    return text, f'from IPython.display import SVG\n\nSVG("""{picture(assignment).rstrip()}""")'


if __name__ == "__main__":
    for name, text in pictures().items():
        Path(__file__).with_name("pictures").joinpath(name).write_text(text, encoding="utf-8")
