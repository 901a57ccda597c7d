package scaffold

import (
	"path"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

const dockerfile = "Dockerfile"

// copyLine is the instruction that copies the webhooks into the build stage of a Dockerfile that copies each directory
// separately, as kubebuilder's do before v4.3.
const copyLine = "COPY internal/webhook/ internal/webhook/"

// copyWebhooks adds copyLine to the Dockerfile after the line for the controllers, unless another line covers it.
func copyWebhooks(tree *worktree.Tree, p Project) {
	content, err := tree.ReadFile(dockerfile)
	if err != nil {
		return
	}
	lines := strings.SplitAfter(string(content), "\n")
	copies := func(dirs ...string) int {
		return slices.IndexFunc(lines, func(line string) bool {
			words := strings.Fields(line)
			return len(words) == 3 && words[0] == "COPY" && slices.Contains(dirs, path.Clean(words[1]))
		})
	}
	at := copies(p.ControllerDir())
	if at < 0 || copies(".", "internal", project.WebhookDir) >= 0 {
		return
	}
	end := lineEnd(lines[at])
	if end == "" {
		end = "\n"
		lines[at] += end
	}
	tree.WriteFile(dockerfile, []byte(strings.Join(slices.Insert(lines, at+1, copyLine+end), "")), worktree.FileMode)
}

// dropCopy removes copyLine from the Dockerfile if no webhooks remain.
func dropCopy(tree *worktree.Tree) error {
	names, err := tree.Walk(project.WebhookDir, nil)
	if err != nil || len(names) > 0 {
		return err
	}
	rewriteFile(tree, dockerfile, func(content []byte) []byte {
		lines := strings.SplitAfter(string(content), "\n")
		lines = slices.DeleteFunc(lines, func(line string) bool { return strings.TrimSpace(line) == copyLine })
		return []byte(strings.Join(lines, ""))
	})
	return nil
}
