package vcs

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// harmlessSettings are settings of a repository that neither run programs nor change where git reads and writes, by section. A section with
// "*" is harmless as a whole. fixedSettings override core.hooksPath and core.fsmonitor.
func harmlessSettings() map[string][]string {
	return map[string][]string{
		"advice": {"*"}, "color": {"*"}, "status": {"*"},
		"core": {
			"repositoryformatversion", "filemode", "bare", "logallrefupdates", "ignorecase", "precomposeunicode", "symlinks", "autocrlf", "eol", "safecrlf",
			"longpaths", "quotepath", "sharedrepository", "untrackedcache", "sparsecheckout", "sparsecheckoutcone", "hookspath", "fsmonitor",
		},
		"remote": {"url", "pushurl", "fetch", "prune", "tagopt", "promisor", "partialclonefilter", "gh-resolved"},
		"branch": {"remote", "merge", "rebase", "pushremote", "description", "vscode-merge-base", "gh-merge-base", "github-pr-owner-number"},
		"user":   {"name", "email", "signingkey"}, "author": {"name", "email"}, "committer": {"name", "email"},
		"commit": {"gpgsign"}, "tag": {"gpgsign"}, "init": {"defaultbranch"}, "pull": {"rebase", "ff"}, "fetch": {"prune"},
		"push": {"default", "autosetupremote", "followtags"}, "merge": {"conflictstyle", "ff", "renamelimit"}, "diff": {"renames", "renamelimit", "algorithm"},
		"rerere": {"enabled"}, "gc": {"auto"}, "index": {"version"}, "feature": {"manyfiles"},
		"extensions": {"objectformat", "refstorage", "partialclone", "worktreeconfig"}, "submodule": {"url", "active"},
		"http": {"extraheader"}, "lfs": {"repositoryformatversion", "access"},
		// What is included is in the list of settings, too. A condition must not change with the branch.
		"include": {"path"}, "includeif": {"path"},
	}
}

// checkSetting returns the problem of a setting of a repository with its root, or an empty string. The section and the name of the key are
// in lower case.
func checkSetting(key, value, root string) string {
	section, rest, _ := strings.Cut(key, ".")
	name := rest[strings.LastIndex(rest, ".")+1:]
	subsection := strings.TrimSuffix(strings.TrimSuffix(rest, name), ".")
	names := harmlessSettings()[section]
	switch {
	case !slices.Contains(names, name) && !slices.Contains(names, "*"), section == "includeif" && !strings.HasPrefix(subsection, "gitdir"):
		return "can make git run programs or use other files"
	case section == "remote" && (name == "url" || name == "pushurl"):
		return checkURL(value, root)
	}
	return ""
}

var (
	transportHelper = lazyregexp.New(`^[A-Za-z0-9+.-]+::`)
	remoteURL       = lazyregexp.New(`^(?:https?|ssh|git|git\+ssh|ssh\+git)://[^-]`)
	scpURL          = lazyregexp.New(`^[^-/:\\][^/:\\]+:/?[^/]`)
)

// checkURL returns the problem of the URL of a remote repository. Hooks of a repository on this machine run when git pushes to it: it must not
// be part of the clone.
func checkURL(url, root string) string {
	switch file, isFile := strings.CutPrefix(url, "file://"); {
	case transportHelper.MatchString(url):
		return "names a program"
	case remoteURL.MatchString(url):
		return ""
	case isFile || filepath.IsAbs(url):
		if rel, err := filepath.Rel(root, filepath.FromSlash(file)); err == nil && rel != ".." && !strings.HasPrefix(rel, ".."+string(filepath.Separator)) {
			return "is a directory of the clone"
		}
		return ""
	case scpURL.MatchString(url):
		return ""
	}
	return "must be a URL or an absolute path"
}
