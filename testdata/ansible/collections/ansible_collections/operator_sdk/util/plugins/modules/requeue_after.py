#!/usr/bin/python
"""Ends the run and sets the time until the next one."""

from __future__ import annotations

import re

from ansible.module_utils.basic import AnsibleModule

DOCUMENTATION = """
module: requeue_after
short_description: End the run and set the time until the next one
description:
  - The operator ends the run when it receives the result of this task.
options:
  time: {description: Time until the next run as a Go duration such as 1h30m., type: str, required: true}
"""


def main():
    module = AnsibleModule(argument_spec={"time": {"type": "str", "required": True}}, supports_check_mode=True)
    period = module.params["time"]
    if not re.fullmatch(r"([0-9]+(\.[0-9]+)?(ns|us|ms|s|m|h))+", period):
        module.fail_json(msg="time %r: must be a duration such as 30s, 5m or 1h30m" % period)
    module.exit_json(changed=False, period=period)


if __name__ == "__main__":
    main()
