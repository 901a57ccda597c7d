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

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// InferRepo finds the Go module path for the folder dir (an absolute path), for people who give no --repo:
// from its go.mod, from its place below a folder of gopath (GOPATH's value, a list), or from the address
// of the git remote, in that order. It reads files only. A go.mod that cannot be read is an error, not
// passed over, since init would meet it again.
func InferRepo(fsys afero.Fs, dir, gopath string) (string, error) {
	if repo, err := repoFromGoMod(fsys, dir); repo != "" || err != nil {
		return repo, err
	}
	if repo := repoFromGopath(dir, gopath); repo != "" {
		return repo, nil
	}
	remote, repo := repoFromGit(fsys, dir)
	if repo != "" && repoProblem(repo) == "" {
		return repo, nil
	}
	cause := "there is no go.mod here, the folder is not below GOPATH's src, and there is no git remote"
	if remote != "" {
		cause = fmt.Sprintf("there is no go.mod here, and the git remote %q gives none", remote)
	}
	return "", fmt.Errorf("the Go module path is not known: %s; name it with --repo, such as --repo github.com/example/%s", cause, exampleName(dir))
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
		return "", fmt.Errorf("reading %s: %w", name, reason(err))
	}
	file, err := modfile.ParseLax(name, data, nil)
	if err != nil {
		return "", fmt.Errorf("%w; correct the file, or remove it", err)
	}
	if file.Module == nil || file.Module.Mod.Path == "" {
		return "", errors.New("go.mod:1: there is no module line; add one, or remove the file")
	}
	return file.Module.Mod.Path, nil
}

// readRegular reads a file, and refuses pipes and devices, which might never end.
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

// repoFromGit returns the address of the work tree's remote and the module path it gives, with the path of
// dir inside the work tree behind it.
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

// gitConfig reads the configuration of the repository that .git is, or leads to: in a worktree or a
// submodule it is a file with the line "gitdir: PATH", and a worktree's folder names the main one in commondir.
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

// remoteURL returns the address of the remote origin in a git configuration, or of the only remote there is.
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

// gitValue reads a value of a git configuration: quoted, or up to a comment.
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

// remotePath turns a git address into an import path: https://user@host:8443/owner/name.git,
// ssh://git@host:22/owner/name, git@host:owner/name.git. It is empty for paths on disk.
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
		// C:\work and ./a:b are paths, as git has it.
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

// withoutCredentials makes an address fit to be shown.
func withoutCredentials(address string) string {
	scheme, rest, ok := strings.Cut(address, "://")
	if !ok {
		return address
	}
	host, path, _ := strings.Cut(rest, "/")
	return scheme + "://" + host[strings.LastIndexByte(host, '@')+1:] + "/" + path
}
