package scaffold

import (
	"bytes"
	"regexp"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
	"github.com/operon-sdk/operon/templates"
)

// imageVariable returns the manager's environment variable for the image of data's controller: the one that the manager's
// program passes to it, or the controller of data, which includes the group if another controller uses it.
func imageVariable(tree *worktree.Tree, data Data) string {
	variable := data.Image.EnvVar
	main, err := tree.ReadFile(data.Project.MainFile())
	if err != nil {
		return variable
	}
	r := data.Resource
	reconciler := data.ControllerAlias() + "." + r.ReconcilerName + "Reconciler"
	setUp := regexp.MustCompile(`\b` + regexp.QuoteMeta(reconciler) + `\{[^}]*\bos\.Getenv\("(\w+_IMAGE)"\)`)
	if found := setUp.FindSubmatch(main); found != nil {
		return string(found[1])
	}
	prefix := strings.ToUpper(strings.NewReplacer("-", "_", ".", "_").Replace(r.Group)) + "_"
	for _, candidate := range []string{variable, prefix + variable, prefix + strings.ToUpper(r.Version) + "_" + variable} {
		if !bytes.Contains(main, []byte(`"`+candidate+`"`)) {
			return candidate
		}
	}
	return variable
}

// ReplaceImage updates the environment variable for data's image if its value is the old image. Other values are kept.
func ReplaceImage(tree *worktree.Tree, data Data, old string) {
	if err := data.Project.FindPaths(tree); err != nil {
		return // reported by CreateAPI
	}
	variable, image := imageVariable(tree, data), data.Image.Ref
	line := regexp.MustCompile(`(?m)^(\s*- name: ` + regexp.QuoteMeta(variable) + `\r?\n\s*value: )["']?` + regexp.QuoteMeta(old) + `["']?(\r?)$`)
	escaped := strings.ReplaceAll(templates.YAML(image), "$", "$$")
	rewriteFile(tree, project.ManagerFile, func(content []byte) []byte {
		return line.ReplaceAll(content, []byte("${1}"+escaped+"${2}"))
	})
}
