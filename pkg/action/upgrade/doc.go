// Package upgrade contains the commands that bring a project to the current scaffold: upgrade, its previews, upgrade on a branch (alpha
// update), and scaffolding again (alpha generate). It renders what the current templates write for the project, and package
// migrate merges that with the project's files.
package upgrade
