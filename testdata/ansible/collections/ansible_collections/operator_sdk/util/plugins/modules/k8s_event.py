#!/usr/bin/python
"""Creates an Event, or increments the count of an existing one."""

from __future__ import annotations

from datetime import datetime, timezone

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.operator_sdk.util.plugins.module_utils.api import AUTH_OPTIONS, MERGE_PATCH, connect, find_resource

DOCUMENTATION = """
module: k8s_event
short_description: Create an Event
description:
  - Creates an Event, or increments the count of an existing one of the same name.
options:
  state: {description: Whether the Event must exist., type: str, choices: [present], default: present}
  name: {description: Name of the Event., type: str, required: true}
  namespace: {description: Namespace of the Event., type: str, required: true}
  message: {description: Text of the Event., type: str, required: true}
  reason: {description: Reason of the Event., type: str, required: true}
  type: {description: Type of the Event., type: str, choices: [Normal, Warning], default: Normal}
  source: {description: Component that reports the Event., type: dict}
  involvedObject: {description: Object of the Event., type: dict}
  appendTimestamp: {description: Append the time to the name so that each Event is a new one., type: bool, default: false}
  kubeconfig: {description: Path of a kubeconfig., type: path}
  context: {description: Context in the kubeconfig., type: str}
"""


def main():
    module = AnsibleModule(
        argument_spec=dict(
            AUTH_OPTIONS,
            state={"type": "str", "choices": ["present"], "default": "present"},
            name={"type": "str", "required": True},
            namespace={"type": "str", "required": True},
            message={"type": "str", "required": True},
            reason={"type": "str", "required": True},
            type={"type": "str", "choices": ["Normal", "Warning"], "default": "Normal"},
            source={"type": "dict", "options": {"component": {"type": "str", "required": True}}},
            involvedObject={
                "type": "dict",
                "options": {
                    "apiVersion": {"type": "str", "required": True},
                    "kind": {"type": "str", "required": True},
                    "name": {"type": "str", "required": True},
                    "namespace": {"type": "str", "required": True},
                },
            },
            appendTimestamp={"type": "bool", "default": False},
        ),
        supports_check_mode=True,
    )
    params = module.params
    now = datetime.now(timezone.utc)
    name = params["name"] + (now.strftime(".%Y%m%d%H%M%S%f") if params["appendTimestamp"] else "")
    timestamp = now.strftime("%Y-%m-%dT%H:%M:%SZ")
    resource = find_resource(module, connect(module), "v1", "Event")
    involved = params["involvedObject"]
    if involved:
        of_kind = find_resource(module, connect(module), involved["apiVersion"], involved["kind"])
    try:
        if involved:
            uid = of_kind.get(name=involved["name"], namespace=involved["namespace"]).metadata.uid
            involved = dict(involved, uid=uid)
        found = next(iter(resource.get(namespace=params["namespace"], field_selector="metadata.name=" + name).items), None)
        body = {
            "apiVersion": "v1",
            "kind": "Event",
            "metadata": {"name": name, "namespace": params["namespace"]},
            "count": (found.count or 0) + 1 if found else 1,
            "eventTime": None,
            "firstTimestamp": found.firstTimestamp if found else timestamp,
            "lastTimestamp": timestamp,
            "message": params["message"],
            "reason": params["reason"],
            "type": params["type"],
            "source": params["source"] or {},
            "involvedObject": involved or {"namespace": params["namespace"]},
        }
        if module.check_mode:
            module.exit_json(changed=True, result=body)
        if found:
            result = resource.patch(body=body, name=name, namespace=params["namespace"], content_type=MERGE_PATCH)
        else:
            result = resource.create(body=body, namespace=params["namespace"])
    except Exception as err:
        module.fail_json(msg="writing the Event %s: %s" % (name, err))
    module.exit_json(changed=True, result=result.to_dict())


if __name__ == "__main__":
    main()
