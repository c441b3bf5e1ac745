"""The check for students: the visible checks of a notebook, where the student works. The core uses nothing of it.

checkcommand   `viva check`
notebook       the check inside a notebook: %viva_check
selfcheck      a notebook is opened, run and reported
packages       which packages a student may be told to install
kernel         the portable check: an ordinary Jupyter kernel in place of candidate and examiner

`viva release` writes what the check needs into each notebook, and the core reads it again (``submission/studentcopy``).
"""
