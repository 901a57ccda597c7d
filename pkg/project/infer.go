package project

import (
	"errors"
	"fmt"
	"io/fs"
	"net/url"
	"path"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/spf13/afero"
	"golang.org/x/mod/modfile"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// InferRepo returns the Go module path for the directory dir (an absolute path): from its go.mod, from its path below a directory
// of gopath (the value of GOPATH, a list), or from the URL of the git remote, in this order. It only reads files. A go.mod that
// cannot be read is an error, because init would fail, too. remote is the URL, without credentials, if the path is from it.
func InferRepo(fsys afero.Fs, dir, gopath string) (repo, remote string, err error) {
	if repo, err := repoFromGoMod(fsys, dir); repo != "" || err != nil {
		return repo, "", err
	}
	if repo := repoFromGopath(dir, gopath); repo != "" {
		return repo, "", nil
	}
	remote, repo = repoFromGit(fsys, dir)
	if repo != "" && repoProblem(repo) == "" {
		return repo, remote, nil
	}
	cause := "the directory has no go.mod, is not below src in GOPATH, and has no git remote"
	if remote != "" {
		cause = fmt.Sprintf("the directory has no go.mod, and the git remote %q is not usable", remote)
	}
	return "", "", fmt.Errorf("%s; pass the Go module path, such as --repo github.com/example/%s", cause, exampleName(dir))
}

func exampleName(dir string) string {
	if name := suggestLabel(filepath.Base(dir)); name != "" {
		return name
	}
	return "memcached-operator"
}

func repoFromGoMod(fsys afero.Fs, dir string) (string, error) {
	const name = "go.mod"
	data, err := readRegular(fsys, filepath.Join(dir, name))
	if errors.Is(err, fs.ErrNotExist) {
		return "", nil
	}
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", name, diag.Cause(err))
	}
	file, err := modfile.ParseLax(name, data, nil)
	if err != nil {
		return "", GoModFinding(err, "correct the file, or remove it")
	}
	if file.Module == nil || file.Module.Mod.Path == "" {
		return "", diag.Finding{Position: diag.Position{File: name, Line: 1}, Problem: "there is no module line", Fix: "add one, or remove the file"}
	}
	return file.Module.Mod.Path, nil
}

// GoModFinding returns an error of modfile.Parse for go.mod as a finding at the first position.
func GoModFinding(err error, fix string) error {
	f := diag.Finding{Problem: err.Error(), Fix: fix, Err: err}
	if list, ok := errors.AsType[modfile.ErrorList](err); ok && len(list) > 0 {
		at := diag.Position{File: "go.mod", Line: list[0].Pos.Line, Column: list[0].Pos.LineRune}
		if at.Column == 1 {
			at.Column = 0 // modfile omits it
		}
		if problem, ok := strings.CutPrefix(f.Problem, at.String()+": "); ok {
			f.Position, f.Problem = at, problem
		}
	}
	return f
}

// readRegular reads a regular file. Pipes and devices are errors, as reading them might not end.
func readRegular(fsys afero.Fs, name string) ([]byte, error) {
	if info, err := fsys.Stat(name); err == nil && !info.IsDir() && !info.Mode().IsRegular() {
		return nil, errors.New("it is not a regular file; move it away")
	}
	return safeyaml.ReadFile(fsys, name, safeyaml.MaxSize)
}

func repoFromGopath(dir, gopath string) string {
	for _, entry := range filepath.SplitList(gopath) {
		if !filepath.IsAbs(entry) {
			continue
		}
		rel, err := filepath.Rel(filepath.Join(entry, "src"), dir)
		if err != nil {
			continue
		}
		if rel = filepath.ToSlash(rel); repoProblem(rel) == "" {
			return rel
		}
	}
	return ""
}

// repoFromGit returns the URL of the remote of the work tree, and the module path of that URL and the path of dir in the work
// tree.
func repoFromGit(fsys afero.Fs, dir string) (remote, repo string) {
	for at := filepath.Clean(dir); ; {
		if config := gitConfig(fsys, filepath.Join(at, ".git")); config != nil {
			remote = remoteURL(string(config))
			if repo = remotePath(remote); repo != "" {
				if rel, err := filepath.Rel(at, dir); err == nil {
					repo = path.Join(repo, filepath.ToSlash(rel))
				}
			}
			return withoutCredentials(remote), repo
		}
		parent := filepath.Dir(at)
		if parent == at {
			return "", ""
		}
		at = parent
	}
}

// gitConfig reads the configuration of a repository. In worktrees and submodules, .git is a file with the line "gitdir: PATH", and
// the git directory of a worktree has a file commondir with the path of the main one.
func gitConfig(fsys afero.Fs, git string) []byte {
	if info, err := fsys.Stat(git); err != nil {
		return nil
	} else if !info.IsDir() {
		data, err := readRegular(fsys, git)
		if err != nil {
			return nil
		}
		target, ok := strings.CutPrefix(strings.TrimSpace(string(data)), "gitdir:")
		if !ok {
			return nil
		}
		git = resolve(filepath.Dir(git), strings.TrimSpace(target))
		if common, err := readRegular(fsys, filepath.Join(git, "commondir")); err == nil {
			git = resolve(git, strings.TrimSpace(string(common)))
		}
	}
	data, err := readRegular(fsys, filepath.Join(git, "config"))
	if err != nil {
		return nil
	}
	return data
}

func resolve(base, target string) string {
	target = filepath.FromSlash(target)
	if filepath.IsAbs(target) {
		return target
	}
	return filepath.Join(base, target)
}

// remoteURL returns the URL of remote origin in a git configuration, or of the only remote.
func remoteURL(config string) string {
	urls := map[string]string{}
	remote := ""
	for line := range strings.Lines(config) {
		line = strings.TrimSpace(line)
		switch {
		case line == "", line[0] == '#', line[0] == ';':
		case line[0] == '[':
			remote = ""
			section := strings.TrimSpace(line[1:max(1, strings.LastIndexByte(line, ']'))])
			if kind, name, ok := strings.Cut(section, " "); ok && strings.EqualFold(kind, "remote") {
				remote = strings.Trim(strings.TrimSpace(name), `"`)
			}
		case remote != "":
			key, value, ok := strings.Cut(line, "=")
			if ok && strings.EqualFold(strings.TrimSpace(key), "url") && urls[remote] == "" {
				urls[remote] = gitValue(value)
			}
		}
	}
	if u := urls["origin"]; u != "" || len(urls) != 1 {
		return u
	}
	for _, u := range urls {
		return u
	}
	return ""
}

// gitValue parses a value of a git configuration, which is quoted or ends at a comment.
func gitValue(s string) string {
	s = strings.TrimSpace(s)
	if strings.HasPrefix(s, `"`) {
		if unquoted, err := strconv.QuotedPrefix(s); err == nil {
			s, _ = strconv.Unquote(unquoted)
			return s
		}
	}
	if i := strings.IndexAny(s, "#;"); i > 0 && (s[i-1] == ' ' || s[i-1] == '\t') {
		s = s[:i]
	}
	return strings.TrimSpace(s)
}

// remotePath converts a git URL to an import path: https://user@host:8443/owner/name.git, ssh://git@host:22/owner/name,
// git@host:owner/name.git. It returns "" for paths on disk.
func remotePath(address string) string {
	host, name := "", ""
	if strings.Contains(address, "://") {
		u, err := url.Parse(address)
		if err != nil || u.Scheme == "file" {
			return ""
		}
		host, name = u.Hostname(), u.Path
	} else if before, after, ok := strings.Cut(address, ":"); ok {
		host, name = before[strings.LastIndexByte(before, '@')+1:], after
		// As in git, C:\work and ./a:b are paths.
		if strings.ContainsAny(before, `/\`) || len(before) < 2 || strings.HasPrefix(after, `\`) {
			return ""
		}
	}
	name = strings.Trim(strings.TrimSuffix(strings.Trim(name, "/"), ".git"), "/")
	if host == "" || name == "" || strings.HasPrefix(name, "~") {
		return ""
	}
	return strings.ToLower(host) + "/" + name
}

// withoutCredentials returns a URL without credentials, for messages.
func withoutCredentials(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
}
