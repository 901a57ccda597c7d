package scaffold

import (
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
	"github.com/operon-sdk/operon/templates"
)

// SetRelatedImage sets an environment variable of the manager to an image. An image of another repository, which may be a mirror, is
// kept; then kept is that image, and otherwise it is empty.
func SetRelatedImage(tree *worktree.Tree, variable, image string) (kept string, err error) {
	content, err := tree.ReadFile(project.ManagerFile)
	if errors.Is(err, fs.ErrNotExist) {
		return "", &MissingFileError{Path: project.ManagerFile, Markers: []string{"env"}}
	}
	if err != nil {
		return "", fmt.Errorf("reading %s: %w", project.ManagerFile, diag.Cause(err))
	}
	value := templates.YAML(image)
	if found := variableLine(variable).FindSubmatchIndex(content); found != nil {
		current := strings.Trim(string(content[found[4]:found[5]]), `"'`)
		if repositoryOf(current) != repositoryOf(image) {
			return current, nil
		}
		tree.WriteFile(project.ManagerFile, []byte(string(content[:found[4]])+value+string(content[found[5]:])), worktree.FileMode)
		return "", nil
	}
	return "", insertAll(tree, map[string]map[string]string{project.ManagerFile: {"env": "- name: " + variable + "\n  value: " + value + "\n"}})
}

// RemoveRelatedImage removes an environment variable with an image from the manager.
func RemoveRelatedImage(tree *worktree.Tree, variable string) {
	rewriteFile(tree, project.ManagerFile, func(content []byte) []byte {
		found := variableLine(variable).FindIndex(content)
		if found == nil {
			return content
		}
		return []byte(string(content[:found[0]]) + string(content[found[1]:]))
	})
}

// variableLine matches the lines of an environment variable with a value, which is the second group.
func variableLine(variable string) *regexp.Regexp {
	return regexp.MustCompile(`(?m)^([ \t]*- name: ` + regexp.QuoteMeta(variable) + `\r?\n[ \t]*value: )(\S+)[ \t]*\r?\n`)
}

// repositoryOf returns a reference without tag and digest.
func repositoryOf(ref string) string {
	ref, _, _ = strings.Cut(ref, "@")
	if i := strings.LastIndex(ref, ":"); i > strings.LastIndex(ref, "/") {
		ref = ref[:i]
	}
	return ref
}
