// Package local runs a project's manager on this machine: it builds the manager, prepares an API
// server for it, starts, restarts and stops it, and notices when the project's files change.
package local
