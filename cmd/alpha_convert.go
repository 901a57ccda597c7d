package cmd

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/worktree"
)

func newConvertAlpha(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "config-3alpha-to-3",
		Short: "Convert a PROJECT file of version 3-alpha to version 3",
		Long: `Convert the PROJECT file of a project that operator-sdk 1.0 to 1.2 created to version 3. What the
old format does not record is read from the code: which resources have a controller, which are
namespaced, and which webhooks they have. Nothing else changes. A file of version 3 is left as it
is.`,
		Example: fmt.Sprintf(`  %[1]s alpha config-3alpha-to-3 --dry-run
  %[1]s alpha config-3alpha-to-3`, a.program),
		Args: noArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			root, err := a.projectRoot()
			if err != nil {
				return err
			}
			if done, err := a.settle(c.Context(), root); done || err != nil {
				return err
			}
			same := false
			err = a.apply(c.Context(), root, func(tree *worktree.Tree) error {
				text, err := tree.ReadFile(project.FileName)
				if err != nil {
					return fmt.Errorf("reading %s: %w", project.FileName, reason(err))
				}
				converted, err := project.ConvertAlpha(text, func(dir, kind string) (project.AlphaFacts, error) { return alphaFacts(tree, dir, kind) })
				if err != nil {
					return err
				}
				same = bytes.Equal(text, converted)
				tree.WriteFile(project.FileName, converted, 0o644)
				return nil
			})
			if err == nil && same {
				a.progressf("%s is of version 3 already, nothing was changed", project.FileName)
			}
			return err
		},
	}
}

// alphaFacts reads from the code of a kind what PROJECT did not say in version 3-alpha.
func alphaFacts(tree *worktree.Tree, dir, kind string) (project.AlphaFacts, error) {
	stem := strings.ToLower(kind)
	controllers := "controllers"
	if strings.HasPrefix(dir, "apis/") {
		controllers = path.Join(controllers, path.Base(path.Dir(dir)))
	}
	facts := project.AlphaFacts{Controller: tree.Exists(path.Join(controllers, stem+"_controller.go")), Namespaced: true}
	for _, name := range []string{stem + "_types.go", stem + "_webhook.go"} {
		text, err := tree.ReadFile(path.Join(dir, name))
		if errors.Is(err, fs.ErrNotExist) {
			continue
		}
		if err != nil {
			return facts, fmt.Errorf("reading %s: %w", path.Join(dir, name), reason(err))
		}
		for line := range strings.Lines(string(text)) {
			marker, isMarker := strings.CutPrefix(strings.TrimSpace(strings.TrimPrefix(strings.TrimSpace(line), "//")), "+kubebuilder:resource:")
			if isMarker && strings.Contains(marker, "scope=Cluster") {
				facts.Namespaced = false
			}
			method := strings.HasPrefix(line, "func (") && strings.Contains(line, "*"+kind+")")
			facts.Defaulting = facts.Defaulting || method && strings.Contains(line, ") Default()")
			facts.Validation = facts.Validation || method && strings.Contains(line, ") ValidateCreate()")
		}
	}
	return facts, nil
}
