// Package scenario reads scenarios: steps that change a cluster and say what must be the case afterwards.
//
// # Format
//
// A scenario is a directory, in one of the two formats of Kyverno Chainsaw. Either it contains the file chainsaw-test.yaml with a Test,
// or files and directories whose names begin with a number of two digits:
//
//	00-install.yaml     objects to apply
//	01-assert.yaml      objects that must exist, with at least these fields
//	02-patch.yaml       fields to change
//	03-delete.yaml      objects to delete
//	04-error.yaml       objects that must not exist
//	05-more/            a directory whose files are one step
//
// Both can only do what [Supported] lists. Expressions in parentheses need JMESPath and aren't
// supported, apart from names of bindings, such as ($namespace).
//
// # Safety
//
// Scenarios come with a clone. They are read through an [fs.FS], whose root is the project, so no file outside of it is read.
package scenario
