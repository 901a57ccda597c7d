// Package olm installs, inspects and removes OLM v0, the Operator Lifecycle Manager of Subscriptions and ClusterServiceVersions.
// A Release holds the objects of one version. The objects of DefaultVersion are part of the program; others are downloaded. Find reads
// the Installation of a cluster; Install, Examine and Uninstall start from it, and continue after an interruption.
package olm
