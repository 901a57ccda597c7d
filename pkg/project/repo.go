package project

import (
	"errors"
	"slices"
	"strings"

	"golang.org/x/mod/module"

	"github.com/operon-sdk/operon/pkg/diag"
)

// CheckRepo validates --repo: a Go module path. As for go mod init, its first part needs no dot, unless it is one of the standard
// library.
func CheckRepo(repo string) diag.Findings {
	const field = "--repo"
	problem := repoProblem(repo)
	if problem == "" {
		return nil
	}
	suggestion := suggestRepo(repo)
	if repoProblem(suggestion) != "" {
		suggestion = ""
	}
	return one(field, repo, problem, suggestion)
}

// repoProblem returns why a text is not a Go module path, or "".
func repoProblem(repo string) string {
	switch {
	case repo == "":
		return required + ": the path of the Go module, such as github.com/example/memcached-operator"
	case strings.Contains(repo, "://"):
		return "must be a Go module path, not a URL"
	case strings.HasPrefix(repo, "git@"):
		return "must be a Go module path, not a git URL"
	case strings.ContainsAny(repo, " \t"):
		return "must not contain spaces"
	case strings.HasPrefix(repo, "/"), strings.HasPrefix(repo, "./"), strings.HasPrefix(repo, "../"):
		return "must be a Go module path, not a path on disk"
	case strings.HasSuffix(repo, ".git"):
		return "must be a Go module path, without .git at the end"
	}
	first, _, _ := strings.Cut(repo, "/")
	if strings.Contains(first, ".") {
		if err := module.CheckPath(repo); err != nil {
			return pathProblem(repo, err)
		}
		return ""
	}
	if err := module.CheckImportPath(repo); err != nil {
		return pathProblem(repo, err)
	}
	if _, _, ok := module.SplitPathVersion(repo); !ok {
		return versionSuffixProblem
	}
	if slices.Contains(standardPackages, first) {
		return "must not start with " + first + ", which is reserved by Go"
	}
	return ""
}

const versionSuffixProblem = "must not end in that version: a module path ends in /v2 or later, or without version"

// pathProblem returns the problem of a path that package module rejects.
func pathProblem(repo string, err error) string {
	if invalid, ok := errors.AsType[*module.InvalidPathError](err); ok {
		err = invalid.Err
	}
	if err.Error() == "invalid version" {
		if strings.HasPrefix(repo, "gopkg.in/") {
			return "must end in a version, as in gopkg.in/name.v1"
		}
		return versionSuffixProblem
	}
	return "is not a valid Go module path: " + err.Error()
}

// suggestRepo returns the module path that a repository URL or an invalid path probably means.
func suggestRepo(s string) string {
	s = strings.TrimSpace(s)
	if path := remotePath(s); path != "" {
		s = path
	}
	s = strings.TrimSuffix(strings.ReplaceAll(s, " ", "-"), ".git")
	var parts []string
	for part := range strings.SplitSeq(s, "/") {
		if part != "" && strings.Trim(part, ".") != "" {
			parts = append(parts, part)
		}
	}
	if n := len(parts); n > 1 && !strings.HasPrefix(s, "gopkg.in/") {
		if _, _, ok := module.SplitPathVersion(strings.Join(parts, "/")); !ok {
			parts = parts[:n-1]
		}
	}
	return strings.Join(parts, "/")
}

// standardPackages are the first parts of import paths of the standard library, and words that are patterns of the go command. It
// is constant.
var standardPackages = []string{
	"all", "archive", "bufio", "builtin", "bytes", "cmd", "cmp", "compress", "container", "context", "crypto",
	"database", "debug", "embed", "encoding", "errors", "expvar", "flag", "fmt", "go", "hash", "html", "image", "index",
	"internal", "io", "iter", "log", "main", "maps", "math", "mime", "net", "os", "path", "plugin", "reflect", "regexp",
	"runtime", "simd", "slices", "sort", "std", "strconv", "strings", "structs", "sync", "syscall", "testing", "text",
	"time", "tool", "unicode", "unique", "unsafe", "vendor", "weak",
}
