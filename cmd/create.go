package cmd

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/pkg/codegen"
	"github.com/operon-sdk/operon/pkg/gotool"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/scaffold"
	"github.com/operon-sdk/operon/pkg/worktree"
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
	f.StringVar(&o.ExternalPath, "external-api-path", "", "import `path` of types from another module")
	f.StringVar(&o.ExternalDomain, "external-api-domain", "", "`domain` of the group of such an API")
	f.StringVar(&o.ExternalModule, "external-api-module", "", "`module` of the types: path@v1.2.3, or path for the latest version")
}

// creation is what one of the create commands does in a tree.
type creation struct {
	// load reads PROJECT and refuses layouts that the command does not know.
	load func(*worktree.Tree) (*project.Config, error)
	// resolve validates the flags together and completes the resource that they name.
	resolve func(*project.Config) (project.Resource, error)
	// write scaffolds for the resource, and records what PROJECT keeps of it elsewhere. It returns a function that prints
	// notes and warnings, which is called once nothing can be refused any more.
	write func(tree *worktree.Tree, config *project.Config, r project.Resource, header string) (printNotes func(), err error)
	// module is --external-api-module.
	module string
	// generate are the generators that run afterwards, edit what a person does next.
	generate codegen.Generators
	edit     string
}

// create changes the project, and says what a person does next.
func (a *app) create(ctx context.Context, root string, c creation) error {
	var next string
	err := a.apply(ctx, root, func(tree *worktree.Tree) (err error) {
		next, err = a.createIn(ctx, tree, c)
		return err
	})
	if err != nil || a.dryRun {
		return err
	}
	a.nextf("%s", next)
	return nil
}

// createIn scaffolds for a resource, records it in PROJECT and brings go.mod and generated files up to date.
// It returns what a person does next.
func (a *app) createIn(ctx context.Context, tree *worktree.Tree, c creation) (string, error) {
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
	printNotes, err := c.write(tree, config, resource, header)
	if err != nil {
		return "", err
	}
	if err := config.UpdateResource(resource); err != nil {
		return "", err
	}
	tree.WriteFile(project.FileName, config.Bytes(), 0o644)
	vendored := tree.Exists(scaffold.VendorList)
	next, err := a.requireModules(ctx, tree, resource, c.module, c.generate != 0 || vendored)
	if err == nil {
		err = a.vendor(ctx, tree)
	}
	if err == nil && c.generate != 0 {
		err = a.generate(ctx, tree, c.generate)
	}
	missing, ok := errors.AsType[*gotool.MissingError](err)
	// Without modules, the vendor directory would not match go.mod.
	forbidden := ok && missing.Forbidden != "" && !vendored
	if err != nil && !forbidden {
		return "", err
	}
	printNotes()
	generate := fmt.Sprintf("'%s generate'", a.program)
	switch {
	case forbidden:
		a.warnf("code and manifests are not generated: %s, and %s forbids downloading them", missing.Problem(), missing.Forbidden)
		generate += " without " + missing.Forbidden
	case c.generate == 0 && next == "":
		generate += " for the code and manifests that --make=false left out"
	case next == "":
		next = c.edit
	}
	if next == "" {
		return generate, nil
	}
	return next + ", then " + generate, nil
}

// requireModules adds the module of an external API to go.mod and marks direct requirements. It returns the step that is
// left to the user, if any, also with an error. Without fetch it adds what module says and leaves the rest.
func (a *app) requireModules(ctx context.Context, tree *worktree.Tree, r project.Resource, module string, fetch bool) (next string, err error) {
	path, version, exact := strings.Cut(module, "@")
	if exact {
		if err := scaffold.AddRequirement(tree, path, version); err != nil {
			return "", err
		}
	}
	unresolved, err := scaffold.UpdateRequirements(tree)
	if err != nil {
		return "", err
	}
	if module != "" || len(unresolved) > 0 {
		next = fmt.Sprintf("'go get %s'", strings.TrimSpace(strings.Join(append(slices.Clone(unresolved), module), " ")))
	}
	lacking := r.External && slices.Contains(unresolved, r.Path)
	if !fetch || module == "" && !lacking {
		return next, nil
	}
	if lacking {
		if err := a.goTool().Get(ctx, tree, cmp.Or(module, r.Path)); err != nil {
			return next, err
		}
	}
	if err := a.goTool().Tidy(ctx, tree); err != nil {
		return next, err
	}
	return "", nil
}
