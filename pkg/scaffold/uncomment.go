package scaffold

import (
	"bytes"
	"regexp"
)

// enableCRDs makes config/default include the CRDs. kubebuilder leaves the line out as a comment until a
// project has its first API; files in which a person wrote something else stay as they are.
func enableCRDs(tree *Tree) {
	const name = "config/default/kustomization.yaml"
	content, err := tree.ReadFile(name)
	if err != nil {
		return // a project without that overlay has nothing to enable
	}
	enabled := regexp.MustCompile(`(?m)^#\s?(- \.\./crd\r?)$`).ReplaceAll(content, []byte("$1"))
	if !bytes.Equal(enabled, content) {
		tree.WriteFile(name, enabled, fileMode)
	}
}
