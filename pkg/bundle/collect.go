package bundle

import (
	"fmt"
	"maps"
	"reflect"
	"strings"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apiextv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
)

// A decoded is an object together with the Go type that it was decoded into.
type decoded[T any] struct {
	manifest.Object
	value T
}

// A collection is the input of a bundle, grouped by kind; each group is in input order.
type collection struct {
	csvs                []decoded[v1alpha1.ClusterServiceVersion]
	roles               []decoded[rbacv1.Role]
	clusterRoles        []decoded[rbacv1.ClusterRole]
	roleBindings        []decoded[rbacv1.RoleBinding]
	clusterRoleBindings []decoded[rbacv1.ClusterRoleBinding]
	deployments         []decoded[appsv1.Deployment]
	serviceAccounts     []decoded[corev1.ServiceAccount]
	services            []decoded[corev1.Service]
	crds                []decoded[apiextv1.CustomResourceDefinition]
	oldCRDs             []decoded[apiextv1beta1.CustomResourceDefinition]
	validating          []decoded[admissionv1.ValidatingWebhookConfiguration]
	mutating            []decoded[admissionv1.MutatingWebhookConfiguration]
	scorecards          []decoded[v1alpha3.Configuration]
	others              []manifest.Object
	// replaced holds the cert-manager objects, by their string, that OLM or the manager makes unnecessary.
	replaced map[string]bool

	notes    diag.Findings
	problems diag.Findings
	// missingRoles reports bindings of the operator's accounts to roles that the input lacks.
	missingRoles diag.Findings
	// unavailable reports images whose digest cannot be resolved.
	unavailable diag.Findings
}

const (
	groupRBAC      = "rbac.authorization.k8s.io"
	groupAdmission = "admissionregistration.k8s.io"
	groupCRD       = "apiextensions.k8s.io"
	groupOLM       = "operators.coreos.com"
	groupScorecard = "scorecard.operatorframework.io"
	groupCerts     = "cert-manager.io"
	kindCSV        = "ClusterServiceVersion"
	kindCRD        = "CustomResourceDefinition"
	kindRole       = "Role"
	kindAccount    = "ServiceAccount"
	kindSecret     = "Secret"
)

// collect decodes all objects and removes duplicates.
func collect(objects []manifest.Object) *collection {
	c := &collection{}
	for _, o := range c.distinct(objects) {
		c.add(o)
	}
	for i := 1; i < len(c.scorecards); i++ {
		c.problems.Addf(c.scorecards[i].Position, "duplicate scorecard configuration %s, after %s at %s; a bundle has one", c.scorecards[i], c.scorecards[0], c.scorecards[0].Position)
	}
	return c
}

// Check returns the problems of each object on its own, not problems of their combination.
func Check(objects []manifest.Object) diag.Findings { return collect(objects).problems }

func (c *collection) add(o manifest.Object) {
	switch o.Group() + "/" + o.Kind() {
	case groupOLM + "/" + kindCSV:
		decode(c, &c.csvs, o)
	case groupRBAC + "/" + kindRole:
		decode(c, &c.roles, o)
	case groupRBAC + "/ClusterRole":
		decode(c, &c.clusterRoles, o)
	case groupRBAC + "/RoleBinding":
		decode(c, &c.roleBindings, o)
	case groupRBAC + "/ClusterRoleBinding":
		decode(c, &c.clusterRoleBindings, o)
	case "apps/Deployment":
		decode(c, &c.deployments, o)
	case "/" + kindAccount:
		decode(c, &c.serviceAccounts, o)
	case "/Service":
		decode(c, &c.services, o)
	case groupCRD + "/" + kindCRD:
		switch o.Version() {
		case "v1":
			decode(c, &c.crds, o)
		case "v1beta1":
			decode(c, &c.oldCRDs, o)
		default:
			c.problems.Addf(o.Locate("apiVersion"), "%s: unsupported CRD API version %s; use apiextensions.k8s.io/v1", o, o.Version())
		}
	case groupAdmission + "/ValidatingWebhookConfiguration":
		decode(c, &c.validating, o)
	case groupAdmission + "/MutatingWebhookConfiguration":
		decode(c, &c.mutating, o)
	case groupScorecard + "/Configuration":
		decode(c, &c.scorecards, o)
	default:
		c.others = append(c.others, o)
	}
}

// decode decodes an object into a group of the collection and notes its unknown fields.
func decode[T any](c *collection, part *[]decoded[T], o manifest.Object) {
	r := decoded[T]{Object: o}
	if err := o.Into(&r.value); err != nil {
		if problems, ok := err.(diag.Findings); ok {
			c.problems = append(c.problems, problems...)
			return
		}
		c.problems.Addf(o.Position, "%s: %v", o, err)
		return
	}
	if typed, ok := any(&r.value).(metav1.Object); ok {
		o = withTypedName(o, typed)
		r.Object = o
	}
	if o.Name() == "" {
		c.problems.Addf(o.Position, "%s: metadata.name is required", o.Kind())
		return
	}
	if kept, err := manifest.Fields(r.value); err == nil {
		c.noteUnknown(o, kept)
	}
	*part = append(*part, r)
}

// withTypedName sets the name and namespace of an object to those that its Go type reads: YAML may read 1 or true where
// text is meant.
func withTypedName(o manifest.Object, typed metav1.Object) manifest.Object {
	if o.Name() == typed.GetName() && o.Namespace() == typed.GetNamespace() {
		return o
	}
	meta := maps.Clone(manifest.MapAt(o.Fields, "metadata"))
	o.Fields = maps.Clone(o.Fields)
	if meta == nil { // the key differs in letter case
		meta = map[string]any{}
	}
	meta["name"] = typed.GetName()
	if namespace := typed.GetNamespace(); namespace != "" {
		meta["namespace"] = namespace
	}
	o.Fields["metadata"] = meta
	return o
}

// noteUnknown notes the fields of an object that its Go type does not have.
func (c *collection) noteUnknown(o manifest.Object, kept map[string]any) {
	for _, path := range unknownFields(o.Fields, kept, nil) {
		if path[0] == "status" {
			continue
		}
		c.note(diag.Finding{
			Position: o.Locate(path...), Object: o.String(), Severity: diag.Warning,
			Problem: fmt.Sprintf("has a field %s that its API does not define; it is not in the bundle", manifest.FieldPath(path)),
			Fix:     "correct its name and place, or delete it",
		})
	}
}

// distinct removes duplicate objects. Objects of the same name that differ are a problem. Custom resources are examples,
// whose names do not matter: applyExamples compares them.
func (c *collection) distinct(objects []manifest.Object) []manifest.Object {
	custom := customKinds(objects)
	first := map[string]manifest.Object{}
	var kept []manifest.Object
	for _, o := range objects {
		if custom[o.Group()+"/"+o.Kind()] || o.Name() == "" || o.Group() == groupOLM || o.Group() == groupScorecard {
			kept = append(kept, o)
			continue
		}
		id := strings.Join([]string{o.Group(), o.Kind(), o.Namespace(), o.Name()}, "\x00")
		before, again := first[id]
		switch {
		case !again:
			first[id] = o
			kept = append(kept, o)
		case reflect.DeepEqual(before.Fields, o.Fields):
			c.note(diag.Finding{
				Position: o.Position, Object: o.String(),
				Problem: fmt.Sprintf("is in the input twice, first at %s; the bundle includes it once", before.Position),
				Fix:     "remove one of them from the input",
			})
		default:
			c.problems.Addf(o.Position, "%s is defined a second time and differently from %s; keep one of them", o, before.Position)
		}
	}
	return kept
}

// customKinds returns the group/kinds that CRDs of the input define.
func customKinds(objects []manifest.Object) map[string]bool {
	kinds := map[string]bool{}
	for _, o := range objects {
		if o.Group() == groupCRD && o.Kind() == kindCRD {
			kinds[manifest.TextAt(o.Fields, "spec", "group")+"/"+manifest.TextAt(o.Fields, "spec", "names", "kind")] = true
		}
	}
	return kinds
}

func (c *collection) note(n diag.Finding) { c.notes = append(c.notes, n) }
