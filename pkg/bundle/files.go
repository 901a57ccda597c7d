package bundle

import (
	"fmt"
	"maps"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// Supported tells whether OLM takes a kind in a bundle, besides what becomes part of the CSV. OLM goes
// by the kind alone; the list is that of operator-sdk, from operator-registry's supported_resources.go.
// PodMonitor, which came later, is not on it: OLM of before refuses a whole bundle for it.
func Supported(kind string) bool {
	switch kind {
	case kindCSV, kindCRD, kindSecret, "ClusterRole", "ClusterRoleBinding", "ConfigMap", kindAccount, "Service", kindRole, "RoleBinding",
		"PrometheusRule", "ServiceMonitor", "PodDisruptionBudget", "PriorityClass", "VerticalPodAutoscaler",
		"ConsoleYAMLSample", "ConsoleQuickStart", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "NetworkPolicy":
		return true
	}
	return false
}

// files writes what is left in the collection, and notes what OLM does not take.
func (c *collection) files(out *Manifests) error {
	f := &files{out: out, taken: map[string]manifest.Object{}, c: c}
	for _, o := range c.crds {
		f.typed(crdFile(o.Object, o.value.Spec.Group, o.value.Spec.Names.Plural), o.Object, &o.value)
	}
	for _, o := range c.oldCRDs {
		f.typed(crdFile(o.Object, o.value.Spec.Group, o.value.Spec.Names.Plural), o.Object, &o.value)
	}
	for _, o := range c.services {
		f.typed(objectFile(o.Object), o.Object, &o.value)
	}
	for _, o := range c.others {
		if Supported(o.Kind()) {
			f.add(objectFile(o), o, o.Fields)
			c.noteSecret(o)
			continue
		}
		c.note(c.leftOut(o))
	}
	for _, o := range c.roles {
		f.typed(objectFile(o.Object), o.Object, &o.value)
	}
	for _, o := range c.clusterRoles {
		f.typed(objectFile(o.Object), o.Object, &o.value)
	}
	for _, o := range c.roleBindings {
		f.typed(objectFile(o.Object), o.Object, &o.value)
	}
	for _, o := range c.clusterRoleBindings {
		f.typed(objectFile(o.Object), o.Object, &o.value)
	}
	for _, o := range c.serviceAccounts {
		f.typed(objectFile(o.Object), o.Object, &o.value)
	}
	if len(c.scorecards) > 0 && f.err == nil {
		out.Scorecard, f.err = manifest.Encode(c.scorecards[0].value)
	}
	if f.err == nil {
		f.err = c.problems.Err()
	}
	return f.err
}

// files gives each manifest its file name.
type files struct {
	out   *Manifests
	c     *collection
	taken map[string]manifest.Object
	err   error
}

// typed writes an object as its Go type holds it. creationTimestamp: null is what operator-sdk writes.
func (f *files) typed(name string, o manifest.Object, value any) {
	fields, err := manifest.Fields(value)
	if err != nil {
		f.err = fmt.Errorf("writing %s: %w", o, err)
		return
	}
	if meta, ok := fields["metadata"].(map[string]any); ok && meta["creationTimestamp"] == nil {
		meta["creationTimestamp"] = nil
	}
	f.add(name, o, fields)
}

func (f *files) add(name string, o manifest.Object, fields map[string]any) {
	if f.err != nil {
		return
	}
	if strings.ContainsAny(name, `/\`) {
		f.c.problem(o.Position, "%s: the name has a slash in it, which Kubernetes refuses; rename it", o)
		return
	}
	// OLM creates the objects in the namespace that it installs the operator into.
	fields = maps.Clone(fields)
	if meta, ok := fields["metadata"].(map[string]any); ok {
		meta = maps.Clone(meta)
		delete(meta, "namespace")
		fields["metadata"] = meta
	}
	data, err := manifest.Encode(fields)
	if err != nil {
		f.err = fmt.Errorf("writing %s: %w", o, err)
		return
	}
	if other, ok := f.taken[name]; ok {
		f.c.problem(o.Position, "%s and %s at %s have the same name in the namespace of the operator, so that one would overwrite the other; rename or leave out one of them", o, other, other.Position)
		return
	}
	f.taken[name] = o
	if f.out.Files == nil {
		f.out.Files = map[string][]byte{}
	}
	f.out.Files[name] = data
	f.out.Order = append(f.out.Order, name)
}

func crdFile(o manifest.Object, group, plural string) string {
	if group == "" || plural == "" {
		return objectFile(o)
	}
	return group + "_" + plural + ".yaml"
}

// objectFile is the file name of an object: name, group unless it is the core group, version, kind.
func objectFile(o manifest.Object) string {
	parts := []string{o.Name(), o.Group(), o.Version(), strings.ToLower(o.Kind())}
	if o.Group() == "" {
		parts = append(parts[:1], parts[2:]...)
	}
	return strings.Join(parts, "_") + ".yaml"
}

// csvFields are the fields of a CSV as they are written: without status, without times of creation,
// without a cleanup that is switched off.
func csvFields(csv *v1alpha1.ClusterServiceVersion) (map[string]any, error) {
	fields, err := manifest.Fields(csv)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", csv.Name, err)
	}
	delete(fields, "status")
	manifest.DropTimes(fields)
	if spec, ok := fields["spec"].(map[string]any); ok {
		if cleanup, ok := spec["cleanup"].(map[string]any); ok && cleanup["enabled"] != true {
			delete(spec, "cleanup")
		}
	}
	return fields, nil
}
