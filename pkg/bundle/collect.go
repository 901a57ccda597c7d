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

	"github.com/operon-sdk/operon/pkg/manifest"
)

// read is an object with the Go type it was decoded into.
type read[T any] struct {
	manifest.Object
	value T
}

// collection is the input of a bundle, sorted by what becomes of it; each part in the input's order.
type collection struct {
	csvs                []read[v1alpha1.ClusterServiceVersion]
	roles               []read[rbacv1.Role]
	clusterRoles        []read[rbacv1.ClusterRole]
	roleBindings        []read[rbacv1.RoleBinding]
	clusterRoleBindings []read[rbacv1.ClusterRoleBinding]
	deployments         []read[appsv1.Deployment]
	serviceAccounts     []read[corev1.ServiceAccount]
	services            []read[corev1.Service]
	crds                []read[apiextv1.CustomResourceDefinition]
	oldCRDs             []read[apiextv1beta1.CustomResourceDefinition]
	validating          []read[admissionv1.ValidatingWebhookConfiguration]
	mutating            []read[admissionv1.MutatingWebhookConfiguration]
	scorecards          []read[v1alpha3.Configuration]
	others              []manifest.Object
	// replaced are the objects of cert-manager whose work OLM or the manager does, by their string.
	replaced map[string]bool

	notes    []Note
	problems manifest.Problems
	// missingRoles are bindings of the operator's accounts to roles that the input lacks.
	missingRoles manifest.Problems
	// unavailable are images that no registry gives.
	unavailable manifest.Problems
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

// collect decodes all objects and takes repetitions out.
func collect(objects []manifest.Object) *collection {
	c := &collection{}
	for _, o := range c.distinct(objects) {
		c.add(o)
	}
	for i := 1; i < len(c.scorecards); i++ {
		c.problem(c.scorecards[i].Position, "%s is a second scorecard configuration, after %s at %s; a bundle has one", c.scorecards[i], c.scorecards[0], c.scorecards[0].Position)
	}
	return c
}

// Check finds what is wrong with objects one by one, without looking at what they mean together.
func Check(objects []manifest.Object) manifest.Problems { return collect(objects).problems }

func (c *collection) add(o manifest.Object) {
	switch o.Group() + "/" + o.Kind() {
	case groupOLM + "/" + kindCSV:
		take(c, &c.csvs, o)
	case groupRBAC + "/" + kindRole:
		take(c, &c.roles, o)
	case groupRBAC + "/ClusterRole":
		take(c, &c.clusterRoles, o)
	case groupRBAC + "/RoleBinding":
		take(c, &c.roleBindings, o)
	case groupRBAC + "/ClusterRoleBinding":
		take(c, &c.clusterRoleBindings, o)
	case "apps/Deployment":
		take(c, &c.deployments, o)
	case "/" + kindAccount:
		take(c, &c.serviceAccounts, o)
	case "/Service":
		take(c, &c.services, o)
	case groupCRD + "/" + kindCRD:
		switch o.Version() {
		case "v1":
			take(c, &c.crds, o)
		case "v1beta1":
			take(c, &c.oldCRDs, o)
		default:
			c.problem(o.Locate("apiVersion"), "%s: there is no version %s of CRDs; use apiextensions.k8s.io/v1", o, o.Version())
		}
	case groupAdmission + "/ValidatingWebhookConfiguration":
		take(c, &c.validating, o)
	case groupAdmission + "/MutatingWebhookConfiguration":
		take(c, &c.mutating, o)
	case groupScorecard + "/Configuration":
		take(c, &c.scorecards, o)
	default:
		c.others = append(c.others, o)
	}
}

// take decodes an object into its part of the collection, and notes the fields that its type does not know.
func take[T any](c *collection, part *[]read[T], o manifest.Object) {
	r := read[T]{Object: o}
	if err := o.Into(&r.value); err != nil {
		if problems, ok := err.(manifest.Problems); ok {
			c.problems = append(c.problems, problems...)
			return
		}
		c.problem(o.Position, "%s: %v", o, err)
		return
	}
	if typed, ok := any(&r.value).(metav1.Object); ok {
		o = named(o, typed)
		r.Object = o
	}
	if o.Name() == "" {
		c.problem(o.Position, "a %s has no metadata.name", o.Kind())
		return
	}
	if kept, err := manifest.Fields(r.value); err == nil {
		c.noteLost(o, kept)
	}
	*part = append(*part, r)
}

// named gives an object the name and the namespace that its Go type reads: YAML takes 1 or true for no text.
func named(o manifest.Object, typed metav1.Object) manifest.Object {
	if o.Name() == typed.GetName() && o.Namespace() == typed.GetNamespace() {
		return o
	}
	meta, _ := asMap(o.Fields["metadata"])
	o.Fields, meta = maps.Clone(o.Fields), maps.Clone(meta)
	if meta == nil { // under a key of other letter case
		meta = map[string]any{}
	}
	meta["name"] = typed.GetName()
	if namespace := typed.GetNamespace(); namespace != "" {
		meta["namespace"] = namespace
	}
	o.Fields["metadata"] = meta
	return o
}

// noteLost notes the fields of an object that its Go type does not know.
func (c *collection) noteLost(o manifest.Object, kept map[string]any) {
	for _, path := range lost(o.Fields, kept, nil) {
		if path[0] == "status" {
			continue
		}
		c.note(Note{
			Position: o.Locate(path...), Subject: o.String(), Dropped: true,
			Reason: fmt.Sprintf("has a field %s that Kubernetes does not know; it is not in the bundle", manifest.FieldPath(path)),
			Advice: "correct its name and place, or delete it",
		})
	}
}

// distinct takes out objects that are there twice. Two objects of one name that differ are a problem.
// Custom resources are only examples, whose names do not matter; they are compared as a whole later.
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
			c.note(Note{
				Position: o.Position, Subject: o.String(),
				Reason: fmt.Sprintf("is there twice, first at %s; it is taken once", before.Position),
				Advice: "leave one of them out of the input",
			})
		default:
			c.problem(o.Position, "%s is defined a second time and differently from %s; keep one of them", o, before.Position)
		}
	}
	return kept
}

// customKinds are the group/kinds that CRDs of the input define.
func customKinds(objects []manifest.Object) map[string]bool {
	kinds := map[string]bool{}
	for _, o := range objects {
		if o.Group() == groupCRD && o.Kind() == kindCRD {
			spec, _ := o.Fields["spec"].(map[string]any)
			names, _ := spec["names"].(map[string]any)
			group, _ := spec["group"].(string)
			kind, _ := names["kind"].(string)
			kinds[group+"/"+kind] = true
		}
	}
	return kinds
}

func (c *collection) note(n Note) { c.notes = append(c.notes, n) }

func (c *collection) problem(at manifest.Position, format string, args ...any) {
	c.problems = append(c.problems, manifest.Problem{Position: at, Problem: fmt.Sprintf(format, args...)})
}
