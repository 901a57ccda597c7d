package runner

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// collectionRole matches NAMESPACE.COLLECTION.ROLE; Ansible allows subdirectories of roles.
var collectionRole = lazyregexp.New(`^[a-zA-Z_]\w*(\.[a-zA-Z_]\w*){2,}$`)

// FindRole returns the absolute path of a role, or its name if it is a role of a collection, which Ansible finds. It searches each
// of rolesPaths, then the directory roles in each, then the directory roles in dir, as operator-sdk does. The error lists the
// directories.
func FindRole(name string, rolesPaths []string, dir string) (string, error) {
	if filepath.IsAbs(name) {
		if !isDir(name) {
			return "", fmt.Errorf("role %q: directory not found", name)
		}
		return filepath.Clean(name), nil
	}
	if name == "" || !filepath.IsLocal(name) {
		return "", fmt.Errorf("role %q: must be the name of a role, NAMESPACE.COLLECTION.ROLE or an absolute path", name)
	}
	var candidates []string
	for _, path := range rolesPaths {
		if path == "" {
			continue
		}
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		candidates = append(candidates, filepath.Join(path, name), filepath.Join(path, "roles", name))
	}
	candidates = append(candidates, filepath.Join(dir, "roles", name))
	for _, candidate := range candidates {
		if isDir(candidate) {
			return filepath.Abs(candidate)
		}
	}
	if collectionRole.MatchString(name) {
		return name, nil
	}
	return "", fmt.Errorf("role %q: not found in %s; set ANSIBLE_ROLES_PATH", name, strings.Join(candidates, ", "))
}

func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

// command returns the command line of ansible-runner.
func (r *Runner) command(dir, ident string, request Request) ([]string, error) {
	keep := max(request.MaxArtifacts, 0) // 0 disables the rotation of ansible-runner
	if request.MaxArtifacts == 0 {
		keep = defaultMaxArtifacts
	}
	argv := []string{r.env.runner, "run", dir, "--rotate-artifacts", fmt.Sprint(keep), "--ident", ident, "--quiet"}
	switch {
	case request.Playbook != "":
		if !filepath.IsAbs(request.Playbook) {
			return nil, fmt.Errorf("playbook %q: must be an absolute path", request.Playbook)
		}
		if _, err := os.Stat(request.Playbook); err != nil {
			return nil, fmt.Errorf("playbook: %w", err)
		}
		argv = append(argv, "-p", request.Playbook)
	case request.Role != "":
		// The option replaces ANSIBLE_ROLES_PATH, where dependencies of the role are.
		name, paths := request.Role, r.env.values["ANSIBLE_ROLES_PATH"]
		if filepath.IsAbs(name) {
			paths = strings.TrimSuffix(filepath.Dir(name)+string(filepath.ListSeparator)+paths, string(filepath.ListSeparator))
			name = filepath.Base(name)
		}
		argv = append(argv, "--role", name, "--hosts", "localhost")
		if paths != "" {
			argv = append(argv, "--roles-path", paths)
		}
		if r.env.values["ANSIBLE_GATHERING"] == "explicit" {
			argv = append(argv, "--role-skip-facts")
		}
	default:
		return nil, fmt.Errorf("%s: a playbook or a role is required", request.GVK)
	}
	if request.Verbosity > 0 {
		argv = append(argv, "-"+strings.Repeat("v", min(request.Verbosity, 7)))
	}
	return argv, nil
}
