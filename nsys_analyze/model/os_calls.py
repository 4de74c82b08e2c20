"""Which functions of the OS runtime wait: whoever is in one of them does nothing until something else happens."""

from __future__ import annotations

import re

_DECORATION = re.compile(r"^_+|(?:64|_chk|_np)$")
_WAITS = re.compile(
    r"pthread_(?:cond_(?:timed|clock)?wait|(?:timed|clock)?join|barrier_wait)"
    r"|pthread_(?:mutex_(?:timed|clock)?|rwlock_(?:timed|clock)?(?:rd|wr))lock"
    r"|sem_(?:timed|clock)?wait|sem(?:timed)?op|futex"
    r"|p?poll|p?select|epoll_p?wait2?|io_getevents|aio_suspend"
    r"|(?:clock_)?nanosleep|u?sleep|pause"
    r"|wait[34]?|wait(?:p)?id|sig(?:wait|waitinfo|timedwait|suspend)"
    r"|p?(?:read|write)(?:v2?)?|f(?:read|write|gets|puts|flush)(?:_unlocked)?|getline|getdelim"
    r"|recv(?:from|m?msg)?|send(?:to|m?msg|file)?|splice|accept4?|connect"
    r"|msgrcv|msgsnd|mq_(?:timed)?(?:receive|send)"
    r"|f(?:data)?sync|m?sync|syncfs|sync_file_range|flock|lockf"
)


def waits(function: str) -> bool:
    """Whether a function is one that waits: for a thread, a lock, a time, or for input and output.

    >>> waits("pthread_cond_wait"), waits("clock_nanosleep"), waits("pread64"), waits("pthread_cond_signal")
    (True, True, True, False)
    """
    return _WAITS.fullmatch(_DECORATION.sub("", function)) is not None
