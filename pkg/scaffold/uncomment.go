package scaffold

import (
	"bytes"
	"regexp"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

// enableCRDs uncomments the CRDs in config/default, which kubebuilder leaves commented out until the first API. Files
// that the user edited there are kept.
func enableCRDs(tree *worktree.Tree) {
	content, err := tree.ReadFile(project.DefaultKustomization)
	if err != nil {
		return
	}
	enabled := regexp.MustCompile(`(?m)^#\s?(- \.\./crd\r?)$`).ReplaceAll(content, []byte("$1"))
	if !bytes.Equal(enabled, content) {
		tree.WriteFile(project.DefaultKustomization, enabled, worktree.FileMode)
	}
}

// disableCRDs is the reverse of enableCRDs.
func disableCRDs(tree *worktree.Tree) {
	content, err := tree.ReadFile(project.DefaultKustomization)
	if err != nil {
		return
	}
	disabled := regexp.MustCompile(`(?m)^- \.\./crd\r?$`).ReplaceAll(content, []byte("#$0"))
	if !bytes.Equal(disabled, content) {
		tree.WriteFile(project.DefaultKustomization, disabled, worktree.FileMode)
	}
}
