package source

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes/scheme"
)

// oldestFields is the minor version of Kubernetes from which newFields lists the fields that were added later.
const oldestFields = 33

// knownKinds returns the kinds that API servers have. Kinds of operators have no Go types here.
func knownKinds() *runtime.Scheme {
	kinds := runtime.NewScheme()
	// The only error of both is a kind that is added twice with different types.
	_ = scheme.AddToScheme(kinds)
	_ = apiextensionsv1.AddToScheme(kinds)
	return kinds
}

// minorOf returns the minor version of Kubernetes 1.MINOR, with or without v and a patch version, or 0.
func minorOf(version string) int {
	parts := strings.Split(strings.TrimPrefix(version, "v"), ".")
	if len(parts) < 2 || parts[0] != "1" {
		return 0
	}
	minor, err := strconv.Atoi(parts[1])
	if err != nil {
		return 0
	}
	return minor
}

// A kindProblem is why a version of Kubernetes doesn't serve a kind, or won't.
type kindProblem struct {
	problem, fix string
	// deprecated is true if the version still serves the kind.
	deprecated bool
}

// checkKind returns the problem of a kind in a minor version of Kubernetes, or nil. Kinds of groups that API servers don't have belong to
// operators, and have none.
func checkKind(kinds *runtime.Scheme, gvk schema.GroupVersionKind, minor int) *kindProblem {
	object, err := kinds.New(gvk)
	if err != nil {
		if !kinds.IsGroupRegistered(gvk.Group) {
			return nil
		}
		return &kindProblem{problem: fmt.Sprintf("Kubernetes has no %s %s", gvk.GroupVersion(), gvk.Kind), fix: otherVersions(kinds, gvk)}
	}
	since := func(at func() (int, int)) bool { _, from := at(); return minor >= from }
	if o, ok := object.(interface{ APILifecycleRemoved() (int, int) }); ok && since(o.APILifecycleRemoved) {
		_, removed := o.APILifecycleRemoved()
		return &kindProblem{problem: fmt.Sprintf("%s %s was removed in Kubernetes 1.%d", gvk.GroupVersion(), gvk.Kind, removed), fix: replacement(object)}
	}
	if o, ok := object.(interface{ APILifecycleIntroduced() (int, int) }); ok && !since(o.APILifecycleIntroduced) {
		_, introduced := o.APILifecycleIntroduced()
		return &kindProblem{problem: fmt.Sprintf("%s %s needs Kubernetes 1.%d or later", gvk.GroupVersion(), gvk.Kind, introduced)}
	}
	if o, ok := object.(interface{ APILifecycleDeprecated() (int, int) }); ok && since(o.APILifecycleDeprecated) {
		problem := fmt.Sprintf("%s %s is deprecated", gvk.GroupVersion(), gvk.Kind)
		if o, ok := object.(interface{ APILifecycleRemoved() (int, int) }); ok {
			_, removed := o.APILifecycleRemoved()
			problem += fmt.Sprintf(" and will be removed in Kubernetes 1.%d", removed)
		}
		return &kindProblem{problem: problem, fix: replacement(object), deprecated: true}
	}
	return nil
}

// replacement returns what to use instead of a deprecated kind, or "".
func replacement(object runtime.Object) string {
	o, ok := object.(interface {
		APILifecycleReplacement() schema.GroupVersionKind
	})
	if !ok {
		return ""
	}
	gvk := o.APILifecycleReplacement()
	return fmt.Sprintf("use %s %s", gvk.GroupVersion(), gvk.Kind)
}

// otherVersions returns the API versions that have a kind, for a fix, or "".
func otherVersions(kinds *runtime.Scheme, gvk schema.GroupVersionKind) string {
	var found []string
	for known := range kinds.AllKnownTypes() {
		if known.Kind == gvk.Kind && known.Version != runtime.APIVersionInternal && known.GroupVersion() != gvk.GroupVersion() && !strings.Contains(known.Version, "alpha") && !strings.Contains(known.Version, "beta") {
			found = append(found, known.GroupVersion().String())
		}
	}
	if len(found) == 0 {
		return ""
	}
	slices.Sort(found)
	return "use " + strings.Join(found, " or ")
}
