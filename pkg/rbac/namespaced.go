package rbac

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/project"
)

// clusterScoped has the well-known kinds of other projects that are not in namespaces, by their group. It is constant.
var clusterScoped = map[string]string{
	"apiregistration.k8s.io":            "APIService",
	"authentication.k8s.io":             "TokenReview",
	"authorization.k8s.io":              "SelfSubjectAccessReview SelfSubjectRulesReview SubjectAccessReview",
	"cert-manager.io":                   "ClusterIssuer",
	"config.openshift.io":               wellKnown["config.openshift.io"],
	"console.openshift.io":              wellKnown["console.openshift.io"],
	"extensions":                        "PodSecurityPolicy",
	"gateway.networking.k8s.io":         "GatewayClass",
	"image.openshift.io":                "Image",
	"machineconfiguration.openshift.io": wellKnown["machineconfiguration.openshift.io"],
	"oauth.openshift.io":                "OAuthClient",
	"operator.openshift.io":             "Authentication Console KubeAPIServer Network",
	"operators.coreos.com":              "Operator",
	"policy":                            "PodSecurityPolicy",
	"project.openshift.io":              "Project ProjectRequest",
	"security.openshift.io":             "SecurityContextConstraints",
	"snapshot.storage.k8s.io":           "VolumeSnapshotClass",
	"user.openshift.io":                 wellKnown["user.openshift.io"],
}

// namespacedVerbs are verbs on cluster-scoped objects that Kubernetes checks in the namespace of another object: bind and escalate for
// roles and bindings, use for pods. It is constant.
var namespacedVerbs = []string{"bind", "escalate", "use"}

// objectVerbs are the verbs for one namespace, which Kubernetes checks in that namespace. It is constant.
var objectVerbs = []string{"delete", "get", "patch", "update"}

// ForRole returns the rules that have an effect in the manager's role of a file. If it is a Role, these are not the rules for cluster-scoped
// objects and URLs, which a finding lists. The name of the file is for the finding. source is what the rules are for: the charts.
func ForRole(name string, text []byte, rules []Rule, source string) ([]Rule, diag.Findings) {
	role, err := findRole(name, text)
	if err != nil || !role.namespaced {
		return rules, nil // UpdateRole reports the error
	}
	wanted, kept, dropped := Permissions{}, Permissions{}, Permissions{}
	for _, r := range rules {
		wanted.AddRule(r)
	}
	for t, verbs := range wanted {
		for verb := range verbs {
			if t.inNamespace(verb) {
				kept.Add(t, verb)
			} else {
				dropped.Add(t, verb)
			}
		}
	}
	if len(dropped) == 0 {
		return rules, nil
	}
	var list []string
	for _, t := range slices.SortedFunc(maps.Keys(dropped), compareTargets) {
		list = append(list, t.String()+" ("+strings.Join(slices.Sorted(maps.Keys(dropped[t])), ", ")+")")
	}
	return kept.Rules(), diag.Findings{{
		Position: diag.Position{File: name, Line: role.line + 1},
		Problem:  "a Role can't grant the permissions on cluster-scoped objects that " + source + " need: " + strings.Join(list, ", "),
		Fix:      "grant them with a ClusterRole and a ClusterRoleBinding",
	}}
}

// inNamespace reports whether a Role can grant a verb on a target.
func (t Target) inNamespace(verb string) bool {
	resource, _, _ := strings.Cut(t.Resource, "/")
	switch {
	case t.URL != "":
		return false
	case slices.Contains(namespacedVerbs, verb):
		return true
	case t.Group == "" && resource == "namespaces":
		return slices.Contains(objectVerbs, verb)
	}
	if kind, _, ok := project.FindCoreKind(t.Group, resource); ok {
		core, _ := project.FindCoreResource(t.Group, kind)
		return core.Namespaced
	}
	return !slices.ContainsFunc(strings.Fields(clusterScoped[t.Group]), func(kind string) bool { return project.RegularPlural(kind) == resource })
}

// String returns the resource with its group, and the name of the object if the target is only one: nodes, deployments.apps.
func (t Target) String() string {
	if t.URL != "" {
		return t.URL
	}
	text := t.Resource
	if t.Group != "" {
		text += "." + t.Group
	}
	if t.Name != "" {
		text += " " + t.Name
	}
	return text
}
