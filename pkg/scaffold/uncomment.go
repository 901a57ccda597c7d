package scaffold

import (
	"bytes"
	"regexp"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// enableCRDs makes config/default include the CRDs. kubebuilder leaves the line out as a comment until a
// project has its first API; files in which a person wrote something else stay as they are.
func enableCRDs(tree *worktree.Tree) {
	content, err := tree.ReadFile(overlay)
	if err != nil {
		return // a project without that overlay has nothing to enable
	}
	enabled := regexp.MustCompile(`(?m)^#\s?(- \.\./crd\r?)$`).ReplaceAll(content, []byte("$1"))
	if !bytes.Equal(enabled, content) {
		tree.WriteFile(overlay, enabled, worktree.FileMode)
	}
}

// disableCRDs is the reverse of enableCRDs.
func disableCRDs(tree *worktree.Tree) {
	content, err := tree.ReadFile(overlay)
	if err != nil {
		return
	}
	disabled := regexp.MustCompile(`(?m)^- \.\./crd\r?$`).ReplaceAll(content, []byte("#$0"))
	if !bytes.Equal(disabled, content) {
		tree.WriteFile(overlay, disabled, worktree.FileMode)
	}
}
