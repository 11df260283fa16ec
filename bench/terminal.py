"""Runs a program on a terminal and measures it from outside.

Standard input: {"argv", "env", "columns", "rows", "first", "ready", "key", "keys", "rest_s", "move_s", "per_s"}.
`first` and `ready` are texts to wait for. Then `key` is pressed `keys` times, each time once nothing came for a moment;
then nothing happens for `rest_s`; then `key` is pressed `per_s` times a second for `move_s`. `q` ends the program.
Standard output: {"first_ms", "ready_ms", "key_ms": [...], "rest_bytes", "move_bytes", "rss_kb"}: the times from the start
of the process and from a key to the first byte that came for it, the bytes that came, and the memory at the end.
"""

import fcntl
import json
import os
import pty
import re
import select
import struct
import sys
import termios
import time

PATIENCE = 30
QUIET = 0.12
SEQUENCE = re.compile(rb"\x1b\[[0-?]*[ -/]*[@-~]")


def main(task):
    begun = time.monotonic()
    pid, terminal = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", task["rows"], task["columns"], 0, 0))
        os.execvpe(task["argv"][0], task["argv"], task["env"])

    def read(seconds):
        """What comes within the time; returns at the first bytes."""
        ready, _, _ = select.select([terminal], [], [], max(0, seconds))
        return os.read(terminal, 1 << 20) if ready else b""

    def for_a_while(seconds):
        until = time.monotonic() + seconds
        count = 0
        while (left := until - time.monotonic()) > 0:
            count += len(read(left))
        return count

    def until(text):
        nonlocal seen
        while text.encode() not in SEQUENCE.sub(b"", seen):
            if time.monotonic() - begun > PATIENCE:
                raise SystemExit(f"The program never showed {text}: {seen[-2000:]!r}")
            seen += read(1)
        return (time.monotonic() - begun) * 1000

    seen = b""
    first = until(task["first"])
    ready = until(task["ready"])
    # The drawing library may still be on its way.
    for_a_while(2)
    times = []
    for _ in range(task["keys"]):
        while read(QUIET):
            pass
        at = time.monotonic()
        os.write(terminal, task["key"].encode())
        if read(PATIENCE):
            times.append((time.monotonic() - at) * 1000)
    for_a_while(1)
    rest = for_a_while(task["rest_s"])
    moved = 0
    for _ in range(int(task["move_s"] * task["per_s"])):
        os.write(terminal, task["key"].encode())
        moved += for_a_while(1 / task["per_s"])
    with open(f"/proc/{pid}/status", encoding="utf-8") as status:
        rss = int(re.search(r"^VmRSS:\s+(\d+) kB$", status.read(), re.M).group(1))
    os.write(terminal, b"q")
    try:
        while read(PATIENCE):
            pass
    except OSError:  # EIO: the program has let go of the terminal.
        pass
    os.waitpid(pid, 0)
    return {
        "first_ms": first,
        "ready_ms": ready,
        "key_ms": times,
        "rest_bytes": rest,
        "move_bytes": moved,
        "rss_kb": rss,
    }


json.dump(main(json.load(sys.stdin)), sys.stdout)
