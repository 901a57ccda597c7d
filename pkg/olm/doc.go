// Package olm installs OLM, the Operator Lifecycle Manager, tells how an installation does, and removes it.
//
// A Release is what a version of OLM consists of: the default version's objects are in the program, those
// of others are fetched. Find reads what is in a cluster; Install, Examine and Uninstall start from there, so
// that each of them goes on where another, or itself, was interrupted.
//
// What this package calls OLM is OLM v0, the one of subscriptions and ClusterServiceVersions. Another one would
// be another Release, with a Find of its own; nothing in cmd or pkg/kube knows the difference.
package olm
