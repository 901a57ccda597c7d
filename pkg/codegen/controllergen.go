package codegen

import (
	"context"
	"errors"
	"fmt"
	"go/ast"
	"go/token"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"
	"golang.org/x/tools/go/packages"
	"sigs.k8s.io/controller-tools/pkg/applyconfiguration"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/genall"
	"sigs.k8s.io/controller-tools/pkg/genall/help"
	"sigs.k8s.io/controller-tools/pkg/loader"
	"sigs.k8s.io/controller-tools/pkg/markers"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"

	"github.com/operon-sdk/operon/pkg/filecache"
	"github.com/operon-sdk/operon/pkg/goenv"
)

// ErrControllerGen is returned by ControllerGen after it has printed the errors.
var ErrControllerGen = errors.New("controller-gen failed")

// ControllerGen behaves like controller-gen with some arguments in a directory: paths, headers and output directories are
// relative to it, and each generator writes its files itself. The go command gets the environment environ. The error wraps
// ErrControllerGen if controller-gen exits with 1.
func ControllerGen(ctx context.Context, args []string, stdout, stderr io.Writer, dir string, environ []string) error {
	c := &controllerGen{stdout: stdout, stderr: stderr, dir: dir, env: goenv.New(environ, false)}
	var err error
	if c.options, err = optionsRegistry(); err != nil {
		return err
	}
	flags := c.flags()
	usage := true
	err = flags.Parse(args)
	if err == nil {
		usage, err = c.run(ctx, flags.Args())
	}
	if err == nil {
		return nil
	}
	_, _ = fmt.Fprintln(stderr, "Error:", err)
	if usage {
		_ = c.usage(stderr, 1)
	}
	_, _ = fmt.Fprintf(stderr, "add -w to the same arguments to list the markers, or -h for the options\n")
	return fmt.Errorf("%w: %w", ErrControllerGen, err)
}

// A controllerGen is one call of ControllerGen.
type controllerGen struct {
	stdout, stderr         io.Writer
	dir                    string
	env                    *goenv.Environment
	options                *markers.Registry
	helpLevel, markerLevel int
	version, longHelp      bool
	tags                   []string
	set                    *pflag.FlagSet
}

// flags returns the flags of controller-gen, which set fields of c.
func (c *controllerGen) flags() *pflag.FlagSet {
	c.set = pflag.NewFlagSet("controller-gen", pflag.ContinueOnError)
	c.set.SetOutput(io.Discard)
	c.set.SortFlags = true
	c.set.CountVarP(&c.markerLevel, "which-markers", "w",
		"list the markers of the given generators (-ww and -www print more, -wwww prints JSON)")
	c.set.CountVarP(&c.helpLevel, "detailed-help", "h", "list the options (-hh and -hhh print more, -hhhh prints JSON)")
	c.set.BoolVar(&c.version, "version", false, "print the version")
	c.set.StringSliceVar(&c.tags, "load-build-tags", Call{}.buildTags(), "build tags that select the Go files to read")
	c.set.BoolVar(&c.longHelp, "help", false, "print the usage")
	return c.set
}

// run executes the arguments. It reports whether to print the usage with an error.
func (c *controllerGen) run(ctx context.Context, args []string) (usage bool, err error) {
	switch {
	case c.longHelp:
		return false, c.usage(c.stdout, 1)
	case c.version:
		_, err := fmt.Fprintf(c.stdout, "Version: %s\n", controllerToolsVersion)
		return false, err
	case c.helpLevel > 0:
		return false, c.usageAt(c.helpLevel)
	case c.markerLevel > 0:
		registry, err := genall.RegistryFromOptions(c.options, args)
		if err != nil {
			return true, err
		}
		return false, c.describe(c.stderr, c.markerLevel, registry, help.SortByCategory)
	}
	if slices.Contains(args, "") {
		return true, errors.New("arguments must not be empty")
	}
	temp, err := c.env.Prepare(c.dir)
	if err != nil {
		return false, err
	}
	defer func() { _ = temp.Remove() }() // a later command removes the remaining files
	run, err := genall.FromOptionsWithConfig(&packages.Config{
		Context:    ctx,
		Dir:        c.dir,
		Env:        append(slices.Clone(c.env.Vars), temp.Variable()),
		BuildFlags: []string{"-tags=" + strings.Join(c.tags, ",")},
	}, c.options, args)
	if err != nil {
		return true, err
	}
	if len(run.Generators) == 0 {
		return true, errors.New("a generator is required: object, crd, rbac, webhook, applyconfiguration or schemapatch")
	}
	return false, c.generate(run)
}

// generate runs the generators, and prints errors in the order in which controller-gen does.
func (c *controllerGen) generate(run *genall.Runtime) error {
	failed := false
	report := func(err any) {
		failed = true
		_, _ = fmt.Fprintln(c.stderr, err)
	}
	generators := run.Generators
	if !checkRuntime(run) {
		generators, failed = nil, true
	}
	for _, generator := range generators {
		ctx := run.GenerationContext
		ctx.InputRule = dirInput(c.dir)
		ctx.OutputRule = c.outputRule(run.OutputRules.ForGenerator(generator))
		if _, typed := (*generator).(genall.NeedsTypeChecking); !typed {
			ctx.Checker = nil
		}
		actual, err := c.adapt(*generator)
		if err == nil {
			err = recoverPanic(func() error { return actual.Generate(&ctx) })
		}
		if err != nil {
			report(err)
		}
	}
	visit(run.Roots, func(p *packages.Package) {
		for _, err := range p.Errors {
			if err.Kind != packages.TypeError {
				report(err)
			}
		}
	})
	if failed {
		return errors.New("not all generators succeeded")
	}
	return nil
}

// checkRuntime reports whether the source that generators read is within the limits. It records errors in the packages that
// are not.
func checkRuntime(run *genall.Runtime) bool {
	var filters []loader.NodeFilter
	for _, generator := range run.Generators {
		if typed, ok := (*generator).(genall.NeedsTypeChecking); ok {
			filters = append(filters, typed.CheckFilter())
		}
	}
	ok := true
	var sources []source
	visited := map[*packages.Package]bool{}
	var add func(p *loader.Package)
	add = func(p *loader.Package) {
		if visited[p.Package] {
			return
		}
		visited[p.Package] = true
		p.NeedSyntax()
		sources = append(sources, source{p.PkgPath, p.Syntax, func(at token.Pos, message string) {
			ok = false
			p.AddError(loader.ErrFromNode(errors.New(message), &ast.BadExpr{From: at}))
		}})
		imports := map[*packages.Package]*loader.Package{}
		for name, imported := range p.Imports() {
			imports[p.Package.Imports[name]] = imported
		}
		for _, raw := range references(p.Package, func(n ast.Node) bool {
			return slices.ContainsFunc(filters, func(filter loader.NodeFilter) bool { return filter(n) })
		}) {
			add(imports[raw])
		}
	}
	for _, root := range run.Roots {
		add(root)
	}
	checkLimits(run.Collector.Registry, sources)
	return ok
}

// A panicError is a panic of a generator.
type panicError struct{ cause any }

// Error implements error.
func (e panicError) Error() string { return fmt.Sprintf("controller-tools panicked: %v", e.cause) }

// recoverPanic returns the error of a function, or a panicError.
func recoverPanic(do func() error) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = panicError{cause}
		}
	}()
	return do()
}

// adapt makes a generator work outside the process's working directory, and in a program other than controller-gen.
func (c *controllerGen) adapt(generator genall.Generator) (genall.Generator, error) {
	switch g := generator.(type) {
	case crd.Generator:
		return crdGenerator{Generator: g, store: &filecache.Store{}}, nil
	case deepcopy.Generator:
		return objectGenerator{Generator: g}, nil
	case schemapatcher.Generator:
		if !filepath.IsAbs(g.ManifestsPath) {
			g.ManifestsPath = filepath.Join(c.dir, g.ManifestsPath)
		}
		return schemaPatcher{g}, nil
	case applyconfiguration.Generator:
		// Its parser supports only the working directory of the process.
		if dir, err := os.Getwd(); err != nil || !isSameDir(dir, c.dir) {
			return nil, fmt.Errorf("applyconfiguration works only in the current directory; change to %s first", filepath.Base(c.dir))
		}
		// The comment in its files must not contain the name of the program.
		g.OmitToolVersion = new(true)
		if g.HeaderFile != "" && !filepath.IsAbs(g.HeaderFile) {
			g.HeaderFile = filepath.Join(c.dir, g.HeaderFile)
		}
		return g, nil
	}
	return generator, nil
}

// isSameDir reports whether two paths refer to the same directory.
func isSameDir(a, b string) bool {
	x, err := os.Stat(a)
	if err != nil {
		return false
	}
	y, err := os.Stat(b)
	return err == nil && os.SameFile(x, y)
}

// outputRule returns an output rule with absolute directories and the stdout of c.
func (c *controllerGen) outputRule(rule genall.OutputRule) genall.OutputRule {
	abs := func(dir genall.OutputToDirectory) genall.OutputToDirectory {
		if filepath.IsAbs(string(dir)) {
			return dir
		}
		return genall.OutputToDirectory(filepath.Join(c.dir, string(dir)))
	}
	switch r := rule.(type) {
	case genall.OutputToDirectory:
		return abs(r)
	case genall.OutputArtifacts:
		r.Config = abs(r.Config)
		if r.Code != "" {
			r.Code = abs(r.Code)
		}
		return r
	}
	if rule == genall.OutputRule(genall.OutputToStdout) {
		return writerOutput{c.stdout}
	}
	return rule
}
