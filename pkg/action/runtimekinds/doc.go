// Package runtimekinds contains what the packages helmkinds and ansiblekinds share: the entries of watches.yaml, the options of
// kinds without Go types, and their samples.
package runtimekinds
