// Package stage puts an operator before an API server as it is in a cluster: behind a gateway that sees its requests, as the service
// account of its manifests, with the permissions that these grant.
package stage
