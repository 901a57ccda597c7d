package scaffold

import (
	"regexp"
	"strings"
)

// managerFile is the manifest of the manager's Deployment.
const managerFile = "config/manager/manager.yaml"

// ReplaceImage makes the manager's environment variable name a new image where it names the old one. A
// value that a person chose stays.
func ReplaceImage(tree *Tree, variable, old, image string) {
	content, err := tree.ReadFile(managerFile)
	if err != nil {
		return // a project without the manifest has no variable to change
	}
	line := regexp.MustCompile(`(?m)^(\s*- name: ` + regexp.QuoteMeta(variable) + `\r?\n\s*value: )["']?` + regexp.QuoteMeta(old) + `["']?(\r?)$`)
	escaped := strings.ReplaceAll(image, "$", "$$")
	tree.WriteFile(managerFile, line.ReplaceAll(content, []byte("${1}"+escaped+"${2}")), fileMode)
}
