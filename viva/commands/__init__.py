"""The commands of `viva`, by the part of the flow they belong to."""
