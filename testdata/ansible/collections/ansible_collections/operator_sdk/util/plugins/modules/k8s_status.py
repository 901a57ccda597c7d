#!/usr/bin/python
"""Updates the status of an object."""

from __future__ import annotations

import copy
import re
from datetime import datetime, timezone

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.operator_sdk.util.plugins.module_utils.api import AUTH_OPTIONS, MERGE_PATCH, connect, find_resource

DOCUMENTATION = """
module: k8s_status
short_description: Update the status of an object
description:
  - Updates the status subresource of an object, for roles that implement the controller of its kind.
options:
  api_version: {description: API version of the object., type: str, required: true, aliases: [api, version]}
  kind: {description: Kind of the object., type: str, required: true}
  name: {description: Name of the object., type: str, required: true}
  namespace: {description: Namespace of the object., type: str}
  status: {description: Fields to set. One of status and conditions is required., type: dict}
  conditions: {description: Conditions to set. They replace existing ones of the same type., type: list, elements: dict}
  replace: {description: Replace the whole status., type: bool, default: false}
  replace_lists: {description: Replace lists in the status instead of merging them., type: bool, default: false}
  kubeconfig: {description: Path of a kubeconfig., type: path}
  context: {description: Context in the kubeconfig., type: str}
"""

CONDITION_FIELDS = {"type", "status", "reason", "message", "lastHeartbeatTime", "lastTransitionTime"}


def check_conditions(module, conditions):
    """Fails for conditions that do not follow the API conventions."""
    for condition in conditions:
        missing = [field for field in ("type", "status") if condition.get(field) in (None, "")]
        if missing:
            module.fail_json(msg="a condition requires the fields type and status, missing: %s" % ", ".join(missing))
        unknown = sorted(set(condition) - CONDITION_FIELDS)
        if unknown:
            module.fail_json(msg="the condition %s has unknown fields: %s" % (condition["type"], ", ".join(unknown)))
        condition["status"] = str(condition["status"])
        if condition["status"] not in ("True", "False", "Unknown"):
            module.fail_json(msg="the status of the condition %s must be True, False or Unknown" % condition["type"])
        if condition.get("reason") and not re.fullmatch("[A-Z][A-Za-z0-9_]*", condition["reason"]):
            module.fail_json(msg="the reason of the condition %s must be one word in camel case" % condition["type"])


def merge_conditions(old, new):
    """Returns the old conditions with the new ones. The time of a condition changes with its status."""
    merged = {condition["type"]: condition for condition in old}
    for condition in new:
        before = merged.get(condition["type"], {})
        condition = dict(before, **condition)
        if before.get("status") != condition["status"] or "lastTransitionTime" not in condition:
            condition["lastTransitionTime"] = datetime.now(timezone.utc).strftime("%Y-%m-%dT%H:%M:%SZ")
        merged[condition["type"]] = condition
    return list(merged.values())


def merge(old, new, replace_lists):
    """Returns old with the fields of new."""
    if isinstance(old, dict) and isinstance(new, dict):
        return dict(old, **{key: merge(old.get(key), value, replace_lists) for key, value in new.items()})
    if isinstance(old, list) and isinstance(new, list) and not replace_lists:
        return old + [item for item in new if item not in old]
    return new


def main():
    module = AnsibleModule(
        argument_spec=dict(
            AUTH_OPTIONS,
            api_version={"type": "str", "required": True, "aliases": ["api", "version"]},
            kind={"type": "str", "required": True},
            name={"type": "str", "required": True},
            namespace={"type": "str"},
            status={"type": "dict"},
            conditions={"type": "list", "elements": "dict"},
            replace={"type": "bool", "default": False},
            replace_lists={"type": "bool", "default": False},
        ),
        required_one_of=[["status", "conditions"]],
        supports_check_mode=True,
    )
    params = module.params
    conditions = params["conditions"] or []
    check_conditions(module, conditions)
    if conditions and "conditions" in (params["status"] or {}):
        module.fail_json(msg="conditions must not be given both in status and in conditions")

    resource = find_resource(module, connect(module), params["api_version"], params["kind"])
    at = {"name": params["name"], "namespace": params["namespace"]}
    try:
        found = resource.get(**at).to_dict()
        old = {} if params["replace"] else found.get("status") or {}
        new = merge(copy.deepcopy(old), params["status"] or {}, params["replace_lists"])
        if conditions:
            new["conditions"] = merge_conditions(old.get("conditions") or [], conditions)
        result = found
        if new != (found.get("status") or {}) and not module.check_mode:
            if params["replace"]:
                result = resource.status.replace(body=dict(found, status=new), **at).to_dict()
            else:
                body = {"apiVersion": params["api_version"], "kind": params["kind"], "metadata": {"name": params["name"]}, "status": new}
                result = resource.status.patch(body=body, content_type=MERGE_PATCH, **at).to_dict()
    except Exception as err:
        module.fail_json(msg="updating the status of %s %s: %s" % (params["kind"], params["name"], err))
    changed = new != (found.get("status") or {})
    module.exit_json(changed=changed, result=result)


if __name__ == "__main__":
    main()
