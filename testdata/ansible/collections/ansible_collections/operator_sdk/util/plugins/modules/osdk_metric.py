#!/usr/bin/python
"""Changes a metric of the operator."""

from __future__ import annotations

import json

from ansible.module_utils.basic import AnsibleModule
from ansible.module_utils.urls import open_url

DOCUMENTATION = """
module: osdk_metric
short_description: Change a metric of the operator
description:
  - Registers a metric with the operator, and changes its value.
options:
  name: {description: Name of the metric., type: str, required: true}
  description: {description: Help text of the metric., type: str, required: true}
  counter: {description: Change of a counter, type: dict}
  gauge: {description: Change of a gauge., type: dict}
  histogram: {description: Observation of a histogram., type: dict}
  summary: {description: Observation of a summary., type: dict}
  address: {description: Address of the operator., type: str, default: localhost}
  port: {description: Port of the operator., type: int, default: 5050}
  path: {description: Path of the metrics of roles., type: str, default: metrics}
"""

OBSERVATION = {"type": "dict", "options": {"observe": {"type": "float", "required": True}}}
TYPES = {
    "counter": {
        "type": "dict",
        "options": {"increment": {"type": "bool"}, "add": {"type": "float"}},
        "required_one_of": [["increment", "add"]],
        "mutually_exclusive": [["increment", "add"]],
    },
    "gauge": {
        "type": "dict",
        "options": {
            "set": {"type": "float"},
            "increment": {"type": "bool"},
            "decrement": {"type": "bool"},
            "set_to_current_time": {"type": "bool"},
            "add": {"type": "float"},
            "subtract": {"type": "float"},
        },
        "required_one_of": [["set", "increment", "decrement", "set_to_current_time", "add", "subtract"]],
        "mutually_exclusive": [["set", "increment", "decrement", "set_to_current_time", "add", "subtract"]],
    },
    "histogram": OBSERVATION,
    "summary": OBSERVATION,
}


def main():
    module = AnsibleModule(
        argument_spec=dict(
            TYPES,
            name={"type": "str", "required": True},
            description={"type": "str", "required": True},
            address={"type": "str", "default": "localhost"},
            port={"type": "int", "default": 5050},
            path={"type": "str", "default": "metrics"},
        ),
        required_one_of=[sorted(TYPES)],
        mutually_exclusive=[sorted(TYPES)],
    )
    params = module.params
    metric = {"name": params["name"], "description": params["description"]}
    for kind in TYPES:
        if params[kind]:
            metric[kind] = {key: value for key, value in params[kind].items() if value is not None}
    url = "http://%s:%d/%s" % (params["address"], params["port"], params["path"].lstrip("/"))
    try:
        open_url(url, method="POST", data=json.dumps(metric), headers={"Content-Type": "application/json"}, use_proxy=False)
    except Exception as err:
        module.fail_json(msg="changing the metric %s: POST %s: %s" % (params["name"], url, err))
    module.exit_json(changed=True, metric=metric)


if __name__ == "__main__":
    main()
