// Package merge merges three versions of a generated text: what the earlier generator wrote (the base), what the user
// made of it (ours), and what the current generator writes (theirs). It merges by units of the format, such as a field of
// YAML, a statement of Go, or a target of a Makefile, and needs only to know whether the base holds a unit, not its text.
//
// Parse splits a text into a tree of Nodes without losing a byte, Merge merges two trees against a Base, and Facts
// lists what a tree adds to a Base.
package merge
