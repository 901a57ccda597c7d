"""Starts runs in copies of an interpreter that has loaded ansible-runner, Ansible and the Python client for Kubernetes.

Each run is a fork of this process, as are its ansible-playbook and its modules, so that nothing is left of a run for the next one.
A process does not run in a fork, but is started as without this program, if the fork would differ from it: if the environment of
ansible-playbook differs in other variables than those of a run, for modules in other languages or with other interpreters, with
variables of their own, as another user, in the background or on another host, and with a log file of Ansible. Modules take everything
of Ansible from the archive that Ansible has made for them; only libraries are loaded already.

The arguments are the options of this interpreter, those in the first line of ansible-playbook. Ansible starts modules without
options, so that they do not run in forks if there is one, such as -s. File descriptor 3 is a socket to the operator. Each message
consists of four file descriptors, those of a supervisor and its output, and has no other content. The standard output receives one
JSON object: {"ready": true} or {"error": TEXT}.
"""

import array
import atexit
import gc
import json
import locale
import logging
import os
import re
import runpy
import shutil
import signal
import socket
import sys
import tempfile
import threading
import traceback

# The directory of this file is not part of the path of runs.
OWN = sys.path.pop(0)
PATH, META_PATH, PATH_HOOKS = list(sys.path), list(sys.meta_path), list(sys.path_hooks)
ENVIRON = dict(os.environ)
STREAMS = [
    (name, "r" if name == "stdin" else "w", getattr(sys, name).encoding, getattr(sys, name).errors) for name in ("stdin", "stdout", "stderr")
]

sys.path.insert(0, OWN)
import supervisor  # noqa: E402

sys.path[0] = os.path.join(OWN, "plugin")
import operon_ansible_events  # noqa: E402

del sys.path[0]

# Variables that differ between runs and that Ansible reads when it needs them, or that are read again for each run.
VOLATILE = {
    "ANSIBLE_CACHE_PLUGIN_CONNECTION", "ANSIBLE_LOCAL_TEMP", "ANSIBLE_REMOTE_TEMP", "ANSIBLE_ROLES_PATH", "AWX_ISOLATED_DATA_DIR",
    "K8S_AUTH_KUBECONFIG", "KUBECONFIG", "OPERON_ANSIBLE_RUN", "PWD", "TMPDIR",
}

# Libraries of modules. Those that are not installed are left out.
LIBRARIES = (
    "kubernetes", "kubernetes.client", "kubernetes.config", "kubernetes.dynamic", "kubernetes.stream", "kubernetes.watch", "yaml",
    "requests", "jsonpatch", "ssl", "zipfile", "zipimport", "__future__",
)

# What ansible-playbook loads for nearly every playbook.
ANSIBLE = (
    "ansible.cli.playbook", "ansible.executor.module_common", "ansible.executor.playbook_executor",
    "ansible.executor.process.worker", "ansible.executor.task_queue_manager", "ansible.parsing.dataloader",
    "ansible.parsing.yaml.loader", "ansible.plugins.cache.jsonfile", "ansible.plugins.callback.default",
    "ansible.plugins.connection.local", "ansible.plugins.inventory.ini", "ansible.plugins.shell.sh",
    "ansible.plugins.strategy.linear", "ansible.template", "ansible.utils.vars", "ansible.vars.manager",
)

# The command of a module of Python on this host.
MODULE = re.compile(r"/bin/sh -c '(?P<python>[\w./+-]+) (?P<path>[\w./+-]+/AnsiballZ_\w+\.py) && sleep 0'")


class Warm:
    """The state after loading, which all runs begin with."""

    def __init__(self):
        import ansible_runner
        import ansible_runner.__main__

        ansible_runner.plugins["operon"] = operon_ansible_events
        self.main = ansible_runner.__main__.main
        self.environ = self.playbook_environ(ansible_runner.RunnerConfig)
        os.environ.update(self.environ)
        for name in ANSIBLE:
            __import__(name)
        os.environ.clear()
        os.environ.update(ENVIRON)
        for name in LIBRARIES:
            try:
                __import__(name)
            except ImportError:
                pass
        from ansible import constants

        # Ansible has opened its log file. Forks would close its descriptor, and write to another file with the same number.
        for handler in logging.root.handlers:
            handler.close()
        self.constants = constants
        shutil.rmtree(constants.DEFAULT_LOCAL_TMP, ignore_errors=True)
        self.temporary = os.path.dirname(constants.DEFAULT_LOCAL_TMP)
        self.config_time = self.modified()
        self.volatile = sorted(
            name for name, definition in constants.config.get_configuration_definitions().items()
            if any(variable["name"] in VOLATILE for variable in definition.get("env") or ()) and name != "DEFAULT_LOCAL_TMP"
        )
        self.locks = self.find_locks()
        if threading.active_count() > 1:
            raise RuntimeError("a library or plugin has started a thread")
        if len(sys.argv) == 1:
            self.patch_connection()

    @staticmethod
    def playbook_environ(config):
        """Returns the environment with which this version of ansible-runner starts ansible-playbook."""
        directory = os.path.join(OWN, "warm")
        config = config(private_data_dir=directory, playbook="none.yml")
        config.prepare_env()
        shutil.rmtree(directory)
        return dict(config.env)

    @staticmethod
    def find_locks():
        """Returns the locks between processes. A run must not share them with others."""
        from multiprocessing import synchronize

        locks = [value for value in gc.get_objects() if isinstance(value, synchronize.SemLock)]
        if any(type(lock) not in (synchronize.Lock, synchronize.RLock) for lock in locks):
            raise RuntimeError("a library or plugin shares semaphores")
        return locks

    def modified(self):
        path = self.constants.CONFIG_FILE
        return os.stat(path).st_mtime if path else None

    def is_same(self, environ):
        """Reports whether ansible-playbook would load the same configuration with an environment, and has no log file."""
        if self.constants.DEFAULT_LOG_PATH:
            return False
        names = (set(environ) | set(self.environ)) - VOLATILE
        return all(environ.get(name) == self.environ.get(name) for name in names) and self.modified() == self.config_time

    def run_playbook(self, argv):
        """Runs ansible-playbook in this process, which is a fork, and exits."""
        from multiprocessing import context

        for lock in self.locks:
            type(lock).__init__(lock, ctx=context._default_context)
        begin("ansible-playbook", argv)
        constants = self.constants
        for name in self.volatile:
            setattr(constants, name, constants.config.get_config_value(name))
        parent = os.environ.get("ANSIBLE_LOCAL_TEMP") or self.temporary
        os.makedirs(parent, mode=0o700, exist_ok=True)
        constants.DEFAULT_LOCAL_TMP = tempfile.mkdtemp(prefix="ansible-local-%d" % os.getpid(), dir=parent)
        atexit.register(shutil.rmtree, constants.DEFAULT_LOCAL_TMP, True)
        from ansible.cli.playbook import main
        from ansible.utils import vars as names

        if hasattr(names, "random_int"):
            names.random_int = os.urandom(4).hex()
        die_with_parent()
        os.register_at_fork(after_in_child=die_with_parent)
        finish(lambda: main(argv))

    def execvpe(self, file, args, env):
        """Replaces os.execvpe in ansible-runner."""
        argv = [os.fsdecode(arg) for arg in args]
        environ = {os.fsdecode(name): os.fsdecode(value) for name, value in env.items()}
        if os.path.basename(argv[0]) != "ansible-playbook" or not self.is_same(environ):
            return execvpe(file, args, env)
        close_all_but()
        os.environ.clear()
        os.environ.update(environ)
        self.run_playbook(argv)

    def patch_connection(self):
        """Lets modules on this host run in forks."""
        from ansible.plugins.connection.local import Connection
        from ansible.utils.display import Display

        display = Display()
        original = Connection.exec_command

        def exec_command(connection, cmd, in_data=None, sudoable=True):
            match = None
            if not in_data and not connection.become and isinstance(cmd, str):
                match = MODULE.fullmatch(cmd)
            if not match or match.group("python") != sys.executable:
                return original(connection, cmd, in_data=in_data, sudoable=sudoable)
            display.vvv("EXEC " + cmd, host=connection._play_context.remote_addr)
            return run_module(match.group("path"), connection.cwd)

        Connection.exec_command = exec_command


execvpe = os.execvpe
in_module = False


def die_with_parent():
    """Makes this process end with its parent. Processes that modules fork may outlive them."""
    if not in_module:
        supervisor.prctl(supervisor.PR_SET_PDEATHSIG, signal.SIGKILL)


def close_all_but(*keep):
    """Closes all file descriptors but those of the standard streams and others."""
    for name in os.listdir("/proc/self/fd"):
        if int(name) > 2 and int(name) not in keep:
            try:
                os.close(int(name))
            except OSError:
                pass  # that of the list itself


def reset_signals():
    """Sets the signal handlers of an interpreter that was started. Ignored signals remain ignored."""
    signal.set_wakeup_fd(-1)
    for number in signal.valid_signals():
        if callable(signal.getsignal(number)):
            signal.signal(number, signal.SIG_DFL)
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGPIPE, signal.SIG_IGN)


def begin(name, argv):
    """Prepares a fork, so that it does not differ from a process that was started."""
    supervisor.set_name(name)
    reset_signals()
    atexit._clear()
    sys.argv = list(argv)
    logging.root.handlers.clear()
    logging.root.setLevel(logging.WARNING)
    open_streams(0)  # The other objects are those that Ansible has configured.


def open_streams(*numbers):
    """Replaces the objects of standard streams, as an interpreter creates them."""
    for number in numbers:
        name, mode, encoding, errors = STREAMS[number]
        file = open(number, mode, buffering=1, encoding=encoding, errors=errors, closefd=False)
        setattr(sys, name, file)
        setattr(sys, "__%s__" % name, file)


def finish(main):
    """Calls a function and exits as an interpreter does."""
    code = 0
    try:
        code = main()
    except SystemExit as error:
        code = error.code
    except BaseException:
        traceback.print_exc()
        code = 1
    if code is not None and not isinstance(code, int):
        print(code, file=sys.stderr)
        code = 1
    try:
        from multiprocessing import util

        util._exit_function()
        atexit._run_exitfuncs()
        sys.stdout.flush()
        sys.stderr.flush()
    except BaseException:
        pass
    finally:
        os._exit((code or 0) & 0xFF)


def run_module(path, directory):
    """Runs a module in a fork, and returns its exit code and outputs."""
    out, err = os.pipe(), os.pipe()
    pid = os.fork()
    if pid == 0:
        try:
            start_module(path, directory, out[1], err[1])
        finally:
            os._exit(1)
    os.close(out[1])
    os.close(err[1])
    outputs = [b"", b""]

    def read(index, fd):
        with os.fdopen(fd, "rb") as file:
            outputs[index] = file.read()

    reader = threading.Thread(target=read, args=(1, err[0]))
    reader.start()
    read(0, out[0])
    reader.join()
    _, status = os.waitpid(pid, 0)
    code = -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)
    return code, outputs[0], outputs[1]


def start_module(path, directory, out, err):
    global in_module
    in_module = True
    null = os.open(os.devnull, os.O_RDONLY)
    for source, target in ((null, 0), (out, 1), (err, 2)):
        os.dup2(source, target)
    close_all_but()
    begin(os.path.basename(path).partition("_")[2], [path])
    open_streams(1, 2)
    if directory:
        os.chdir(directory)
    os.environ["PWD"] = os.getcwd()  # set by the shell
    for name in list(sys.modules):
        if name.partition(".")[0] in ("ansible", "ansible_collections", "ansible_runner"):
            del sys.modules[name]
    sys.meta_path[:], sys.path_hooks[:], sys.path[:] = META_PATH, PATH_HOOKS, PATH
    sys.path_importer_cache.clear()
    locale.setlocale(locale.LC_ALL, "C")
    locale.setlocale(locale.LC_CTYPE, "")
    finish(lambda: runpy.run_path(path, run_name="__main__") and None)


class WarmSupervisor(supervisor.Supervisor):
    def __init__(self, warm):
        super().__init__()
        self.warm = warm

    def execute(self, request):
        close_all_but(supervisor.EVENTS)  # also the pipe that reports errors of the start
        os.environ.clear()
        os.environ.update(request["env"])
        begin("ansible-runner", request["argv"])
        operon_ansible_events.WRITER = operon_ansible_events.Writer(os.environ)
        operon_ansible_events.start()
        os.execvpe = self.warm.execvpe
        finish(lambda: self.warm.main(request["argv"][1:]))


def serve(warm):
    connection = socket.socket(fileno=3)
    size = array.array("i").itemsize
    while True:
        data, ancillary, _, _ = connection.recvmsg(1, socket.CMSG_SPACE(4 * size))
        if not data:
            return  # The operator has exited.
        fds = array.array("i")
        for _, _, value in ancillary:
            fds.frombytes(value[: len(value) - len(value) % size])
        if os.fork() == 0:
            try:
                os.setsid()
                signal.signal(signal.SIGCHLD, signal.SIG_DFL)
                # Control, status and events, which may have the numbers of others, and the output.
                fds = [os.dup2(fd, 100 + i) for i, fd in enumerate(fds)]
                close_all_but(*fds)
                for fd, target in zip(fds, (3, 4, 5, 1)):
                    os.dup2(fd, target)
                os.dup2(1, 2)
                close_all_but(3, 4, 5)
                WarmSupervisor(warm).run()
            except BaseException:
                traceback.print_exc()
            finally:
                os._exit(0)
        for fd in fds:
            os.close(fd)


def main():
    # The output of libraries is no message.
    status = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    try:
        warm = Warm()
    except BaseException as error:
        print(json.dumps({"error": "%s: %s" % (type(error).__name__, error)}), file=status)
        return
    for stream in (sys.stdout, sys.stderr):
        stream.reconfigure(line_buffering=True)  # as of a terminal, which ansible-runner gives to ansible-playbook
    gc.collect()
    gc.freeze()
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    supervisor.set_name("ansible-warm")
    print(json.dumps({"ready": True}), file=status)
    serve(warm)


if __name__ == "__main__":
    main()
