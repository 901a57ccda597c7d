package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
)

func newCreate(a *app) *cobra.Command {
	c := &cobra.Command{
		Use:   "create",
		Short: "Add an API or webhooks to the project",
		Example: fmt.Sprintf(`  %[1]s create api --group cache --version v1alpha1 --kind Memcached --resource --controller
  %[1]s create webhook --group cache --version v1alpha1 --kind Memcached --defaulting`, a.program),
		Args: noArgs,
		RunE: showHelp,
	}
	c.AddCommand(newCreateAPI(a), newCreateWebhook(a))
	return c
}

// addExternal adds the flags about APIs whose types another module defines.
func addExternal(f *pflag.FlagSet, o *project.ResourceOptions) {
	f.StringVar(&o.ExternalPath, "external-api-path", "", "import `path` of types that another module defines")
	f.StringVar(&o.ExternalDomain, "external-api-domain", "", "`domain` of such an API's group")
	f.StringVar(&o.ExternalModule, "external-api-module", "", "`module` that holds the types, with its version: path@v1.2.3")
}

// creation is what one of the create commands does in a tree.
type creation struct {
	// load reads PROJECT and refuses layouts that the command does not know.
	load func(*scaffold.Tree) (*project.Config, error)
	// resolve validates the flags together and completes the resource that they name.
	resolve func(*project.Config) (project.Resource, error)
	// write scaffolds for the resource, and records what PROJECT keeps of it elsewhere. Its notes are
	// printed once nothing can be refused any more.
	write func(tree *scaffold.Tree, config *project.Config, r project.Resource, header string) (notes []string, err error)
	// module is --external-api-module.
	module string
	// generate are the generators that run afterwards, edit what a person does next.
	generate codegen.Generators
	edit     string
}

// create changes the project, and says what a person does next.
func (a *app) create(ctx context.Context, root string, c creation) error {
	var next string
	err := a.apply(ctx, root, func(tree *scaffold.Tree) (err error) {
		next, err = a.createIn(ctx, tree, c)
		return err
	})
	if err != nil || a.dryRun {
		return err
	}
	a.progressf("next: %s", next)
	return nil
}

// createIn scaffolds for a resource, records it in PROJECT and brings go.mod and generated files up to date.
// It returns what a person does next.
func (a *app) createIn(ctx context.Context, tree *scaffold.Tree, c creation) (string, error) {
	config, err := c.load(tree)
	if err != nil {
		return "", err
	}
	resource, err := c.resolve(config)
	if err != nil {
		return "", err
	}
	header, err := a.boilerplate(tree)
	if err != nil {
		return "", err
	}
	notes, err := c.write(tree, config, resource, header)
	if err != nil {
		return "", err
	}
	if err := config.UpdateResource(resource); err != nil {
		return "", err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	next, err := a.requireModules(ctx, tree, c.module, c.generate != 0)
	if err != nil {
		return "", err
	}
	for _, note := range notes {
		a.progressf("%s", note)
	}
	return a.generateNew(ctx, tree, c.generate, next, c.edit)
}

// requireModules updates go.mod and adds the external module, if there is one. Without tidy, and where no module that
// is known provides an import, it returns the next step instead.
func (a *app) requireModules(ctx context.Context, tree *scaffold.Tree, external string, tidy bool) (string, error) {
	if path, version, ok := strings.Cut(external, "@"); ok {
		if err := scaffold.AddRequirement(tree, path, version); err != nil {
			return "", err
		}
	}
	unresolved, err := scaffold.UpdateRequirements(tree)
	if err != nil {
		return "", err
	}
	if external != "" && tidy {
		return "", a.goTool().Tidy(ctx, tree)
	}
	if external != "" || len(unresolved) > 0 {
		what := append(slices.Clone(unresolved), external)
		return fmt.Sprintf("'go get %s', then '%s generate'", strings.TrimSpace(strings.Join(what, " ")), a.program), nil
	}
	return "", nil
}

// generateNew generates code for what is new and returns the next step.
func (a *app) generateNew(ctx context.Context, tree *scaffold.Tree, what codegen.Generators, next, edit string) (string, error) {
	if what == 0 {
		if next == "" {
			next = fmt.Sprintf("'%s generate' for the code and manifests that --make=false left out", a.program)
		}
		return next, nil
	}
	if err := a.generate(ctx, tree, what); err != nil {
		return "", err
	}
	if next == "" {
		next = fmt.Sprintf("%s, then '%s generate'", edit, a.program)
	}
	return next, nil
}
