// Package rename contains the commands that rename a kind, group, version or domain, the project, and the Go module. Each of them
// compares PROJECT with the old and the new names, and package refactor makes the changes in the files.
package rename
