"""What the tests that look at a page share: how Chromium is started, and questions to a page."""

from __future__ import annotations

CHROMIUM = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]

CONTRAST = """() => {
  const canvas = document.createElement('canvas').getContext('2d', {willReadFrequently: true});
  const rgba = colour => {
    canvas.clearRect(0, 0, 1, 1); canvas.fillStyle = colour; canvas.fillRect(0, 0, 1, 1);
    return canvas.getImageData(0, 0, 1, 1).data;
  };
  const light = colour => {
    const [r, g, b] = [...colour].slice(0, 3).map(v => v / 255).map(
      v => v <= 0.04045 ? v / 12.92 : ((v + 0.055) / 1.055) ** 2.4);
    return 0.2126 * r + 0.7152 * g + 0.0722 * b;
  };
  const behind = element => {
    for (let e = element; e; e = e.parentElement) {
      const found = rgba(getComputedStyle(e).backgroundColor);
      if (found[3] === 255) return found;
    }
    return rgba('white');
  };
  const poor = new Map();
  for (const element of document.querySelectorAll('body *')) {
    if (![...element.childNodes].some(n => n.nodeType === 3 && n.data.trim())) continue;
    const style = getComputedStyle(element), ink = element.closest('svg') ? style.fill : style.color;
    const [a, b] = [light(rgba(ink)), light(behind(element))].sort((x, y) => y - x);
    const ratio = (a + 0.05) / (b + 0.05);
    if (ratio < 4.5) poor.set(`${element.tagName}.${element.className}`, ratio.toFixed(2));
  }
  return [...poor];
}"""
"""The texts whose contrast to what lies behind them is below AA, with the ratio."""

CUT_OFF = """() => [...document.querySelectorAll('body *')].filter(e => {
  if (e.clientWidth < 2) return false;
  const clips = getComputedStyle(e).overflowX !== 'visible' || getComputedStyle(e).overflowY !== 'visible';
  return clips && (e.scrollWidth > e.clientWidth + 1 || e.scrollHeight > e.clientHeight + 1);
}).map(e => `${e.tagName}.${e.className}`)"""
"""The elements whose content is larger than they are, which on paper nobody can scroll."""

PAPER = 680
"""The width of A4 between margins of 15 mm, in the browser's pixels."""


def print_problems(page) -> list[str]:
    """What is wrong with a page on paper, which is light whatever the screen is."""
    page.set_viewport_size({"width": PAPER, "height": 1000})
    page.emulate_media(media="print", color_scheme="dark")
    folded = "[...document.querySelectorAll('details > :not(summary)')].filter(e => !e.getClientRects().length).length"
    return [
        *["dark"] * page.evaluate("getComputedStyle(document.body).backgroundColor != 'rgb(255, 255, 255)'"),
        *["too wide"] * page.evaluate("document.documentElement.scrollWidth > innerWidth"),
        *["folded text"] * page.evaluate(folded),
        *page.evaluate(CONTRAST),
        *page.evaluate(CUT_OFF),
    ]


def barriers(page, part: str | None = None, rules: dict[str, dict] | None = None) -> list[str]:
    """What axe-core finds wrong with a page, or a part of it, for those who do not see it or use no mouse.

    ``rules`` are more rules of axe-core, or fewer.
    """
    from axe_playwright_python.sync_playwright import Axe

    asked = {"label-content-name-mismatch": {"enabled": True}} | (rules or {})
    options = {"resultTypes": ["violations"], "rules": asked}
    violations = Axe().run(page, context=part, options=options).response["violations"]
    return [f"{found['id']}: {node['html'][:200]}" for found in violations for node in found["nodes"]]
