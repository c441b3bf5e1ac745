"""An assignment in Gradescope's container: the zip that is uploaded there, and what runs in it.

Theory of operation. A bundle holds the package, the exact versions of what it needs, the instructor's notebooks and the
assignment's material. Once, while the image is built, the solutions are rehearsed. Then each container grades one
submission through the pipeline, as a batch does, and is thrown away.

packagecommand  viva package
bundle         the zip: made here, read there
reach          what a student's process can reach in a container, tried by one
container      what runs there: prepare, grade
resultsjson    the result of a submission, as results.json
trial          a bundle tried here, before it is uploaded
setup.sh, run_autograder.sh   what Gradescope calls
"""
