// Package worktree changes a project's files as one transaction. A Tree is an overlay of changes over the files on disk;
// Begin takes the project's lock and undoes what an interrupted command left, and Commit writes the changes of a Tree: all of
// them or none.
package worktree
