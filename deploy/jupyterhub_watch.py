"""Grades a course's submissions as they arrive, as a service of JupyterHub (docs/watch.md).

In jupyterhub_config.py, below c.JupyterHub.services:

    load_subconfig("/opt/viva/deploy/jupyterhub_watch.py")

Change account and folders. The hub starts it again when it ends; it has no page, and needs no rights in the hub.
"""

c = get_config()  # noqa: F821  (traitlets provides it)

c.JupyterHub.services.append(
    {
        "name": "viva-watch",
        "user": "grader-attention",
        "cwd": "/home/grader-attention/attention",
        "command": ["/opt/viva/bin/viva", "watch"],
    }
)
