// Package merge merges generated files in three ways: what an earlier generator wrote (the base), what the user made of
// it (ours), and what the current generator writes (theirs).
//
// # Units
//
// Parse splits a text into a tree of Nodes without losing a byte. A node is a unit of the format: an object, field or list
// item of YAML, a declaration or statement of Go, a rule or variable of a makefile, an instruction of a Dockerfile, a line of an
// ignore file. Its Key identifies it among its siblings in all three versions, so a unit that moved or got new neighbors
// is still recognized. Comments and blank lines before a unit are its Lead and go where the unit goes.
//
// A commented-out entry is a unit too (Off). On is its enabled form, so that a user's choice to enable or disable an entry of the
// scaffold is not an edit of the lines around it.
//
// # Facts instead of a base text
//
// The text of the base is usually gone, and a copy of every release's scaffold would be large. All that a merge asks of the base
// is whether it contained a certain unit with certain lines. Such a statement is a Fact: a path of keys, a Part and lines. A
// Base is a set of facts; pkg/migrate stores it as hashes. FileFacts returns the facts of a text.
//
// # Decisions
//
// MergeFile walks ours and theirs together:
//
//   - A unit of ours that the base contains with the same lines is unedited: it takes the form of theirs, or goes away if theirs no
//     longer has it.
//   - A unit that only the user has, or whose form in theirs the base contains already, is kept.
//   - A unit that only theirs has is added, unless the base contains it: then the user removed it.
//   - A unit that both sides changed is a conflict: Options.Side decides, or both forms are written between markers. If
//     Options.IsChoice says so, the user's form is kept without a conflict.
//
// Result reports conflicts, choices and kept units, and whether ours was edited at all. Lines merges by lines for formats without units,
// which does need the text of the base.
package merge
