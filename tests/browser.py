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
