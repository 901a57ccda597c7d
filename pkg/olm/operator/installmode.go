package operator

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/kube"
	"github.com/operon-sdk/operon/pkg/olm"
)

// An InstallMode selects the namespaces that an operator watches. The zero value selects the default.
type InstallMode struct {
	// Type is one of Modes.
	Type string
	// Namespaces are the watched namespaces for SingleNamespace and MultiNamespace, sorted.
	Namespaces []string
}

// The install modes.
const (
	allNamespaces   = "AllNamespaces"
	ownNamespace    = "OwnNamespace"
	singleNamespace = "SingleNamespace"
	multiNamespace  = "MultiNamespace"
)

// Modes returns the types of install modes.
func Modes() []string {
	return []string{allNamespaces, ownNamespace, singleNamespace, multiNamespace}
}

// ParseInstallMode parses TYPE or TYPE=namespace,namespace.
func ParseInstallMode(text string) (InstallMode, error) {
	if text == "" {
		return InstallMode{}, nil
	}
	kind, list, given := strings.Cut(text, "=")
	mode := InstallMode{Type: kind}
	if given {
		for namespace := range strings.SplitSeq(list, ",") {
			namespace = strings.TrimSpace(namespace)
			if len(validation.IsDNS1123Label(namespace)) > 0 {
				return InstallMode{}, fmt.Errorf("%q is not a valid namespace", namespace)
			}
			mode.Namespaces = append(mode.Namespaces, namespace)
		}
		slices.Sort(mode.Namespaces)
		mode.Namespaces = slices.Compact(mode.Namespaces)
	}
	switch kind {
	case allNamespaces, ownNamespace:
		if given {
			return InstallMode{}, fmt.Errorf("%s must not have namespaces", kind)
		}
	case singleNamespace:
		if len(mode.Namespaces) != 1 {
			return InstallMode{}, fmt.Errorf("must have one namespace, as %s=NAMESPACE", kind)
		}
	case multiNamespace:
		if len(mode.Namespaces) == 0 {
			return InstallMode{}, fmt.Errorf("must have namespaces, as %s=ONE,TWO", kind)
		}
	default:
		return InstallMode{}, fmt.Errorf("must be one of %s", strings.Join(Modes(), ", "))
	}
	return mode, nil
}

func (m InstallMode) String() string {
	if len(m.Namespaces) == 0 {
		return m.Type
	}
	return m.Type + "=" + strings.Join(m.Namespaces, ",")
}

// Targets returns the target namespaces of the OperatorGroup for a bundle; none means all. namespace is the operator's.
func (m InstallMode) Targets(b Bundle, namespace string) ([]string, error) {
	if len(b.Modes) == 0 {
		return nil, fmt.Errorf("%s supports no install mode; set one in spec.installModes of the ClusterServiceVersion", b.CSV)
	}
	kind := m.Type
	if kind == "" {
		switch {
		case slices.Contains(b.Modes, allNamespaces):
			kind = allNamespaces
		case slices.Contains(b.Modes, ownNamespace):
			kind = ownNamespace
		default:
			return nil, fmt.Errorf("%s supports only %s; pass the namespaces that it watches, as --install-mode %s=NAMESPACE",
				b.CSV, strings.Join(b.Modes, " and "), b.Modes[0])
		}
	}
	if kind == singleNamespace && m.Namespaces[0] == namespace {
		return nil, fmt.Errorf("%s is the operator's own namespace; that is --install-mode %s", namespace, ownNamespace)
	}
	if !slices.Contains(b.Modes, kind) {
		return nil, fmt.Errorf("%s does not support the install mode %s; it supports %s", b.CSV, kind, strings.Join(b.Modes, ", "))
	}
	if b.Converts && kind != allNamespaces {
		return nil, fmt.Errorf("%s has conversion webhooks, for which OLM requires the install mode %s", b.CSV, allNamespaces)
	}
	switch kind {
	case ownNamespace:
		return []string{namespace}, nil
	case allNamespaces:
		return nil, nil
	}
	return m.Namespaces, nil
}

// modeOf returns the install mode of an OperatorGroup with the given targets in a namespace.
func modeOf(targets []string, namespace string) string {
	switch {
	case len(targets) == 0:
		return allNamespaces
	case len(targets) == 1 && targets[0] == namespace:
		return ownNamespace
	case len(targets) == 1:
		return singleNamespace
	}
	return multiNamespace
}

// group returns the OperatorGroup of the namespace, nil if there is none, and the namespaces that the operator will watch.
func (r *run) group(ctx context.Context) (targets []string, found *kube.Object, err error) {
	groups, err := r.Client.List(ctx, kube.Resource{APIVersion: groupVersion, Name: "operatorgroups", Kind: "OperatorGroup"}, r.Namespace, nil)
	if err != nil {
		return nil, nil, olm.ExplainForbidden(err)
	}
	switch len(groups) {
	case 0:
		targets, err = r.Mode.Targets(r.Bundle, r.Namespace)
		return targets, nil, err
	case 1:
	default:
		var names []string
		for _, g := range groups {
			names = append(names, g.GetName())
		}
		return nil, nil, fmt.Errorf("the namespace %s has %d OperatorGroups (%s), with which OLM installs nothing; delete all but one",
			r.Namespace, len(groups), strings.Join(names, ", "))
	}
	for _, item := range kube.ListAt(groups[0].Object, "spec", "targetNamespaces") {
		if name, ok := item.(string); ok {
			targets = append(targets, name)
		}
	}
	slices.Sort(targets)
	mode := modeOf(targets, r.Namespace)
	if kube.ValueAt(groups[0].Object, "spec", "selector") != nil {
		return targets, groups[0], nil // its targets depend on labels of namespaces
	}
	if r.Mode.Type != "" {
		wanted, err := r.Mode.Targets(r.Bundle, r.Namespace)
		if err != nil {
			return nil, nil, err
		}
		if !slices.Equal(wanted, targets) {
			return nil, nil, fmt.Errorf("%s of the namespace has the install mode %s, not %s; leave out --install-mode to use it, or choose another namespace",
				kube.FullName(groups[0]), InstallMode{Type: mode, Namespaces: targets}, r.Mode)
		}
		return targets, groups[0], nil
	}
	if !slices.Contains(r.Bundle.Modes, mode) {
		return nil, nil, fmt.Errorf("%s of the namespace has the install mode %s, but %s supports only %s; choose another namespace",
			kube.FullName(groups[0]), InstallMode{Type: mode, Namespaces: targets}, r.Bundle.CSV, strings.Join(r.Bundle.Modes, ", "))
	}
	if _, err := (InstallMode{Type: mode, Namespaces: targets}).Targets(r.Bundle, r.Namespace); err != nil {
		return nil, nil, err
	}
	return targets, groups[0], nil
}
