"""A batch on other machines: the pure grading function over a Dask cluster. Only what is used of it is imported.

Theory of operation. The batch stays what it is, the planner and the one writer, on the machine that has the course. A
Dask task is one package; the answer is its result. It is graded by a *worker process*: a process of its own
beside the Dask worker, one for each of its threads, with fork servers in the sandbox. Dask's worker has threads and a
network, and never unpacks or runs anything of a student's. Nothing here but ``submissions`` knows what a package is:
the audit, in the package above, has a task of its own.

clusteraddress  ``--cluster=...``: which cluster, and how the way to it is protected
versions   what has to be the same here and there
scheduler  the way to a scheduler: found or started, looked at, left again
pool       the workers as they come and go, and what they do in place of this machine's
clustergraders  the graders that a command hands to a batch or an audit; Dask is loaded here
submissions  that of a batch
audittrials  that of an audit
worker     what a Dask worker keeps and does: material, worker processes, ``grade_there``
workerprocess  a grading process beside a Dask worker, as the worker sees it, and what tasks it does
workerservice  the same process from within
"""
