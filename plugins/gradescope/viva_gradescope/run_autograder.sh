#!/bin/sh
# Gradescope runs this as root for each submission; it writes results/results.json.
exec "${VIVA_HOME:-/opt/viva}/bin/python" -I -m viva_gradescope.container grade
