"""PyTorch."""

CODECS: tuple = ()
