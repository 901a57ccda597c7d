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
	rewriteFile(tree, project.DefaultKustomization, func(content []byte) []byte {
		return regexp.MustCompile(`(?m)^#\s?(- \.\./crd\r?)$`).ReplaceAll(content, []byte("$1"))
	})
}

// disableCRDs is the reverse of enableCRDs.
func disableCRDs(tree *worktree.Tree) {
	rewriteFile(tree, project.DefaultKustomization, func(content []byte) []byte {
		return regexp.MustCompile(`(?m)^- \.\./crd\r?$`).ReplaceAll(content, []byte("#$0"))
	})
}

// rewriteFile changes the content of a file, unless it does not exist or cannot be read.
func rewriteFile(tree *worktree.Tree, name string, change func([]byte) []byte) {
	content, err := tree.ReadFile(name)
	if err != nil {
		return
	}
	if changed := change(content); !bytes.Equal(changed, content) {
		tree.WriteFile(name, changed, worktree.FileMode)
	}
}
