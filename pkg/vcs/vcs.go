// Package vcs recognizes the directories in which version control systems keep their state. Operon never writes to them: what is in
// them runs, such as git's hooks, and core.fsmonitor of its config with every "git status". A Git runs git without running that.
package vcs

import (
	"slices"
	"strings"
)

// Element returns the first element of a path that names the directory of a version control system, or an empty string. Elements are
// separated by slashes or backslashes.
func Element(path string) string {
	for element := range strings.FieldsFuncSeq(path, func(r rune) bool { return r == '/' || r == '\\' }) {
		if isDirectory(element) {
			return element
		}
	}
	return ""
}

// isDirectory reports whether a file system can treat a name as such a directory's: NTFS and HFS+ ignore the case, NTFS
// trailing dots and spaces and what follows a colon, and it has short names such as GIT~1. HFS+ ignores some code points.
func isDirectory(name string) bool {
	name = strings.Map(func(r rune) rune {
		if isIgnorable(r) {
			return -1
		}
		return r
	}, name)
	name, _, _ = strings.Cut(name, ":")
	name = strings.TrimRight(name, ". ")
	if short, number, ok := strings.Cut(name, "~"); ok && number != "" && strings.Trim(number, "0123456789") == "" {
		name = "." + short
	}
	return slices.ContainsFunc([]string{".git", ".hg", ".svn", ".bzr", ".jj"}, func(dir string) bool { return strings.EqualFold(dir, name) })
}

// isIgnorable reports whether HFS+ ignores a code point in names, according to Apple's technical note TN1150.
func isIgnorable(r rune) bool {
	switch {
	case r >= 0x200c && r <= 0x200f, r >= 0x202a && r <= 0x202e, r >= 0x206a && r <= 0x206f, r == 0xfeff:
		return true
	}
	return false
}
