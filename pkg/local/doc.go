// Package local runs the manager of a project on this machine. Run builds the manager, prepares an API server for it, and starts,
// restarts and stops it. A Watch detects changes of the project's files, and a LogWriter formats the manager's log.
package local
