"""Writes the events of ansible-runner to a file descriptor, as one JSON object per line.

ansible-runner loads this module through its entry points. It restores the environment before ansible-runner copies it, so
that playbooks and modules do not inherit what is meant for ansible-runner only.
"""

import json
import os

# Events with longer results lose all but the fields that the operator reads.
LIMIT = 1 << 20
# Values of set_stats that are longer are left out of them.
STATS_LIMIT = 1 << 16
FIELDS = ("msg", "assertion", "censored", "reason", "period", "rc", "changed", "failed", "_ansible_no_log")


class Writer:
    def __init__(self, environ):
        self.everything = environ.pop("OPERON_EVENTS", "") == "everything"
        value = environ.pop("OPERON_EVENTS_FD", "")
        self.fd = int(value) if value.isdigit() else None
        path = environ.pop("OPERON_PYTHONPATH", None)
        if self.fd is None:
            return
        environ.pop("PYTHONPATH", None)
        if path is not None:
            environ["PYTHONPATH"] = path
        try:
            os.set_inheritable(self.fd, False)
        except OSError:
            self.fd = None

    def write(self, event):
        if self.fd is None:
            return
        line = encode(event)
        if len(line) > LIMIT:
            line = encode(shorten(event))
        try:
            while line:
                line = line[os.write(self.fd, line):]
        except OSError:
            self.fd = None  # The operator has exited.


def encode(event):
    return json.dumps(event, default=str).encode() + b"\n"


def shorten(event):
    """Returns the fields of an event that the operator reads, with texts of limited length."""
    data = dict(event.get("event_data") or {})
    result = data.get("res")
    if isinstance(result, dict):
        short = {name: limit(result[name]) for name in FIELDS if name in result}
        items = result.get("results")
        if isinstance(items, list):
            short["results"] = [
                {name: limit(item[name]) for name in FIELDS if name in item} for item in items[:50] if isinstance(item, dict)
            ]
        data["res"] = short
    stats = data.get("artifact_data")
    if isinstance(stats, dict):
        data["artifact_data"] = {name: value for name, value in stats.items() if len(json.dumps(value, default=str)) <= STATS_LIMIT}
    data.pop("diff", None)
    return {"event": event.get("event"), "uuid": event.get("uuid"), "created": event.get("created"), "event_data": data}


def limit(value):
    text = value if isinstance(value, str) else json.dumps(value, default=str)
    return value if len(text) <= 8192 else text[:8192] + "…"


def start():
    """Reports that ansible-runner has loaded this module, and later the signal that kills ansible-playbook.

    ansible-runner itself exits with code 0 then.
    """
    WRITER.write({"event": "operon_start"})
    own, original = os.getpid(), os.waitpid

    def waitpid(pid, options):
        pid, status = original(pid, options)
        if pid and os.WIFSIGNALED(status) and os.getpid() == own:
            WRITER.write({"event": "operon_killed", "event_data": {"signal": os.WTERMSIG(status)}})
        return pid, status

    os.waitpid = waitpid


WRITER = Writer(os.environ)
if WRITER.fd is not None:
    start()


def event_handler(runner_config, data):
    """Is called by ansible-runner for each event."""
    if WRITER.everything or data.get("event_data") and data.get("event") != "verbose":
        WRITER.write(data if WRITER.everything else {k: v for k, v in data.items() if k != "stdout"})


def status_handler(runner_config, data):
    """Is called by ansible-runner when the state of the run changes."""
