"""Plays a terminal: runs a program on a pseudo-terminal, types when it is asked, and prints what came as JSON.

Standard input: {"argv", "env", "cwd", "columns", "rows", "deadline", "steps": [{"expect", "send", "hidden"}]}.
A step waits until the plain text after the last step's match matches `expect`, and then types `send`. With `hidden` it
waits until the program has switched the echo off as well, so that nothing typed can be seen. After the last step the
program is waited for. Standard output: {"code", "text", "failed"}: the exit code, all that was to be seen without control
sequences, and the `expect` of a step that never came.
"""

import fcntl
import json
import os
import pty
import re
import select
import signal
import struct
import sys
import termios
import time

# Control sequences, titles, character sets, and other short escapes.
ESCAPES = re.compile(
    r"\x1b\[[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b[()][0-9AB]|\x1b[=>78DEHMNOZc]"
)
# A program asks where the cursor is; a terminal answers.
CURSOR_QUESTION = b"\x1b[6n"
CURSOR_ANSWER = b"\x1b[1;1R"


def start(task):
    pid, master = pty.fork()
    if pid == 0:
        fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack("HHHH", task["rows"], task["columns"], 0, 0))
        os.chdir(task["cwd"])
        os.execvpe(task["argv"][0], task["argv"], task["env"])
    return pid, master


def plain(raw):
    return ESCAPES.sub("", raw.decode("utf-8", "replace"))


def echoes(master):
    return bool(termios.tcgetattr(master)[3] & termios.ECHO)


def play(task):
    pid, master = start(task)
    steps = list(task["steps"])
    deadline = time.monotonic() + task["deadline"]
    raw = b""
    answered = 0
    seen = 0
    late = False
    while True:
        if time.monotonic() > deadline:
            late = True
            os.kill(pid, signal.SIGKILL)
            break
        ready, _, _ = select.select([master], [], [], 0.02)
        if ready:
            try:
                part = os.read(master, 65536)
            except OSError:  # EIO: the program and its children have let go of the terminal.
                break
            raw += part
        while raw.count(CURSOR_QUESTION) > answered:
            answered += 1
            os.write(master, CURSOR_ANSWER)
        if steps:
            found = re.compile(steps[0]["expect"]).search(plain(raw), seen)
            if found and not (steps[0].get("hidden") and echoes(master)):
                seen = found.end()
                os.write(master, steps.pop(0)["send"].encode())
    _, status = os.waitpid(pid, 0)
    os.close(master)
    failed = steps[0]["expect"] if steps else "its end" if late else None
    return {"code": os.waitstatus_to_exitcode(status), "text": plain(raw), "failed": failed}


json.dump(play(json.load(sys.stdin)), sys.stdout)
