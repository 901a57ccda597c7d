"""Uses the Python client as modules and lookups do."""
import sys

import kubernetes
from kubernetes import client, config, dynamic, watch

namespace = sys.argv[1]
config.load_kube_config()
_, context = config.list_kube_config_contexts()
assert context["context"]["namespace"] == namespace, context
core = client.CoreV1Api()
core.create_namespaced_config_map(namespace, {"metadata": {"name": "python", "annotations": {"a": "b"}}})

# Server-side apply: new objects, and again.
resources = dynamic.DynamicClient(client.ApiClient())
config_maps = resources.resources.get(api_version="v1", kind="ConfigMap")
for text in ("one", "two", "two"):
    result = config_maps.server_side_apply(
        # Debian's version of the client does not encode objects for this type of patch.
        f"apiVersion: v1\nkind: ConfigMap\nmetadata:\n  name: python-applied\ndata:\n  text: {text}\n", name="python-applied",
        namespace=namespace, field_manager="python", force_conflicts=True,
    )
    assert result.data.text == text
    assert len(result.metadata.ownerReferences) == 1, result

# A watch ends with the object that is created while it is open.
names = []
version = core.list_namespaced_config_map(namespace).metadata.resource_version
core.create_namespaced_config_map(namespace, {"metadata": {"generateName": "python-watched-"}})
for event in watch.Watch().stream(core.list_namespaced_config_map, namespace, resource_version=version, timeout_seconds=60):
    names.append(event["object"].metadata.name)
    break
assert names[0].startswith("python-watched-"), names

try:
    core.read_namespaced_config_map("absent", namespace)
    raise AssertionError("found")
except client.ApiException as error:
    assert error.status == 404, error
print("done", kubernetes.__version__)
