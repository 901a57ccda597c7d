"""Runs one command and ends all of its processes when it ends, when it is stopped, or when the operator dies.

File descriptors: 3 is read from the operator, one JSON object per line, and ends when the operator has exited; 4 is written
to the operator in the same form; 5 is passed on to the command, which writes its events to it. The first line is the
request {"argv": [...], "remove": [...]}: the paths are removed if the operator dies. The line {"stop": SECONDS} ends the
processes with SIGTERM and, after that time, with SIGKILL.

On Linux this process is the reaper of its descendants, so that processes which have left their session and lost their
parents are still found.
"""

import json
import os
import select
import shutil
import signal
import subprocess
import sys
import time

CONTROL, STATUS, EVENTS = 3, 4, 5

# Processes that the command leaves behind are killed after this time in seconds.
LEFTOVER_GRACE = 2

PR_SET_PDEATHSIG = 1
PR_SET_NAME = 15
PR_SET_CHILD_SUBREAPER = 36


def prctl(option, value):
    """Calls prctl, which exists on Linux only."""
    if not sys.platform.startswith("linux"):
        return
    import ctypes

    if ctypes.CDLL(None, use_errno=True).prctl(option, value, 0, 0, 0) != 0:
        raise OSError(ctypes.get_errno(), "prctl(%d)" % option)


def set_name(name):
    """Sets the name that ps and top show for this process."""
    prctl(PR_SET_NAME, name.encode()[:15])


def parents():
    """Returns the parent of each process that is not a zombie."""
    result = {}
    if os.path.exists("/proc/self/stat"):
        for name in os.listdir("/proc"):
            if not name.isdigit():
                continue
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    # The name of the program is in parentheses and may contain any character.
                    state, parent = file.read().rpartition(b")")[2].split()[:2]
            except OSError:
                continue
            if state not in (b"Z", b"X"):
                result[int(name)] = int(parent)
        return result
    output = subprocess.run(["ps", "-A", "-o", "pid=,ppid=,stat="], stdout=subprocess.PIPE).stdout
    for line in output.splitlines():
        pid, parent, state = line.split()[:3]
        if not state.startswith(b"Z"):
            result[int(pid)] = int(parent)
    return result


def descendants():
    """Returns the processes that this one and its children have started, parents first."""
    children = {}
    for pid, parent in parents().items():
        children.setdefault(parent, []).append(pid)
    found = []
    pending = [os.getpid()]
    while pending:
        for pid in children.get(pending.pop(), []):
            found.append(pid)
            pending.append(pid)
    return found


def signal_all(number):
    """Sends a signal to all descendants."""
    for pid in descendants():
        try:
            os.kill(pid, number)
        except OSError:
            pass


def detail(pid, name, column):
    """Returns a property of a process, or an empty text if it has ended."""
    if not os.path.exists("/proc/self/stat"):
        output = subprocess.run(["ps", "-p", str(pid), "-o", column + "="], stdout=subprocess.PIPE).stdout
        return output.decode(errors="replace").strip()
    try:
        with open("/proc/%d/%s" % (pid, name), errors="replace") as file:
            return file.read().replace("\0", " ").strip()
    except OSError:
        return ""


def names(pids):
    """Returns the names of processes. Those that have ended, and connections that ssh keeps for other tasks, are left out."""
    found = set()
    for pid in pids:
        name, command = detail(pid, "comm", "comm"), detail(pid, "cmdline", "args")
        if name and not (command.startswith("ssh: ") and command.endswith("[mux]")):
            found.add(os.path.basename(name))
    return sorted(found)


def remove(paths):
    for path in paths:
        if os.path.isdir(path) and not os.path.islink(path):
            shutil.rmtree(path, ignore_errors=True)
        else:
            try:
                os.unlink(path)
            except OSError:
                pass


class Supervisor:
    def __init__(self):
        self.input = b""
        self.main = 0
        self.code = None
        self.kill_at = None
        self.stopped = False
        self.leftovers = []

    def read_line(self):
        """Returns a line of the operator, or None at the end of the input."""
        while b"\n" not in self.input:
            data = os.read(CONTROL, 65536)
            if not data:
                return None
            self.input += data
        line, _, self.input = self.input.partition(b"\n")
        return json.loads(line.decode())

    def report(self, **message):
        try:
            os.write(STATUS, json.dumps(message).encode() + b"\n")
        except OSError:
            pass  # The operator has exited.

    def execute(self, request):
        """Replaces the process by the command."""
        os.execvp(request["argv"][0], request["argv"])

    def start(self, request):
        read, write = os.pipe()  # The write end is closed by exec.
        self.main = os.fork()
        if self.main == 0:
            try:
                # This process must not be killed, but if it is, the command goes too; the operator ends the others.
                prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
                os.setsid()
                for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
                    signal.signal(number, signal.SIG_DFL)
                os.close(CONTROL)
                os.close(STATUS)
                os.set_inheritable(write, False)
                self.execute(request)
            except BaseException as error:
                os.write(write, str(error).encode())
            finally:
                os._exit(127)
        os.close(write)
        os.close(EVENTS)
        with os.fdopen(read, "rb") as file:
            error = file.read().decode()
        if error:
            self.report(error=error)
        else:
            self.report(pid=os.getpid())

    def reap(self):
        """Collects the children that have ended, and reports whether there are no other descendants.

        Without children there are no descendants, because this process is their reaper. A list of processes does not show
        that, as a process may lose its parent while the list is made.
        """
        while True:
            try:
                pid, status = os.waitpid(-1, os.WNOHANG)
            except ChildProcessError:
                return sys.platform.startswith("linux") or not descendants()
            if pid == 0:
                return False
            if pid == self.main:
                self.code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)

    def end(self):
        """Kills all descendants until there are none."""
        deadline = time.monotonic() + 10
        while time.monotonic() < deadline:
            signal_all(signal.SIGKILL)
            if self.reap():
                return
            time.sleep(0.01)

    def stop(self, grace):
        self.stopped = True
        self.kill_at = time.monotonic() + grace
        signal_all(signal.SIGTERM)

    def run(self):
        wake, waker = os.pipe()
        for fd in (wake, waker):
            os.set_blocking(fd, False)
        signal.set_wakeup_fd(waker, warn_on_full_buffer=False)
        signal.signal(signal.SIGCHLD, lambda *_: None)
        for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
            signal.signal(number, signal.SIG_IGN)  # The operator decides.
        for fd in (CONTROL, STATUS):
            os.set_inheritable(fd, False)
        prctl(PR_SET_CHILD_SUBREAPER, 1)
        set_name("ansible-supervisor")
        request = self.read_line()
        if request is None:
            return
        self.start(request)
        while not self.step(wake):
            pass
        self.report(code=self.code, leftovers=self.leftovers)
        if self.code is None:
            remove(request["remove"])

    def step(self, wake):
        """Waits for something to happen, and reports whether all processes have ended."""
        timeout = None
        if self.kill_at is not None:
            # Descendants that are not children end without a signal to this process.
            timeout = min(0.05, max(0, self.kill_at - time.monotonic()))
        # A line that arrived together with the previous one is already in the buffer.
        buffered = b"\n" in self.input
        ready, _, _ = select.select([CONTROL, wake], [], [], 0 if buffered else timeout)
        if wake in ready:
            os.read(wake, 4096)
        if buffered or CONTROL in ready:
            message = self.read_line()
            if message is None:
                self.end()
                self.code = None
                return True
            self.stop(message["stop"])
        if self.reap():
            return True
        if self.code is not None and not self.stopped:
            self.leftovers = names(descendants())
            self.stop(LEFTOVER_GRACE)
        if self.kill_at is not None and time.monotonic() >= self.kill_at:
            self.end()
            return True
        return False


if __name__ == "__main__":
    Supervisor().run()
