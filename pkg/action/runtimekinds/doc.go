// Package runtimekinds contains what the packages helmkinds and ansiblekinds share: names in watches.yaml, the options of
// kinds without Go types, their samples, and the last steps of deletions and renamings.
package runtimekinds
