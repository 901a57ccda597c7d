package vcs

import "testing"

func TestElement(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		".git":                      ".git",
		".git/hooks/post-commit":    ".git",
		"charts/app/.GIT/config":    ".GIT",
		"a/git~1/config":            "git~1",
		"a/GIT~27":                  "GIT~27",
		"a/.git /x":                 ".git ",
		"a/.git. ./x":               ".git. .",
		"a/.git::$INDEX_ALLOCATION": ".git::$INDEX_ALLOCATION",
		"a/.g\u200cit/x":            ".g\u200cit",
		"\ufeff.git/x":              "\ufeff.git",
		`a\.git\hooks`:              ".git",
		".Hg/hgrc":                  ".Hg",
		"x/.ſvn/y":                  ".ſvn",
		"svn~1":                     "svn~1",
		".bzr":                      ".bzr",
		".jj/repo":                  ".jj",

		"":                     "",
		".gitignore":           "",
		".github/workflows/ci": "",
		"git/hooks":            "",
		"a.git/x":              "",
		"git~":                 "",
		"git~x":                "",
		"digit~1":              "",
		"..git":                "",
		"docs/.git-flow":       "",
	} {
		if got := Element(path); got != want {
			t.Errorf("Element(%q) = %q, want %q", path, got, want)
		}
	}
}
