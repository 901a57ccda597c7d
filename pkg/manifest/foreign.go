package manifest

import "errors"

// ErrNotKubernetes is the cause of a problem of a document that is YAML, but not of Kubernetes.
var ErrNotKubernetes = errors.New("not a Kubernetes object")
