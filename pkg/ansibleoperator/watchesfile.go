package ansibleoperator

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/operon-sdk/operon/pkg/ansibleoperator/runner"
	"github.com/operon-sdk/operon/pkg/customresource"
	"github.com/operon-sdk/operon/pkg/dependson"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/outputs"
	"github.com/operon-sdk/operon/pkg/valuesfrom"
	"github.com/operon-sdk/operon/pkg/watches"
)

// LoadWatches reads a watches.yaml and returns a reconciler for each entry, in the order of the file. A file without entries has none.
//
// Options come from four places, and later ones take precedence: defaults, the keys of the entry, the variables
// MAX_CONCURRENT_RECONCILES_KIND_GROUP and ANSIBLE_VERBOSITY_KIND_GROUP of settings.Environ, and options, which is called for the
// kind of each entry and may be nil. Variables in the file are replaced with their values in settings.Environ.
//
// The error names all invalid entries with their lines, and those whose playbook or role is not found. If the file does not exist, the
// error wraps fs.ErrNotExist.
func LoadWatches(file string, settings Settings, options func(schema.GroupVersionKind) []Option, defaults ...Option) ([]*Reconciler, error) {
	return customresource.LoadWatches(file, func(name string, data []byte) ([]watches.AnsibleWatch, error) {
		return watches.ParseAnsible(name, data, settings.lookup)
	}, func(w watches.AnsibleWatch) (*Reconciler, []error) {
		return newEntry(w, settings, options, defaults)
	}, func(w watches.AnsibleWatch) diag.Position { return w.Position })
}

// lookup returns a variable of the environment.
func (s Settings) lookup(name string) (string, bool) {
	for _, entry := range slices.Backward(s.Environ) {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value, true
		}
	}
	return "", false
}

func newEntry(w watches.AnsibleWatch, s Settings, options func(schema.GroupVersionKind) []Option, defaults []Option) (*Reconciler, []error) {
	gvk := w.GroupVersionKind()
	var errs []error
	source, err := s.find(w.Playbook, w.Role)
	if err != nil {
		errs = append(errs, err)
	}
	own := entryOptions(w, source)
	if f := w.Finalizer; f != nil {
		source, err := s.find(f.Playbook, f.Role)
		if err != nil {
			errs = append(errs, fmt.Errorf("finalizer: %w", err))
		}
		own = append(own, WithFinalizer(Finalizer{Name: f.Name, Playbook: source.playbook, Role: source.role, Vars: f.Vars}))
	}
	for _, variable := range []struct {
		names       []string
		least, most int
		option      func(int) Option
	}{
		{variableNames(gvk, "WORKER", "MAX_CONCURRENT_RECONCILES"), 1, 1 << 16, WithMaxConcurrentReconciles},
		{variableNames(gvk, "ANSIBLE_VERBOSITY"), 0, MaxVerbosity, WithVerbosity},
	} {
		for _, name := range variable.names {
			text, ok := s.lookup(name)
			if !ok || text == "" {
				continue
			}
			n, err := customresource.ParseNumber(text, variable.least, variable.most)
			if err != nil {
				errs = append(errs, fmt.Errorf("variable %s %q: %w", name, text, err))
				continue
			}
			own = append(own, variable.option(n))
		}
	}
	all := slices.Concat(defaults, own)
	if options != nil {
		all = append(all, options(gvk)...)
	}
	if len(errs) > 0 {
		return nil, errs
	}
	r, err := New(all...)
	if err != nil {
		return nil, []error{err}
	}
	for _, warning := range w.Warnings {
		r.warnings = append(r.warnings, warning.Error())
	}
	return r, nil
}

// variableNames returns the names of the variables of a kind with prefixes, later ones with precedence. Dots in the group become
// underscores, as in operator-sdk; dashes, which shells don't accept, may be underscores, too.
func variableNames(gvk schema.GroupVersionKind, prefixes ...string) []string {
	var names []string
	for _, prefix := range prefixes {
		name := strings.ToUpper(prefix + "_" + gvk.Kind + "_" + strings.ReplaceAll(gvk.Group, ".", "_"))
		names = append(names, name)
		if plain := strings.ReplaceAll(name, "-", "_"); plain != name {
			names = append(names, plain)
		}
	}
	return names
}

// find returns what a run executes, with an absolute path. A role is ignored next to a playbook.
func (s Settings) find(playbook, role string) (playbookOrRole, error) {
	dir, err := filepath.Abs(s.Dir)
	if err != nil {
		return playbookOrRole{}, err
	}
	if playbook != "" {
		path := playbook
		if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		info, err := os.Stat(path)
		switch {
		case err != nil:
			return playbookOrRole{}, fmt.Errorf("playbook %q: %w; relative paths start at the working directory of the operator", playbook, diag.Cause(err))
		case !info.Mode().IsRegular():
			return playbookOrRole{}, fmt.Errorf("playbook %q: is not a file", playbook)
		}
		return playbookOrRole{playbook: path}, nil
	}
	if role == "" {
		return playbookOrRole{}, nil
	}
	paths, _ := s.lookup("ANSIBLE_ROLES_PATH")
	found, err := runner.FindRole(role, slices.Concat(s.RolesPaths, filepath.SplitList(paths)), dir)
	return playbookOrRole{role: found}, err
}

func entryOptions(w watches.AnsibleWatch, source playbookOrRole) []Option {
	var sources []valuesfrom.Source
	for _, source := range w.VarsFrom {
		sources = append(sources, valuesfrom.Source(source))
	}
	var dependencies []dependson.Dependency
	for _, dependency := range w.DependsOn {
		dependencies = append(dependencies, dependson.Dependency(dependency))
	}
	var values []outputs.Output
	for _, o := range w.Outputs {
		values = append(values, outputs.Output(o))
	}
	options := []Option{
		WithOutputs(values...),
		WithGroupVersionKind(w.GroupVersionKind()),
		WithPlaybook(source.playbook),
		WithRole(source.role),
		WithTargetNamespace(w.TargetNamespace.Name, w.TargetNamespace.From),
		WithVars(w.Vars),
		WithDependsOn(dependencies...),
		WithVarsFrom(sources...),
		WithMaxRunnerArtifacts(w.MaxRunnerArtifacts),
		WithRetries(w.Retries),
		WithRunTimeout(w.RunTimeout),
		WithManageStatus(w.ManageStatus),
		WithSnakeCase(w.SnakeCaseParameters),
		WithMarkUnsafe(w.MarkUnsafe),
		SkipDependentWatches(!w.WatchDependentResources),
		WithClusterScopedWatches(w.WatchClusterScopedResources),
		WithAnnotationChanges(w.WatchAnnotationsChanges),
		WithCachedReads(w.CacheReads),
		WithBlacklist(w.Blacklist...),
		WithOtherWatches(otherWatches(w.WatchOtherResources)...),
	}
	if w.ReconcilePeriod != nil {
		options = append(options, WithReconcilePeriod(*w.ReconcilePeriod))
	}
	if w.MaxConcurrentReconciles > 0 {
		options = append(options, WithMaxConcurrentReconciles(w.MaxConcurrentReconciles))
	}
	if w.Rollout != (watches.Rollout{}) {
		options = append(options, WithRollout(w.Rollout.MaxConcurrent, w.Rollout.MaxFailures))
	}
	if w.Selector != nil {
		options = append(options, WithSelector(*w.Selector))
	}
	return options
}
