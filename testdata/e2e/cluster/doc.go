// Package cluster makes a whole cluster for tests: the programs and images it needs, a node, and what every cluster
// has running on it.
package cluster
