package watches

import (
	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// A Source is a Secret or ConfigMap that contains values of releases or variables of runs. Its keys are named as in Flux's HelmRelease.
type Source struct {
	// Kind is Secret or ConfigMap.
	Kind string
	// Name is the name of the object. Otherwise, NameFrom is the path in the custom resource of the name, such as spec.secretName.
	Name, NameFrom string
	// Namespace is the object's for cluster-scoped custom resources. The others find it in their own namespace.
	Namespace string
	// Key is the key of the object with the content; empty is values.yaml, or vars.yaml for variables.
	Key string
	// Target is what the content becomes: the path of a value, or the name of a variable. If it is empty, the content is a mapping in YAML.
	Target string
	// Optional sources may be missing.
	Optional bool
}

// sourceFormat is the format of sources in one layout.
type sourceFormat struct {
	key, target string
	checkTarget func(string) []string
}

func valuesFromFormat() sourceFormat {
	return sourceFormat{"valuesKey", "targetPath", func(path string) []string {
		if valuePath.MatchString(path) {
			return nil
		}
		return []string{"must be the path of a value, such as auth.password or servers[0].token"}
	}}
}

func varsFromFormat() sourceFormat {
	return sourceFormat{"varsKey", "targetVar", func(name string) []string {
		if variableName.MatchString(name) {
			return nil
		}
		return []string{"must be the name of a variable, such as db_password"}
	}}
}

var (
	valuePath    = lazyregexp.New(`^([A-Za-z0-9_/-]|\\\.)+(\[[0-9]{1,3}\])*(\.([A-Za-z0-9_/-]|\\\.)+(\[[0-9]{1,3}\])*)*$`)
	variableName = lazyregexp.New(`^[A-Za-z_][A-Za-z0-9_]*$`)
)

// sources returns a function that reads a list of sources.
func (p *parser) sources(into *[]Source, f sourceFormat) func(*yaml.Node) {
	return func(node *yaml.Node) {
		if p.isVariable(node) {
			return
		}
		keys := "kind, name or nameFrom, and can have " + f.key + ", " + f.target + " and optional"
		for _, mapping := range p.objects(node, "must be a list of Secrets and ConfigMaps; each must have the keys ", keys) {
			var s Source
			p.mapping(mapping, map[string]func(*yaml.Node){
				"kind":      p.choice(&s.Kind, "Secret", "ConfigMap"),
				"name":      p.text(&s.Name, validation.IsDNS1123Subdomain),
				"nameFrom":  p.text(&s.NameFrom, checkFieldPath),
				"namespace": p.text(&s.Namespace, validation.IsDNS1123Label),
				f.key:       p.text(&s.Key, validation.IsConfigMapKey),
				f.target:    p.text(&s.Target, f.checkTarget),
				"optional":  p.boolean(&s.Optional),
			}, nil)
			p.require(mapping, "kind", s.Kind)
			if p.requireName(mapping, s.Name, s.NameFrom) && s.NameFrom != "" && s.Namespace != "" {
				p.addf(mapping, "namespace requires name: with nameFrom, whoever creates a custom resource could read every object of the namespace")
			}
			*into = append(*into, s)
		}
	}
}

// sourceValues returns what text writes.
func sourceValues(sources []Source, f sourceFormat) []any {
	var list []any
	for _, s := range sources {
		values := textValues(map[string]string{
			"kind": s.Kind, "name": s.Name, "nameFrom": s.NameFrom, "namespace": s.Namespace, f.key: s.Key, f.target: s.Target,
		})
		if s.Optional {
			values["optional"] = true
		}
		list = append(list, values)
	}
	return list
}
