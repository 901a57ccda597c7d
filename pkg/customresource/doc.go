// Package customresource is what the Helm and the Ansible runtime share: it reconciles custom resources whose kinds have no Go
// types.
//
// A [Kind] describes which resources a reconciler handles and when. Its methods set it up, add a controller that starts even before the
// kind exists, and find out whether a resource is to be left to another reconciler; PauseOrResume and Requested handle annotations that
// pause a resource and request passes. Its [Writer] changes finalizers and the status with merge patches, and applies a change again
// after a conflict. A [Rollout] limits how many resources are upgraded at once to a new version of the operator. The rest of the package
// reads annotations and watches.yaml, and builds conditions.
package customresource
