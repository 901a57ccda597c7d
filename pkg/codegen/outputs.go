package codegen

import (
	"cmp"
	"path"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/rbac"
)

// Manifests returns a function that reports whether a file, named relative to the root, is a manifest that calls write.
// Without calls, these are the ones of a scaffolded project.
func Manifests(calls []Call) func(name string) bool {
	if len(calls) == 0 {
		calls = DefaultCalls()
	}
	var tasks []*task
	for _, call := range calls {
		some, err := call.tasks()
		if err != nil {
			continue // generating reports it
		}
		tasks = append(tasks, some...)
	}
	return func(name string) bool {
		dir, base := path.Split(name)
		for _, t := range tasks {
			if t.discarded || t.config != path.Clean(dir) {
				continue
			}
			switch {
			case t.kind == RBAC && base == roleFile(t), t.kind == Webhook && base == "manifests.yaml",
				t.kind == CRD && strings.Contains(base, "_") && path.Ext(base) == ".yaml": // GROUP_PLURAL.yaml
				return true
			}
		}
		return false
	}
}

// roleFile returns the name of the file that a generator of roles writes.
func roleFile(t *task) string {
	roles, _ := t.generator.(rbac.Generator)
	return cmp.Or(roles.FileName, "role.yaml")
}
