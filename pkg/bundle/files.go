package bundle

import (
	"fmt"
	"maps"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"

	"github.com/operon-sdk/operon/pkg/manifest"
)

// IsSupported reports whether OLM accepts a kind in a bundle as a manifest of its own. OLM checks the kind only, not the
// group. The list is operator-registry's supported_resources.go without PodMonitor: older OLM rejects a bundle that has
// it.
func IsSupported(kind string) bool {
	switch kind {
	case kindCSV, kindCRD, kindSecret, "ClusterRole", "ClusterRoleBinding", "ConfigMap", kindAccount, "Service", kindRole, "RoleBinding",
		"PrometheusRule", "ServiceMonitor", "PodDisruptionBudget", "PriorityClass", "VerticalPodAutoscaler",
		"ConsoleYAMLSample", "ConsoleQuickStart", "ConsoleCLIDownload", "ConsoleLink", "ConsolePlugin", "NetworkPolicy":
		return true
	}
	return false
}

// writeFiles encodes the objects that are left in the collection and notes those that OLM does not accept.
func (c *collection) writeFiles(out *Manifests) error {
	f := &fileSet{out: out, taken: map[string]manifest.Object{}, c: c}
	for _, o := range c.crds {
		f.addTyped(crdFile(o.Object, o.value.Spec.Group, o.value.Spec.Names.Plural), o.Object, &o.value)
	}
	for _, o := range c.oldCRDs {
		f.addTyped(crdFile(o.Object, o.value.Spec.Group, o.value.Spec.Names.Plural), o.Object, &o.value)
	}
	addAll(f, c.services)
	for _, o := range c.others {
		if IsSupported(o.Kind()) {
			f.add(objectFile(o), o, o.Fields)
			c.noteSecret(o)
			continue
		}
		c.note(c.unsupportedNote(o))
	}
	addAll(f, c.roles)
	addAll(f, c.clusterRoles)
	addAll(f, c.roleBindings)
	addAll(f, c.clusterRoleBindings)
	addAll(f, c.serviceAccounts)
	if len(c.scorecards) > 0 && f.err == nil {
		out.Scorecard, f.err = manifest.Encode(c.scorecards[0].value)
	}
	if f.err == nil {
		f.err = c.problems.Err()
	}
	return f.err
}

// A fileSet collects the manifests of a bundle by file name.
type fileSet struct {
	out   *Manifests
	c     *collection
	taken map[string]manifest.Object
	err   error
}

// addAll adds objects under the names of objectFile.
func addAll[T any](f *fileSet, objects []decoded[T]) {
	for _, o := range objects {
		f.addTyped(objectFile(o.Object), o.Object, &o.value)
	}
}

// addTyped adds an object as its Go type encodes it, with creationTimestamp: null as operator-sdk writes it.
func (f *fileSet) addTyped(name string, o manifest.Object, value any) {
	fields, err := manifest.Fields(value)
	if err != nil {
		f.err = fmt.Errorf("writing %s: %w", o, err)
		return
	}
	if meta := manifest.MapAt(fields, "metadata"); meta != nil && meta["creationTimestamp"] == nil {
		meta["creationTimestamp"] = nil
	}
	f.add(name, o, fields)
}

// add adds an object without its namespace: OLM creates it in the namespace that the operator is installed in.
func (f *fileSet) add(name string, o manifest.Object, fields map[string]any) {
	if f.err != nil {
		return
	}
	if strings.ContainsAny(name, `/\`) {
		f.c.problems.Addf(o.Position, "%s: the name contains a slash, which Kubernetes rejects; rename it", o)
		return
	}
	fields = maps.Clone(fields)
	if meta := maps.Clone(manifest.MapAt(fields, "metadata")); meta != nil {
		delete(meta, "namespace")
		fields["metadata"] = meta
	}
	data, err := manifest.Encode(fields)
	if err != nil {
		f.err = fmt.Errorf("writing %s: %w", o, err)
		return
	}
	if other, ok := f.taken[name]; ok {
		f.c.problems.Addf(o.Position, "%s and %s at %s have the same name in the operator's namespace, so that one would overwrite the other; rename or remove one of them", o, other, other.Position)
		return
	}
	f.taken[name] = o
	if f.out.Files == nil {
		f.out.Files = map[string][]byte{}
	}
	f.out.Files[name] = data
	f.out.Order = append(f.out.Order, name)
}

// crdFile returns the file name of a CRD: group and plural, as controller-gen writes it.
func crdFile(o manifest.Object, group, plural string) string {
	if group == "" || plural == "" {
		return objectFile(o)
	}
	return group + "_" + plural + ".yaml"
}

// objectFile returns the file name of an object: name, group unless it is the core group, version and kind.
func objectFile(o manifest.Object) string {
	parts := []string{o.Name(), o.Group(), o.Version(), strings.ToLower(o.Kind())}
	if o.Group() == "" {
		parts = append(parts[:1], parts[2:]...)
	}
	return strings.Join(parts, "_") + ".yaml"
}

// csvFields returns the fields of a CSV to be written: without status, creation times and a disabled cleanup.
func csvFields(csv *v1alpha1.ClusterServiceVersion) (map[string]any, error) {
	fields, err := manifest.Fields(csv)
	if err != nil {
		return nil, fmt.Errorf("writing %s: %w", csv.Name, err)
	}
	delete(fields, "status")
	manifest.DropTimes(fields)
	if spec := manifest.MapAt(fields, "spec"); manifest.MapAt(spec, "cleanup")["enabled"] != true {
		delete(spec, "cleanup")
	}
	return fields, nil
}
