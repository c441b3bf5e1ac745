"""What the wall is made of, by Linux's own means:

privileges  root, capabilities and namespaces
readable    what every walled-in process may read
landlock    which files can still be reached
bubblewrap  the same where the kernel has no Landlock
syscalls    which system calls are still answered
"""
