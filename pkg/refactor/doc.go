// Package refactor changes the structure of an existing project in a worktree.Tree: SetMultigroup and MoveToV4 move
// packages and update references to them, Rename renames an API, the project or its module, SetScope limits the manager
// to one namespace or removes the limit, and ReplaceHeader replaces license headers. Check and NewErrors type-check the
// result.
package refactor
