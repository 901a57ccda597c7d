// Package merge merges three versions of a generated text: the one of the earlier generator (the base), the user's
// (ours), and the one of the current generator (theirs). It merges by units of the format, such as a field of YAML, a
// statement of Go, or a target of a Makefile. Of the base, only the set of its units is needed, not its text.
//
// Parse splits a text into a tree of Nodes without losing a byte, MergeFile merges two texts against a Base, and FileFacts
// returns the facts of a text for a Base.
package merge
