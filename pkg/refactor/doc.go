// Package refactor changes the structure of an existing project: MultiGroup and Layout move packages and rewrite references
// to them, Rename renames an API, the project or its module, Scope limits the manager to one namespace or lifts the limit, and
// Headers replaces license headers. All changes are made in a worktree.Tree; Check and Broken type-check the result.
package refactor
