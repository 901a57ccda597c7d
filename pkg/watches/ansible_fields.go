package watches

import (
	"fmt"
	"maps"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// ansibleFormat describes the entries of Ansible operators.
func ansibleFormat() format[AnsibleWatch] {
	return format[AnsibleWatch]{
		operator: "an Ansible", required: "version, kind, and playbook or role",
		foreignOperator: "Helm", foreignKeys: helmKeys(), lenient: true,
		create:  func() AnsibleWatch { return NewAnsibleWatch(schema.GroupVersionKind{}) },
		readers: (*AnsibleWatch).readers,
		check:   (*AnsibleWatch).check,
		identity: func(w *AnsibleWatch) (schema.GroupVersionKind, *diag.Position) {
			return w.GroupVersionKind(), &w.Position
		},
		text: (*AnsibleWatch).text,
		content: func(w *AnsibleWatch) ([]byte, error) {
			bare := *w
			bare.Comments = nil
			return bare.text()
		},
		dependsOn: func(w *AnsibleWatch) []Dependency {
			if w.Selector != nil {
				return nil
			}
			return w.DependsOn
		},
	}
}

// ansibleKeys are the keys that only entries of Ansible operators have.
func ansibleKeys() []string {
	return []string{
		"playbook", "role", "vars", "varsFrom", "finalizer", "manageStatus", "watchClusterScopedResources", "snakeCaseParameters",
		"markUnsafe", "maxRunnerArtifacts", "watchAnnotationsChanges", "blacklist", "runTimeout", "cacheReads",
		"watchOtherResources", "retries",
	}
}

// readers returns the functions that read the values of an entry's keys.
func (w *AnsibleWatch) readers(p *parser) map[string]func(*yaml.Node) {
	readers := p.kindReaders(&w.Group, &w.Version, &w.Kind)
	maps.Copy(readers, map[string]func(*yaml.Node){
		"playbook":  p.text(&w.Playbook, noProblem),
		"role":      p.text(&w.Role, noProblem),
		"vars":      func(value *yaml.Node) { w.Vars = p.typedValues(value, "which are extra variables of Ansible") },
		"dependsOn": p.dependsOn(&w.DependsOn),
		"varsFrom":  p.sources(&w.VarsFrom, varsFromFormat()),
		"reconcilePeriod": func(value *yaml.Node) {
			if period := p.duration(value); !p.isVariable(value) {
				w.ReconcilePeriod = &period
			}
		},
		"runTimeout": func(value *yaml.Node) { w.RunTimeout = p.duration(value) },
		"maxRunnerArtifacts": p.number(0, func(n int) {
			if n > 0 {
				w.MaxRunnerArtifacts = n
			}
		}),
		"retries":                     p.number(-1, func(n int) { w.Retries = n }),
		"maxConcurrentReconciles":     p.number(1, func(n int) { w.MaxConcurrentReconciles = n }),
		"rollout":                     p.rollout(&w.Rollout),
		"manageStatus":                p.boolean(&w.ManageStatus),
		"watchDependentResources":     p.boolean(&w.WatchDependentResources),
		"watchClusterScopedResources": p.boolean(&w.WatchClusterScopedResources),
		"watchAnnotationsChanges":     p.boolean(&w.WatchAnnotationsChanges),
		"watchOtherResources":         func(value *yaml.Node) { w.WatchOtherResources = p.otherResources(value) },
		"outputs":                     p.outputs(&w.Outputs, ansibleOutputs()),
		"snakeCaseParameters":         p.boolean(&w.SnakeCaseParameters),
		"markUnsafe":                  p.boolean(&w.MarkUnsafe),
		"cacheReads":                  p.boolean(&w.CacheReads),
		"blacklist":                   func(value *yaml.Node) { w.Blacklist = p.blacklist(value) },
		"selector":                    func(value *yaml.Node) { w.Selector = p.selector(value) },
		"finalizer":                   func(value *yaml.Node) { w.Finalizer = w.readFinalizer(p, value) },
	})
	w.TargetNamespace.addReaders(p, readers)
	return readers
}

func noProblem(string) []string { return nil }

// check adds findings about an entry as a whole.
func (w *AnsibleWatch) check(p *parser, node *yaml.Node) {
	p.require(node, "version", w.Version)
	p.require(node, "kind", w.Kind)
	w.TargetNamespace.check(p, node)
	if len(w.Outputs) > 0 && !w.ManageStatus {
		p.addf(node, "outputs are part of the status, which the operator doesn't write with manageStatus: false; remove one of the two keys")
	}
	switch {
	case w.Playbook == "" && w.Role == "" && !p.lenient && !isCollection(node, "playbook") && !isCollection(node, "role"):
		p.addf(node, "playbook or role is required")
	case w.Playbook != "" && w.Role != "":
		w.Warnings.Addf(p.at(node), "the entry has a playbook and a role; the role is ignored, so remove one of them")
	}
}

// isCollection reports whether the value of a key is a list or a map, which is a finding already.
func isCollection(node *yaml.Node, key string) bool {
	value := safeyaml.Child(node, key)
	return value != nil && safeyaml.Resolve(value).Kind != yaml.ScalarNode
}

func (p *parser) blacklist(node *yaml.Node) []schema.GroupVersionKind {
	if p.isVariable(node) {
		return nil
	}
	if node.Kind != yaml.SequenceNode {
		p.addf(node, "must be a list of kinds with the keys group, version and kind")
		return nil
	}
	var kinds []schema.GroupVersionKind
	for _, element := range node.Content {
		mapping := safeyaml.Resolve(element)
		if mapping.Kind != yaml.MappingNode {
			p.addf(element, "must be a kind with the keys group, version and kind")
			continue
		}
		var gvk schema.GroupVersionKind
		p.mapping(mapping, p.kindReaders(&gvk.Group, &gvk.Version, &gvk.Kind), nil)
		p.require(mapping, "version", gvk.Version)
		p.require(mapping, "kind", gvk.Kind)
		kinds = append(kinds, gvk)
	}
	return kinds
}

// readFinalizer reads the run for deleted custom resources.
func (w *AnsibleWatch) readFinalizer(p *parser, node *yaml.Node) *AnsibleFinalizer {
	f := &AnsibleFinalizer{}
	if node.Kind != yaml.MappingNode {
		p.addf(node, "must have the keys name, and playbook, role or vars")
		return f
	}
	p.mapping(node, map[string]func(*yaml.Node){
		"name":     p.text(&f.Name, validation.IsQualifiedName),
		"playbook": p.text(&f.Playbook, noProblem),
		"role":     p.text(&f.Role, noProblem),
		"vars":     func(value *yaml.Node) { f.Vars = p.typedValues(value, "which are extra variables of Ansible") },
	}, nil)
	p.require(node, "name", f.Name)
	switch {
	case f.Playbook != "" && f.Role != "":
		w.Warnings.Addf(p.at(node), "the finalizer has a playbook and a role; the role is ignored, so remove one of them")
	case f.Playbook == "" && f.Role == "" && len(f.Vars) == 0:
		w.Warnings.Addf(p.at(node), "the finalizer has no playbook, role or vars; a deleted resource is reconciled like any other, so add one of them")
	}
	return f
}

// text returns the entry as a list with one element.
func (w *AnsibleWatch) text() ([]byte, error) {
	t := entryText{comments: w.Comments}
	t.add("version", w.Version)
	t.add("group", w.Group)
	t.add("kind", w.Kind)
	t.addIf(w.Playbook != "", "playbook", w.Playbook)
	t.addIf(w.Role != "", "role", w.Role)
	t.addIf(len(w.Vars) > 0, "vars", w.Vars)
	t.addIf(len(w.DependsOn) > 0, "dependsOn", dependencyValues(w.DependsOn))
	t.addIf(len(w.VarsFrom) > 0, "varsFrom", sourceValues(w.VarsFrom, varsFromFormat()))
	t.addIf(w.TargetNamespace.Name != "", "targetNamespace", w.TargetNamespace.Name)
	t.addIf(w.TargetNamespace.From != "", "targetNamespaceFrom", w.TargetNamespace.From)
	t.addIf(w.ReconcilePeriod != nil, "reconcilePeriod", durationText(w.ReconcilePeriod))
	t.addIf(w.RunTimeout != 0, "runTimeout", durationText(&w.RunTimeout))
	t.addIf(w.Retries != -1, "retries", w.Retries)
	t.addIf(w.MaxRunnerArtifacts != 0 && w.MaxRunnerArtifacts != defaultMaxRunnerArtifacts, "maxRunnerArtifacts", w.MaxRunnerArtifacts)
	t.addIf(w.MaxConcurrentReconciles != 0, "maxConcurrentReconciles", w.MaxConcurrentReconciles)
	rollout := w.Rollout.values()
	t.addIf(len(rollout) > 0, "rollout", rollout)
	t.addIf(!w.ManageStatus, "manageStatus", false)
	t.addIf(!w.WatchDependentResources, "watchDependentResources", false)
	t.addIf(w.WatchClusterScopedResources, "watchClusterScopedResources", true)
	t.addIf(w.WatchAnnotationsChanges, "watchAnnotationsChanges", true)
	t.addIf(len(w.WatchOtherResources) > 0, "watchOtherResources", otherValues(w.WatchOtherResources))
	t.addIf(len(w.Outputs) > 0, "outputs", outputValues(w.Outputs, ansibleOutputs()))
	t.addIf(!w.SnakeCaseParameters, "snakeCaseParameters", false)
	t.addIf(w.MarkUnsafe, "markUnsafe", true)
	t.addIf(w.CacheReads, "cacheReads", true)
	var blacklist []any
	for _, gvk := range w.Blacklist {
		blacklist = append(blacklist, map[string]any{"group": gvk.Group, "version": gvk.Version, "kind": gvk.Kind})
	}
	t.addIf(len(blacklist) > 0, "blacklist", blacklist)
	t.addIf(w.Selector != nil, "selector", selectorValues(w.Selector))
	t.addIf(w.Finalizer != nil, "finalizer", w.Finalizer.values())
	return t.bytes()
}

// durationText returns a duration without the units that are zero, such as 30m.
func durationText(d *time.Duration) string {
	if d == nil {
		return ""
	}
	text := d.String()
	if strings.HasSuffix(text, "m0s") {
		text = strings.TrimSuffix(text, "0s")
	}
	if strings.HasSuffix(text, "h0m") {
		text = strings.TrimSuffix(text, "0m")
	}
	return text
}

func (f *AnsibleFinalizer) values() map[string]any {
	values := map[string]any{}
	if f == nil {
		return values
	}
	values["name"] = f.Name
	for key, text := range map[string]string{"playbook": f.Playbook, "role": f.Role} {
		if text != "" {
			values[key] = text
		}
	}
	if len(f.Vars) > 0 {
		values["vars"] = f.Vars
	}
	return values
}

// An entryText is an entry that is being written.
type entryText struct {
	comments map[string]string
	lines    []string
	written  map[string]bool
	err      error
}

func (t *entryText) addIf(given bool, key string, value any) {
	if given {
		t.add(key, value)
	}
}

// add writes a key with its comment.
func (t *entryText) add(key string, value any) {
	data, err := encode(map[string]any{key: value})
	if err != nil && t.err == nil {
		t.err = fmt.Errorf("writing %s: %w", key, err)
		return
	}
	t.addComment(key)
	t.lines = append(t.lines, strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")...)
	if t.written == nil {
		t.written = map[string]bool{}
	}
	t.written[key] = true
}

func (t *entryText) addComment(key string) {
	if t.comments[key] == "" {
		return
	}
	for line := range strings.SplitSeq(strings.TrimSpace(t.comments[key]), "\n") {
		t.lines = append(t.lines, strings.TrimRight("# "+line, " "))
	}
}

// bytes returns the entry as a list with one element.
func (t *entryText) bytes() ([]byte, error) {
	for _, key := range sortedKeys(t.comments) {
		if !t.written[key] {
			t.addComment(key)
		}
	}
	var b strings.Builder
	for i, line := range t.lines {
		switch {
		case i == 0:
			b.WriteString("- ")
		case line != "":
			b.WriteString("  ")
		}
		b.WriteString(line + "\n")
	}
	return []byte(b.String()), t.err
}
