// Package stage puts an operator before an API server as it is in a cluster: behind a gateway that sees its requests, as the service
// account of its manifests, with the permissions that these grant; see Access. A History keeps all versions of all objects and knows when
// an operator and the controllers of Kubernetes have settled. Normalize makes the objects of two runs comparable.
package stage
