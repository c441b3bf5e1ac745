# One target per step of the flow. `make` prints them.

PYTHON ?= python3
BIN := .venv/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
COMMA := ,
# The tests start hundreds of processes, and each would compile the package anew where none may keep what it compiled.
PYTEST := env -u PYTHONDONTWRITEBYTECODE $(BIN)/pytest
# With --quiet pip does not name what conflicts. What it says is kept, and its end shown where it fails.
PLUGINS := audit term scale watch gradescope lti otter r ml diagnosis
INSTALL = PIP_CONSTRAINT=constraints.txt $(PIP) install --editable '$(1)' $(2) >.venv/pip.log 2>&1 \
	  || { tail -n 20 .venv/pip.log; echo; echo "pip could not install what Viva needs. All it said is in .venv/pip.log."; exit 1; }
PORT ?= 8888
N ?= 60
# JupyterLab's own place for defaults: nobody is asked about news. Users can still turn them on.
NO_NEWS := .venv/share/jupyter/lab/settings/overrides.json
# The button of the check in JupyterLab. An editable install puts no data files into the environment.
BUTTON := share/jupyter/labextensions/nbviva-check

.DEFAULT_GOAL := help
.PHONY: help setup ml demo audit release class grade feedback report export formgrader doctor docs quick test faults proofs thorough cluster-proofs compat parity tape wheel screenshots bench soak bench-scale lint clean-demo clean

help:  ## print this list
	@echo "Usage: make TARGET"
	@echo
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | awk -F'|' '{ printf "%-18s%s\n", $$1, $$2 }'

setup: .venv/.complete  ## create .venv with everything (the other targets do it when needed)

.venv/.complete: pyproject.toml constraints.txt $(PLUGINS:%=plugins/%/pyproject.toml)
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
	  || { echo "Viva needs Python 3.11 or newer, but '$(PYTHON)' is older. Name another: make setup PYTHON=python3.12"; exit 1; }
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null \
	  || { echo "This Python cannot make virtual environments. Install that part of it: sudo apt-get install python3-venv"; exit 1; }
	@echo "Setting up .venv; this takes two to seven minutes the first time."
	@$(PYTHON) -m venv .venv
	@$(call INSTALL,.[test],$(PLUGINS:%=--editable plugins/%))
	@mkdir -p .venv/$(dir $(BUTTON)) && ln -sfn "$(CURDIR)/student/$(BUTTON)" .venv/$(BUTTON)
	@touch $@

# The first half of the course shows everything in half a minute; `make demo A=` runs all ten assignments.
demo: A = ps1_general_attention ps2_self_attention ps3_scaled_attention ps4_multihead ps5_sentence
demo: setup  ## run the whole flow on a demo class: release, submit, grade, feedback, export, report (A=ASSIGNMENTS)
	@$(BIN)/viva demo --flow $(A)
	@echo
	@echo "submitted/   the demo class's submissions     autograded/   the same, graded"
	@echo "feedback/    a page for each student            grades.csv    every score"
	@echo "results.jsonl the result of every check          report/      a page about the class: report/index.html"
	@echo "gradebook.db the gradebook; written answers wait for a grader in it: make formgrader"

audit: setup  ## test every assignment with known answers and mutants (A=ASSIGNMENTS; some minutes each on two cores)
	@$(BIN)/viva audit $(A)

release: setup  ## compile assignments that pass their audit into release/, and enter them into the gradebook
	@$(BIN)/viva release

class: setup  ## write the demo class into submitted/
	@$(BIN)/viva demo

grade: setup  ## grade submissions that are new or changed
	@$(BIN)/viva grade

feedback: setup  ## write a page for each graded submission
	@$(BIN)/viva feedback

report: setup  ## write report/index.html: scores, checks, open grading work, integrity, similar answers
	@$(BIN)/viva report

export: setup  ## write grades.csv and print the class as a table
	@$(BIN)/viva export

formgrader: setup $(NO_NEWS)  ## open nbgrader's formgrader on this course; JupyterLab is at /lab of the same server
	@PATH="$(CURDIR)/$(BIN):$$PATH" $(BIN)/jupyter lab --port=$(PORT) --ServerApp.root_dir="$(CURDIR)" \
	  --LabApp.default_url=/formgrader $(if $(filter 0,$(shell id -u)),--allow-root) $(OPTIONS)

$(NO_NEWS): | setup
	@mkdir -p $(@D) && echo '{"@jupyterlab/apputils-extension:notification": {"fetchNews": "false"}}' >$@ || true

docs: .venv/.docs  ## build the documentation site into site/; FAST=1 does not grade the wrong answers that it shows
	@echo "Building the site."
	@$(BIN)/sphinx-build --fail-on-warning --keep-going --quiet docs site && echo "The site is in site/index.html."

.venv/.docs: .venv/.complete
	@$(call INSTALL,.[test$(COMMA)docs$(COMMA)publish])
	@touch $@

wheel: setup  ## build the wheels in dist/: nbviva and its plug-ins, no course, and nbviva_check, the check alone
	@rm -rf build dist student/build plugins/*/build && for what in . $(PLUGINS:%=./plugins/%) ./student; do \
	  $(PIP) --quiet wheel --no-deps --no-build-isolation --wheel-dir=dist $$what || exit 1; done
	@ls dist/*.whl

doctor: setup  ## list what this machine lacks
	@$(BIN)/viva doctor --run-config

# Three processes on two processors: the tests often wait.
WORKERS = $$(( ($$(nproc) * 3 + 1) / 2 ))
ONE = $(if $(P),plugins/$(P))
quick: setup  ## run the tests that start no process: the first ones after a change (P=term for those of one plug-in)
	@$(PYTEST) $(ONE) -m quick --durations=10 -n $$(nproc)

test: setup  ## run the quick tests, and one path of each command through a course (P=term for those of one plug-in)
	@$(PYTEST) $(ONE) -m 'quick or path' --durations=10 -n $(WORKERS)

# PART=0 to 9 adds a tenth of the thorough tests; CI takes another tenth each time.
proofs: setup  ## run the tests that `make test` leaves out (P=term for those of one plug-in; PART=3 adds a part of `thorough`)
	@VIVA_PART=$(PART) $(PYTEST) $(ONE) -m 'not quick and not path and not cluster and (part or not thorough)' \
	  --durations=10 -n $(WORKERS)

thorough: setup  ## run the tests that the proofs leave out: more rows of the same kind (PART=3 for a tenth)
	@VIVA_PART=$(PART) $(PYTEST) -m 'thorough and not cluster$(if $(PART), and part)' -n $(WORKERS)

cluster-proofs: setup  ## kill, freeze and add workers of real clusters, longer than in the proofs
	@$(PYTEST) -m 'slow and cluster' -n 0

ML_PACKAGES := torch torchvision scikit-learn tensorflow-cpu
ml: .venv-ml/.complete  ## test with PyTorch and TensorFlow, and audit examples/pytorch, in .venv-ml (9 GB, about half an hour)
	@.venv-ml/bin/python -m pytest plugins/ml -m 'not thorough' -n $$(nproc)
	@cd examples/pytorch && PATH="$(CURDIR)/.venv-ml/bin:$$PATH" viva audit

.venv-ml/.complete: pyproject.toml constraints.txt constraints-ml.txt $(PLUGINS:%=plugins/%/pyproject.toml)
	@echo "Setting up .venv-ml; it takes 9 GB, and some minutes the first time."
	@$(PYTHON) -m venv .venv-ml
	@PIP_CONSTRAINT="constraints.txt constraints-ml.txt" .venv-ml/bin/python -m pip --disable-pip-version-check install \
	  --editable '.[test]' $(PLUGINS:%=--editable plugins/%) $(ML_PACKAGES) >.venv-ml/pip.log 2>&1 \
	  || { tail -n 20 .venv-ml/pip.log; echo; echo "pip could not install the libraries. All it said is in .venv-ml/pip.log."; exit 1; }
	@touch $@

faults: setup  ## kill, stop and crowd the grader, more often than in the tests (about ten minutes)
	@VIVA_FAULTS=1 $(PYTEST) -m '' -n 0 --timeout=1800 -q tests/test_faults.py

compat: .venv/.compat  ## run nbgrader's own tests of autograding against Viva's engine (about two minutes)
	@$(BIN)/python -m pytest -c /dev/null --rootdir=. -p tests.compat.plugin -p no:cacheprovider -n auto -q \
	  --no-header --show-capture=no -W ignore --pyargs nbgrader.tests.apps.test_nbgrader_autograde

.venv/.compat: .venv/.complete
	@$(call INSTALL,.[test$(COMMA)compat])
	@touch $@

parity: setup  ## compare Viva's scores with stock nbgrader's, cell by cell (some minutes; A=ASSIGNMENT for one)
	@$(BIN)/python -m bench.parity $(A)

tape: setup  ## grade all known answers and 400 damaged notebooks, and list changed verdicts (OLD=, FOREIGN=, LOAD=4, ACCEPT=1)
	@$(BIN)/python -m bench.tape $(if $(OLD),--old=$(OLD)) $(if $(FOREIGN),--foreign=$(FOREIGN)) $(if $(LOAD),--load=$(LOAD)) $(if $(ACCEPT),--accept)

screenshots: setup  ## take the README's picture of the demo class, after `make demo` (needs chromium)
	@$(BIN)/python docs/screenshots.py

bench: setup  ## compare the time of `viva grade` with stock nbgrader and the floor (N=60 submissions)
	@$(BIN)/python -m bench.throughput --submissions=$(N)

soak: SUBMISSIONS = $(if $(filter file,$(origin N)),2000,$(N))
soak: setup  ## grade N=2000 submissions, damaged and attacked at random, and compare with the known verdicts (SEED=1)
	@$(BIN)/python -m bench.soak --submissions=$(SUBMISSIONS) --seed=$(or $(SEED),1)

bench-scale: SUBMISSIONS = $(if $(filter file,$(origin N)),10000,$(N))
bench-scale: setup  ## grade a term of N=10000 submissions in ten waves, and report on it (EXAM=1: one assignment, one batch)
	@$(BIN)/python -m bench.scale --submissions=$(SUBMISSIONS) --seed=$(or $(SEED),1) \
	  $(if $(EXAM),--term=exam) $(if $(KEEP),--keep=$(KEEP))

lint: setup  ## check style, formatting, types, and that every package uses only those below it
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/lint-imports --no-cache --no-logo
	@$(BIN)/mypy
	@$(BIN)/python -m bench.names

clean-demo: setup  ## remove the demo class and its files; refused if the course has other students
	@$(BIN)/viva demo --remove

clean:  ## remove files that can be made again; keep submissions, gradebook and regrade log
	@rm -rf feedback report solutions grades.csv results.jsonl submissions.json questions.csv .open .rehearsals
	@find autograded -mindepth 1 -maxdepth 1 -not -name .gitignore -exec rm -rf {} +
