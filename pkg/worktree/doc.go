// Package worktree changes a project's files as one transaction. A Tree is an overlay of changes over the files on disk;
// Update takes the project's lock, undoes what an interrupted command left, and commits the changes of a Tree: all of
// them or none.
package worktree
