"""Waits for the end of the operator, which is the end of the standard input, and removes the directories that it owns.

Arguments: the root of all run directories, and the directory of this operator below it. A directory of a custom resource
contains a file .operator with the name of the operator that owns it, and that of an operator a link tmp if its temporary files
are in another directory. A file .failed in the directory of a custom resource names the artifacts that are kept.
"""

import json
import os
import shutil
import sys
import time

MARKER = ".operator"
FAILED = ".failed"
ARTIFACTS = "artifacts"
LINK = "tmp"
PREFIX = "operon-"


def owned(root, name):
    """Returns the directories below root that belong to an operator."""
    found = []
    for path, directories, files in os.walk(root):
        directories[:] = [d for d in directories if not d.startswith(".")]
        if MARKER in files:
            directories[:] = []
            try:
                with open(os.path.join(path, MARKER)) as file:
                    if file.read() == name:
                        found.append(path)
            except OSError:
                pass
    return found


def clear(path):
    """Removes a directory, except for the artifacts of the last failed run."""
    try:
        with open(os.path.join(path, FAILED)) as file:
            kept = os.path.join(path, ARTIFACTS, os.path.basename(json.load(file)["ident"]))
    except (OSError, ValueError, KeyError, TypeError):
        kept = ""
    if not os.path.isdir(kept):
        shutil.rmtree(path, ignore_errors=True)
        return
    for directory, keep in ((os.path.join(path, ARTIFACTS), (os.path.basename(kept),)), (path, (FAILED, ARTIFACTS, MARKER)), (path, (FAILED, ARTIFACTS))):
        for name in os.listdir(directory):
            if name not in keep:
                remove(os.path.join(directory, name))


def remove(path):
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path, ignore_errors=True)
        return
    try:
        os.unlink(path)
    except OSError:
        pass


def main(root, own):
    # A word before the end means that the operator has removed everything itself.
    if os.read(0, 1):
        return
    name = os.path.basename(own)
    # Processes of a run may write until their supervisor has killed them.
    for _ in range(100):
        paths = owned(root, name)
        if not paths:
            break
        for path in paths:
            clear(path)
            while not os.path.exists(path) and path != root:
                path = os.path.dirname(path)
                try:
                    os.rmdir(path)
                except OSError:
                    break
        time.sleep(0.1)
    try:
        temporary = os.readlink(os.path.join(own, LINK))
        if os.path.basename(temporary).startswith(PREFIX):
            shutil.rmtree(temporary, ignore_errors=True)
    except OSError:
        pass  # The temporary files are in the directory itself.
    shutil.rmtree(own, ignore_errors=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
