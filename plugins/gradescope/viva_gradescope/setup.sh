#!/usr/bin/env bash
# Gradescope runs this once, as root, while it builds the image: Python's packages, then what grading needs to know.
set -euo pipefail

source="${VIVA_AUTOGRADER:-/autograder}/source"
home="${VIVA_HOME:-/opt/viva}" # every user has to reach it; the candidate is one of its own

refuse() {
    echo "viva: $1" >&2
    exit 1
}

chmod -R go= "$source" # solutions and hidden tests

python=
for name in python3 python3.14 python3.13 python3.12 python3.11; do
    if command -v "$name" >/dev/null && "$name" -c 'import sys; sys.exit(sys.version_info < (3, 11))'; then
        python="$name"
        break
    fi
done
[ -n "$python" ] || refuse "this image has no Python 3.11 or newer. Choose another base image in the assignment's \
autograder settings, Ubuntu 24.04 for example, and upload the zip again."

if ! "$python" -c 'import ensurepip' 2>/dev/null; then
    { apt-get update && DEBIAN_FRONTEND=noninteractive apt-get install -y "$python-venv"; } ||
        refuse "$python cannot make a virtual environment, and $python-venv could not be installed."
fi

umask 022
"$python" -m venv "$home"
"$home/bin/python" -m pip install --quiet --no-cache-dir --disable-pip-version-check \
    --constraint "$source/constraints.txt" --requirement "$source/requirements.txt" "$source"/nbviva*.whl ||
    refuse "the packages could not be installed. constraints.txt in the zip names the versions of the machine that made \
it; if $("$python" --version) is too new or too old for one of them, make the zip with that Python."

"$home/bin/python" -I -m viva_gradescope.container prepare
