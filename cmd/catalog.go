package cmd

import (
	"fmt"
	"path/filepath"

	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/bundle/catalog"
	"github.com/operon-sdk/operon/pkg/diag"
)

func newCatalog(a *app) *cobra.Command {
	return a.commandGroup("catalog", "Validate and draw file-based catalogs",
		"  %s catalog validate catalog", newCatalogValidate(a), newCatalogGraph(a))
}

func newCatalogValidate(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "validate DIR",
		Short: "Validate a file-based catalog",
		Long: `Validate a directory of file-based catalogs by the rules of 'opm validate', and list all problems
with file and line: packages, channels with their upgrades, and bundles. The exit code is 1 if there
are problems, and 2 for wrong usage. Fields that OLM doesn't support are warnings.`,
		Example: fmt.Sprintf("  %s catalog validate catalog", a.program),
		Args:    oneDirectory,
		RunE: func(c *cobra.Command, args []string) error {
			loaded, problems, err := loadCatalog(a.print, args[0])
			if err != nil {
				return err
			}
			problems = append(problems, loaded.Check()...)
			var lines []string
			first, rest := diag.Shorten(problems, "finding")
			for _, problem := range first {
				lines = append(lines, diag.Continue(problem.Error()))
			}
			for _, line := range append(lines, rest...) {
				if _, err := fmt.Fprintln(a.print.TextOut(), line); err != nil {
					return err
				}
			}
			a.print.Shortened(loaded.Warnings())
			if len(problems) > 0 {
				return fmt.Errorf("%s has %s", args[0], diag.Count(len(problems), "problem"))
			}
			a.print.Progressf("%s is valid", args[0])
			return nil
		},
	}
}

func newCatalogGraph(a *app) *cobra.Command {
	var output string
	c := &cobra.Command{
		Use:   "graph DIR",
		Short: "Draw the upgrade graph of a file-based catalog",
		Long: `Draw which bundle upgrades to which in every channel of a file-based catalog: as text for a
terminal, or as a Mermaid flowchart for GitHub, GitLab and other sites that render it. A catalog
with problems is drawn too, and the problems are listed on stderr.`,
		Example: fmt.Sprintf(`  %[1]s catalog graph catalog
  %[1]s catalog graph catalog -o mermaid > upgrades.mmd`, a.program),
		Args: oneDirectory,
		RunE: func(c *cobra.Command, args []string) error {
			if err := checkChoice("--output", output, "text", "mermaid").Err(); err != nil {
				return err
			}
			loaded, problems, err := loadCatalog(a.print, args[0])
			if err != nil {
				return err
			}
			if len(problems) > 0 {
				return problems
			}
			graph := loaded.Text()
			if output == "mermaid" {
				if graph, err = loaded.Mermaid(); err != nil {
					return err
				}
			}
			a.print.Shortened(loaded.Check())
			_, err = fmt.Fprint(a.print.TextOut(), graph)
			return err
		},
	}
	choiceVar(c, &output, "output", "o", "text", "output format", "text", "mermaid")
	return c
}

// oneDirectory accepts the directory of a catalog as the only argument.
func oneDirectory(c *cobra.Command, args []string) error {
	if len(args) != 1 {
		return usagef(c, "%s takes the directory of one catalog, but got %d arguments", c.CommandPath(), len(args))
	}
	return nil
}

// loadCatalog reads the catalog in a directory, with its problems.
func loadCatalog(p *output.Printer, name string) (*catalog.Catalog, diag.Findings, error) {
	abs := p.Absolute(name)
	info, err := p.FS.Stat(abs)
	if err != nil || !info.IsDir() {
		return nil, nil, diag.Usage(fmt.Errorf("%s: no such directory", name))
	}
	loaded, problems := catalog.Load(afero.NewIOFS(afero.NewBasePathFs(p.FS, abs)), filepath.ToSlash(name))
	if loaded.Empty() && len(problems) == 0 {
		return nil, nil, fmt.Errorf("%s has no catalog; generate one with '%s generate catalog'", name, p.Program)
	}
	return loaded, problems, nil
}
