// Package scaffold writes the files of a project from templates into a worktree.Tree: Init, CreateAPI and CreateWebhook
// render the templates for Data and insert texts at markers, and Delete removes their output again. UpdateRequirements
// keeps go.mod tidy.
package scaffold
