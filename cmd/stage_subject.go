package cmd

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/operon-sdk/operon/cmd/internal/words"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/local"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/stage"
)

// subjectOptions are the flags for an operator that isn't built from the project, or has no project.
type subjectOptions struct {
	manager, certDir string
	manifests, crds  []string
	// words are those of manager, and role is what has the permissions of the operator, or "" for markers; see roleOf.
	words []string
	role  string
}

func (o *subjectOptions) addTo(f *pflag.FlagSet) {
	f.StringVar(&o.manager, "manager", "", "`command` that runs the operator, in any language, instead of a build of the project")
	f.StringSliceVar(&o.manifests, "manifests", nil, "`file` or directory with the manifests of the operator, instead of the project's; - is the standard input; can be repeated")
	f.StringSliceVar(&o.crds, "crds", nil, "`file` or directory with definitions of other operators that this one needs; can be repeated")
	f.StringVar(&o.certDir, "cert-dir", "", "`directory` in which the manager looks for tls.crt and tls.key of its webhooks, if none of its flags names one: they are written there for the run")
}

// check checks the flags. files are the values of -f.
func (o *subjectOptions) check(files []string) (findings diag.Findings) {
	if len(o.manifests) > 0 && o.manager == "" {
		findings.Add("--manifests", strings.Join(o.manifests, ","), "needs --manager, the command that runs the operator")
	}
	if inputs := slices.DeleteFunc(slices.Concat(files, o.manifests, o.crds), func(name string) bool { return name != "-" }); len(inputs) > 1 {
		findings.Add("--filename", "-", "the standard input can be read only once")
	}
	if o.manager == "" {
		return findings
	}
	var err error
	if o.words, err = words.Split(o.manager); err != nil {
		findings.Add("--manager", o.manager, err.Error())
		return findings
	}
	for _, word := range o.words[1:] {
		if name, _, _ := strings.Cut(strings.TrimLeft(word, "-"), "="); word != name && (name == "kubeconfig" || name == "master") {
			findings.Add("--manager", o.manager, fmt.Sprintf("must not contain --%s: the operator is to use the server of the variable KUBECONFIG", name))
		}
	}
	return findings
}

// stagedOperator returns the options of a run of the operator in a directory, and what checks this machine before it, or nil.
func (a *app) stagedOperator(ctx context.Context, root string, o *subjectOptions) (options local.Options, check func(context.Context) error, err error) {
	if len(o.manifests) > 0 {
		o.role = "the role of the operator"
		options, err = a.givenOperator(ctx, root, o.manifests)
	} else {
		options, check, err = a.localOptions(ctx, root)
		options.Generate = func(ctx context.Context) error { return a.checkGenerated(ctx, root) }
		o.role = roleOf(options.Program)
	}
	if err != nil {
		return options, nil, err
	}
	if len(o.crds) > 0 {
		if options.CRDs, err = a.readObjects(root, options.Build, o.crds); err != nil {
			return options, nil, err
		}
	}
	if o.certDir != "" {
		options.CertDir = a.Absolute(o.certDir)
		if err := local.CheckCertDir(options.CertDir); err != nil {
			return options, nil, fmt.Errorf("--cert-dir %s: %w", o.certDir, err)
		}
	}
	if len(o.words) > 0 {
		options.Program = local.Program{Args: o.words[1:]}
		if options.Program.Name, err = a.LookPath(a.Dir, o.words[0]); err != nil {
			return options, nil, fmt.Errorf("--manager: %w", err)
		}
	}
	return options, check, nil
}

// givenOperator returns the options of a run of an operator with manifests of its own.
func (a *app) givenOperator(ctx context.Context, dir string, names []string) (o local.Options, err error) {
	o = a.commonOptions(ctx, dir)
	o.Generate = func(context.Context) error { return nil } // there is no project
	if o.Manifests, err = a.readObjects(dir, o.Build, names); err != nil {
		return o, err
	}
	name := "operator"
	if manager := stage.ManagerOf(o.Manifests); manager != nil {
		name = manager.GetName()
	}
	o.Config, err = project.New(project.Options{ProjectName: name})
	return o, err
}

// unwatched returns what says which resource the operator must watch before it has begun, or "". objects are those that it is to see.
func unwatched(o *local.Options, s *local.Session, objects []*kube.Object) func() string {
	if len(o.Manifests) > 0 {
		return stage.AwaitAnyWatch(definedResources(o.Manifests), s.Requests)
	}
	return stage.AwaitWatches(watchedResources(o.Config, objects), s.Requests)
}

// definedResources returns the resources that manifests define.
func definedResources(manifests []*kube.Object) (names []string) {
	for _, o := range manifests {
		if o.GetKind() == kube.CRDKind {
			names = append(names, o.GetName())
		}
	}
	return names
}

// watchedResources returns the resources among the kinds of objects that the project has a controller for.
func watchedResources(config *project.Config, objects []*kube.Object) (names []string) {
	for _, r := range config.Resources() {
		if config.Reconciles(r) && slices.ContainsFunc(objects, func(o *kube.Object) bool {
			gvk := o.GroupVersionKind()
			return gvk.Group == r.APIGroup() && gvk.Kind == r.Kind
		}) {
			names = append(names, r.Plural+"."+r.APIGroup())
		}
	}
	return names
}
