"""Access to the API server for the modules of this collection."""

from __future__ import annotations

import os

from ansible.module_utils.basic import env_fallback, missing_required_lib

try:
    from kubernetes import client, config, dynamic

    IMPORT_ERROR = None
except ImportError as err:
    IMPORT_ERROR = err

AUTH_OPTIONS = {
    "kubeconfig": {"type": "path", "fallback": (env_fallback, ["K8S_AUTH_KUBECONFIG"])},
    "context": {"type": "str", "fallback": (env_fallback, ["K8S_AUTH_CONTEXT"])},
}

MERGE_PATCH = "application/merge-patch+json"


def connect(module):
    """Returns a dynamic client for the kubeconfig of the module or, in a pod without one, for its service account."""
    if IMPORT_ERROR:
        module.fail_json(msg=missing_required_lib("kubernetes"), error=str(IMPORT_ERROR))
    kubeconfig = module.params["kubeconfig"]
    try:
        if not kubeconfig and "KUBECONFIG" not in os.environ and "KUBERNETES_SERVICE_HOST" in os.environ:
            config.load_incluster_config()
            return dynamic.DynamicClient(client.ApiClient())
        return dynamic.DynamicClient(config.new_client_from_config(kubeconfig, module.params["context"]))
    except Exception as err:
        module.fail_json(msg="connecting to the API server: %s" % err)


def find_resource(module, api, api_version, kind):
    """Returns the API of a kind."""
    try:
        return api.resources.get(api_version=api_version, kind=kind)
    except Exception as err:
        module.fail_json(msg="finding the API of %s %s: %s" % (api_version, kind, err))
