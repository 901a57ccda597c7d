package cmd

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"text/tabwriter"

	apierrors "github.com/operator-framework/api/pkg/validation/errors"
	"github.com/spf13/afero"
	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/images"
	"github.com/operon-sdk/operon/cmd/internal/output"
	"github.com/operon-sdk/operon/pkg/bundle/validate"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/image"
)

// validateOptions are the flags of bundle validate.
type validateOptions struct {
	output, selector, imageBuilder, external, compat string
	values                                           []string
	strict, list                                     bool
	images.Registry
}

// categoriesVariable names a JSON file with categories that replace the standard ones.
const categoriesVariable = "OPERATOR_BUNDLE_CATEGORIES"

// operatorSDK is the program whose verdict --compat selects.
const operatorSDK = "operator-sdk"

// errInvalid is the error of a validation whose findings are printed.
var errInvalid = errors.New("not valid")

func newBundleValidate(a *app) *cobra.Command {
	var o validateOptions
	c := &cobra.Command{
		Use:   "validate DIR|IMAGE...",
		Short: "Validate bundles: files, metadata and manifests",
		Long: `Validate operator bundles: report everything that keeps OLM from installing them, and known causes
of later failures. Each finding names the file, the line, the field and the fix.

The exit code is 1 if a bundle has errors; warnings count only with --strict. Images are read
without Docker, from a registry, an OCI layout or a tarball.

Optional validators are selected by label; --list-optional lists them. Several bundles are validated
in parallel, and the results are printed in the order of the arguments.`,
		Example: fmt.Sprintf(`  # The bundle of this project:
  %[1]s bundle validate bundle

  # By the rules of OperatorHub.io, with warnings treated as errors:
  %[1]s bundle validate bundle --select-optional suite=operatorframework --strict

  # Against the APIs of a Kubernetes version:
  %[1]s bundle validate bundle --select-optional name=alpha-deprecated-apis --optional-values k8s-version=1.30

  # As SARIF for the code host, in CI:
  %[1]s bundle validate bundle -o sarif > bundle.sarif`, a.program),
		RunE: func(c *cobra.Command, args []string) error {
			if o.list {
				if err := new(validate.Options).Select(o.selector, o.values, a.Dir).Err(); err != nil {
					return err
				}
				return listOptional(a.print.TextOut())
			}
			return o.Within(c, func() error { return a.runBundleValidate(c, args, o) })
		},
	}
	f := c.Flags()
	choiceVar(c, &o.output, "output", "o", validate.Text, "output format", validate.Formats()...)
	f.StringVar(&o.selector, "select-optional", "", "label `selector` of optional validators to run, such as suite=operatorframework")
	f.StringArrayVar(&o.values, "optional-values", nil, "`key=value` pairs for optional validators: k8s-version, index-path, container-tools")
	f.BoolVar(&o.list, "list-optional", false, "list the optional validators and validate nothing")
	choiceVar(c, &o.imageBuilder, "image-builder", "b", "docker", "accepted for compatibility; images are read without such a tool", "docker", "podman", "none")
	f.StringVar(&o.external, "alpha-select-external", "", "`paths` of external validators, separated as in PATH")
	choiceVar(c, &o.compat, "compat", "", "", "give the verdict of this `program`, which accepts CRDs that API servers refuse: operator-sdk", operatorSDK)
	f.BoolVar(&o.strict, "strict", false, "treat warnings as errors")
	o.Registry.AddTo(f)
	return c
}

// listOptional prints the optional validators.
func listOptional(out io.Writer) error {
	w := tabwriter.NewWriter(out, 0, 4, 4, ' ', 0)
	fmt.Fprintln(w, "NAME\tLABELS\tDESCRIPTION")
	for _, optional := range validate.Optionals() {
		fmt.Fprintf(w, "%s\tname=%s\t%s\n", optional.Name, optional.Name, optional.Description)
		if optional.Suite != "" {
			fmt.Fprintf(w, "\tsuite=%s\t\n", optional.Suite)
		}
	}
	return w.Flush()
}

func (a *app) runBundleValidate(c *cobra.Command, args []string, o validateOptions) error {
	if len(args) == 0 {
		return usagef(c, "name the bundle's directory, as in '%s bundle'", c.CommandPath())
	}
	options, err := a.validateOptions(o)
	if err != nil {
		return err
	}
	if o.external != "" {
		options.External = func(ctx context.Context, shown string) ([]apierrors.ManifestResult, error) {
			return externalValidators(ctx, a.print, o.external, shown)
		}
	}
	var sources []func() validate.Source
	for _, arg := range args {
		sources = append(sources, func() validate.Source { return bundleSource(c.Context(), a.print, arg, o.Access(a.print)) })
	}
	w := validate.NewWriter(a.print.As(o.output), o.output)
	failed := 0
	var unread []error
	err = validate.Bundles(c.Context(), sources, options, func(r validate.Result) error {
		if !r.Passed() {
			failed++
		}
		if r.Unread != nil {
			unread = append(unread, r.Unread)
			if o.output == validate.Text {
				return nil // the error below contains it
			}
			return w.Result(r)
		}
		err := w.Result(r)
		a.print.Progressf("%s", r.Summary())
		if own := r.Own(); own > 0 && o.output == validate.JSONAlpha1 {
			a.print.Progressf("%d of the findings are specific to %s and not part of json-alpha1; see them with -o json", own, a.program)
		}
		return err
	})
	if err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	switch {
	case failed == 0:
		return nil
	case len(unread) > 0:
		return errors.Join(unread...)
	case len(args) == 1:
		return fmt.Errorf("the bundle is %w", errInvalid)
	}
	return fmt.Errorf("%d of %d bundles are %w", failed, len(args), errInvalid)
}

// validateOptions validates all flags.
func (a *app) validateOptions(o validateOptions) (validate.Options, error) {
	options := validate.Options{Strict: o.strict, AsOperatorSDK: o.compat == operatorSDK || o.compat == "" && a.program == operatorSDK}
	findings := o.Registry.Check()
	if !slices.Contains(validate.Formats(), o.output) {
		findings.Add("--output", o.output, "must be one of "+strings.Join(validate.Formats(), ", "))
	}
	findings = append(findings, checkChoice("--image-builder", o.imageBuilder, "docker", "podman", "none")...)
	if o.compat != "" && o.compat != operatorSDK {
		findings.Add("--compat", o.compat, "must be "+operatorSDK)
	}
	findings = append(findings, options.Select(o.selector, o.values, a.Dir)...)
	if o.selector != "" && options.Selector != nil && !validate.Selects(options.Selector) {
		findings.Add("--select-optional", o.selector, fmt.Sprintf("selects none of the optional validators; '%s bundle validate --list-optional' lists them", a.program))
	}
	if file := a.Getenv(categoriesVariable); file != "" {
		data, err := afero.ReadFile(a.FS, a.Absolute(file))
		if err != nil {
			err = fmt.Errorf("cannot be read: %w", diag.Cause(err))
		} else {
			options.Categories, err = validate.ParseCategories(data)
		}
		if err != nil {
			options.CategoriesErr = fmt.Errorf("%s, which %s names, %w", filepath.ToSlash(file), categoriesVariable, err)
		}
	}
	return options, findings.Err()
}

// bundleSource opens a bundle's directory or image.
func bundleSource(ctx context.Context, p *output.Printer, arg string, registries image.Registries) validate.Source {
	opened, err := images.OpenBundle(ctx, p, p.Dir, arg, registries)
	if err == nil {
		return validate.Source{Name: opened.Name, FS: opened.FS, Close: opened.Close}
	}
	shown := filepath.ToSlash(arg)
	problem := diag.Finding{Position: diag.Position{File: shown}, Severity: diag.Error, Rule: "bundle", Problem: err.Error()}
	switch err := err.(type) { // their text begins with the name
	case diag.Finding:
		problem.Problem = err.Problem
	case *image.Error:
		problem.Problem = err.Err.Error()
	}
	return validate.Source{Name: shown, Err: &problem}
}

// externalValidators runs external validators for a bundle.
func externalValidators(ctx context.Context, p *output.Printer, paths, shown string) ([]apierrors.ManifestResult, error) {
	var results []apierrors.ManifestResult
	for _, program := range filepath.SplitList(paths) {
		var out bytes.Buffer
		command := Command{Dir: p.Dir, Environ: p.Environ, Out: &out, Err: p.Text(), Name: program, Args: []string{filepath.FromSlash(shown)}}
		if err := p.Run(ctx, command); err != nil {
			return nil, fmt.Errorf("running the validator %s: %w", program, err)
		}
		result, err := validate.ParseExternal(program, out.Bytes())
		if err != nil {
			return nil, err
		}
		results = append(results, result)
	}
	return results, nil
}
