"""Values of machine learning libraries, which cross between the student's process and the tests'.

Each module belongs to one library, and both processes load it only where the instructor's notebook imports that library
(the door ``viva.codecs``).

jax         arrays and random keys
numbers     arrays of numbers as their bytes, which the others share
pillow      images (``PIL``)
polars      data frames and series
tensorflow  tensors, shapes, types of elements
torch       tensors, and what only stays: modules, loaders, optimizers
"""
