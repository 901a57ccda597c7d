// Package worktree changes a project's files as one transaction: all of a command's changes, or none.
//
// # The tree
//
// A Tree is an overlay of changes over the files on disk. A command reads and writes through it, so it sees its own changes, and nothing is
// on disk until Commit. --dry-run prints the tree's changes as a diff instead of committing them. The tree reads each file once and
// remembers its content; Commit fails with a ChangedError if another program changed one of them since.
//
// # A transaction
//
// Every command that changes a project goes through these steps:
//
//  1. Begin takes the project's lock, and undoes what a killed command left. A second command waits.
//  2. The command changes the Tree of the Transaction.
//  3. Commit checks all changes, stages new files and saves old ones in a directory of .operon/txn, completes the journal, and renames the
//     staged files into place. Renaming the journal completes the transaction.
//
// After kill -9 at any point, either the files are unchanged, or the journal exists and the next command's Recover restores them.
// Files that the user edited in between are kept and reported. Nothing is synced to disk, so a power failure isn't covered.
//
// # What is trusted
//
// The files of a project may come with a clone, so they don't decide what a command does: the lock and the journal are in the
// user's state directory (pkg/userstate), and the journal names the transaction's directory by a random ID. All paths are opened below the
// project's root without following links out of it, and never in a version control directory (pkg/vcs).
//
// # Commands that only read
//
// They take no lock and undo nothing. Those that depend on intact files fail if a journal exists, and name the interrupted command.
package worktree
