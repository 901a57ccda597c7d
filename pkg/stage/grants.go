package stage

import (
	"encoding/json"
	"fmt"
	"net/url"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/gateway"
	"github.com/operon-sdk/operon/pkg/kube"
)

// A Rule is a rule of a Role or ClusterRole that bindings grant to an operator.
type Rule struct {
	// Role is the role's kind and name, such as "ClusterRole manager-role", and Index the place of the rule in it.
	Role  string `json:"-"`
	Index int    `json:"-"`

	APIGroups, Resources, ResourceNames, NonResourceURLs, Verbs []string

	// namespaces are where bindings grant the rule; an empty one is the whole cluster.
	namespaces []string
	used       map[access]bool
}

// An access is a request in the terms of RBAC. The resource has a subresource.
type access struct{ verb, group, resource, path string }

// Grants are the rules that are granted to an operator, in the order of its manifests, and what it has used of them.
type Grants struct {
	of     *Permissions
	rules  []*Rule
	denied []gateway.Record
	// seen are the requests that the rules have permitted, with what decides about that.
	seen map[gateway.Request]bool
	// audited reports whether an audit log has been read.
	audited bool
}

// Grants returns the rules that the roles and bindings grant to the service account. Roles that the manifests don't contain are unknown,
// except for cluster-admin, and aggregated ones have only their own rules.
func (p *Permissions) Grants() (*Grants, error) {
	g := &Grants{of: p, seen: map[gateway.Request]bool{}}
	for _, binding := range p.objects {
		if !strings.HasSuffix(binding.GetKind(), "Binding") || !slices.ContainsFunc(kube.ListAt(binding.Object, "subjects"), p.isSubject) {
			continue
		}
		namespace := ""
		if binding.GetKind() == "RoleBinding" {
			namespace = p.namespaceOf(binding)
		}
		rules, err := p.rulesOf(kube.StringAt(binding.Object, "roleRef", "kind"), namespace, kube.StringAt(binding.Object, "roleRef", "name"))
		if err != nil {
			return nil, err
		}
		for _, rule := range rules {
			g.add(rule, namespace)
		}
	}
	return g, nil
}

// add adds a rule, or a namespace to a known one.
func (g *Grants) add(rule *Rule, namespace string) {
	i := slices.IndexFunc(g.rules, func(known *Rule) bool { return known.Role == rule.Role && known.Index == rule.Index })
	if i < 0 {
		i, g.rules = len(g.rules), append(g.rules, rule)
	}
	g.rules[i].namespaces = append(g.rules[i].namespaces, namespace)
}

// isSubject reports whether a subject of a binding is the service account, or a group that it is in.
func (p *Permissions) isSubject(subject any) bool {
	switch name := kube.StringAt(subject, "name"); kube.StringAt(subject, "kind") {
	case "ServiceAccount":
		return name == p.ServiceAccount && kube.StringAt(subject, "namespace") == p.Namespace
	case "User":
		return name == userName(p.Namespace, p.ServiceAccount)
	case "Group":
		return slices.Contains([]string{"system:authenticated", "system:serviceaccounts", "system:serviceaccounts:" + p.Namespace}, name)
	}
	return false
}

// user returns the name that the operator has as a user of the cluster for which its manifests are.
func (p *Permissions) user() string { return userName(p.deployed, p.ServiceAccount) }

// userName returns the name of a service account as a user.
func userName(namespace, serviceAccount string) string {
	return "system:serviceaccount:" + namespace + ":" + serviceAccount
}

// namespaceOf returns the namespace to which an object is applied.
func (p *Permissions) namespaceOf(o *kube.Object) string {
	if namespace := o.GetNamespace(); namespace != "" {
		return namespace
	}
	return p.Namespace
}

// rulesOf returns the rules of a role.
func (p *Permissions) rulesOf(kind, namespace, name string) (rules []*Rule, err error) {
	label := kind + " " + name
	i := slices.IndexFunc(p.objects, func(o *kube.Object) bool {
		return o.GetKind() == kind && o.GetName() == name && (kind == "ClusterRole" || p.namespaceOf(o) == namespace)
	})
	switch {
	case i >= 0:
		data, err := json.Marshal(kube.ListAt(p.objects[i].Object, "rules"))
		if err == nil {
			err = json.Unmarshal(data, &rules)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", label, err)
		}
	case label == "ClusterRole cluster-admin":
		rules = []*Rule{{APIGroups: []string{all}, Resources: []string{all}, Verbs: []string{all}}, {NonResourceURLs: []string{all}, Verbs: []string{all}}}
	}
	for i, rule := range rules {
		rule.Role, rule.Index, rule.used = label, i, map[access]bool{}
	}
	return rules, nil
}

// Permits reports whether a rule permits a request.
func (g *Grants) Permits(r gateway.Request) bool {
	return slices.ContainsFunc(g.rules, func(rule *Rule) bool { return rule.permits(r) })
}

// Use records that the operator has used the rules that permit a request. A patch that creates an object also uses the verb create.
func (g *Grants) Use(r gateway.Record) {
	if _, denied := DenialOf(r); denied {
		return
	}
	g.use(r.Request)
	if r.Created() && r.Verb != "create" {
		r.Verb = "create"
		g.use(r.Request)
	}
}

// UseRole records that the operator has used the rules of a role that it has written: it may only grant what it is granted.
func (g *Grants) UseRole(role *kube.Object) {
	for _, rule := range kube.ListAt(role.Object, "rules") {
		for _, group := range kube.ListAt(rule, "apiGroups") {
			for _, resource := range kube.ListAt(rule, "resources") {
				for _, verb := range kube.ListAt(rule, "verbs") {
					r := gateway.Request{Namespace: role.GetNamespace()}
					r.Verb, _ = verb.(string)
					r.Group, _ = group.(string)
					r.Resource, _ = resource.(string)
					g.use(r)
				}
			}
		}
	}
}

func (g *Grants) use(r gateway.Request) {
	r = deciding(r)
	for _, rule := range g.rules {
		if rule.permits(r) {
			rule.used[accessOf(r)] = true
			g.seen[r] = true
		}
	}
}

// deciding returns a request with only what authorization reads.
func deciding(r gateway.Request) gateway.Request {
	d := gateway.Request{Verb: r.Verb, Group: r.Group, Resource: r.Resource, Subresource: r.Subresource, Namespace: r.Namespace, Name: authorizedName(r)}
	switch {
	case r.Resource == "":
		d.Path = r.Path
	case d.Name != "" && d.Name != r.Name:
		d.Query = url.Values{"fieldSelector": {"metadata.name=" + d.Name}}.Encode()
	}
	return d
}

func accessOf(r gateway.Request) access {
	if r.Resource == "" {
		return access{verb: r.Verb, path: r.Path}
	}
	a := access{verb: r.Verb, group: r.Group, resource: r.Resource}
	if r.Subresource != "" {
		a.resource += "/" + r.Subresource
	}
	return a
}

// all stands for all groups, resources or verbs.
const all = "*"

// permits reports whether the rule permits a request, as the authorizer of the API server decides it.
func (r *Rule) permits(request gateway.Request) bool {
	a := accessOf(request)
	if !has(r.Verbs, a.verb) {
		return false
	}
	if a.resource == "" {
		return slices.Contains(r.namespaces, "") && slices.ContainsFunc(r.NonResourceURLs, func(pattern string) bool {
			prefix, open := strings.CutSuffix(pattern, all)
			return pattern == a.path || open && strings.HasPrefix(a.path, prefix)
		})
	}
	_, subresource, _ := strings.Cut(a.resource, "/")
	return has(r.APIGroups, a.group) &&
		(has(r.Resources, a.resource) || subresource != "" && slices.Contains(r.Resources, all+"/"+subresource)) &&
		(len(r.ResourceNames) == 0 || slices.Contains(r.ResourceNames, authorizedName(request))) &&
		(slices.Contains(r.namespaces, "") || slices.Contains(r.namespaces, request.Namespace))
}

func has(list []string, item string) bool {
	return slices.Contains(list, all) || slices.Contains(list, item)
}

// authorizedName returns the name of an object that a rule can be limited to, or "". The name of an object that is created is in the body
// of the request, which authorization doesn't read. The name of one that is listed is in the field selector.
func authorizedName(r gateway.Request) string {
	switch r.Verb {
	case "create":
		if r.Subresource == "" {
			return ""
		}
	case "list", "watch", "deletecollection":
		query, _ := url.ParseQuery(r.Query) // what it could parse
		for term := range strings.SplitSeq(query.Get("fieldSelector"), ",") {
			if name, found := strings.CutPrefix(term, "metadata.name="); found {
				return name
			}
		}
		return ""
	}
	return r.Name
}
