"""The sandbox: a process gives up everything but its own work, by Linux's own means.

The theory of operation stands in ``confinement``. Each layer is tried before anything relies on it: ``attempts`` does
what the layer forbids, and ``protection`` says which layers withstood.

privileges   root, capabilities and namespaces
landlock     which files can still be reached, and which every process needs
bubblewrap   the same where the kernel has no Landlock
program      another program than Python in bubblewrap, as the kernel of R
programattempts  what such a program tries to reach
syscalls     which system calls are still answered
attempts     attempts to break each layer
protection   which layers hold on this machine, and what would fix the others
confinement  a fork in the sandbox: its steps, in order, and its limits

Public, for plug-ins: confinement, protection.
"""
