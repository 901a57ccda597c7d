package walk

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// A command is a command of a sequence. allowed reports whether it must succeed, apply changes the model.
type command interface {
	line(*walkModel) string
	allowed(*walkModel) bool
	apply(*walkModel)
}

// A step is a command of a sequence, with checks.
type step struct {
	command
	// undo is a command that reverts this one, or empty.
	undo string
	// same checks that the command changes nothing, such as --force on files without edits.
	same bool
	// dry runs it with --dry-run first, build builds the project afterwards.
	dry, build bool
	// fresh is the init command that creates the project as it must be after this step, or empty.
	fresh string
}

// A walker selects steps at random.
type walker struct {
	*rand.Rand
	groups, kinds []string
	m             *walkModel
}

// newWalk returns a random sequence: an init, n steps and, often, the deletion of all resources.
func newWalk(seed uint64, n int) (first *walkModel, steps []step) {
	w := &walker{Rand: rand.New(rand.NewPCG(seed, 0)), m: &walkModel{license: "apache2"}}
	w.m.multi, w.m.scoped = w.chance(40), w.chance(30)
	if w.chance(30) {
		w.m.license = "none"
	}
	w.groups = w.some(3, "cache", "ship", "sea-creatures", "apps", "my.policy", "webhook", "core2", "client", "config", "runtime")
	w.kinds = w.some(4, "Memcached", "Redis", "Frigate", "RedisBackup", "HTTPRoute", "Type", "Context", "Error", "Manager",
		"Client", "Policy", "Test", "Suite", "DNS", "Object", "Status2", "Mouse", "Scheme", "Reconciler", "WebhookSuite", "Main", "Time", "String")
	first = w.m.clone()
	for range n {
		s := w.step()
		steps = append(steps, s)
		if s.undo == "" && !s.same && s.allowed(w.m) {
			s.apply(w.m)
		}
	}
	steps[len(steps)-1].build = true
	if back := w.back(); len(back) > 0 {
		back[len(back)-1].fresh = w.m.fresh()
		steps = append(steps, back...)
	}
	return first, steps
}

func (w *walker) chance(percent int) bool { return w.IntN(100) < percent }

func (w *walker) one(of ...string) string { return of[w.IntN(len(of))] }

// some returns n different texts.
func (w *walker) some(n int, of ...string) []string {
	var drawn []string
	for _, i := range w.Perm(len(of))[:n] {
		drawn = append(drawn, of[i])
	}
	return drawn
}

// step returns a command, which must succeed in most cases.
func (w *walker) step() step {
	var c command
	refusable := w.chance(15)
	for range 20 {
		switch n := w.IntN(100); {
		case n < 50:
			c = w.api()
		case n < 74:
			c = w.webhook()
		case n < 87:
			c = w.edit()
		default:
			c = w.delete()
		}
		if refusable || c.allowed(w.m) {
			break
		}
	}
	s := step{command: c, dry: w.chance(8), build: w.chance(5)}
	if !c.allowed(w.m) {
		return s
	}
	switch c := c.(type) {
	case createAPICommand:
		if w.chance(35) {
			s.undo = c.undo(w.m)
		} else if existing := w.m.find(c.group, c.version, c.kind); existing != nil && existing.repeat != "" && w.chance(50) {
			return step{command: forceCommand{c.name}, same: true}
		}
	case createWebhookCommand:
		if w.chance(35) {
			s.undo = c.undo(w.m)
		}
	case editCommand:
		if w.chance(40) {
			s.undo = w.undoEdit(c)
		}
	}
	return s
}

// A forceCommand rewrites the types of a kind with the command that created them.
type forceCommand struct{ name }

func (c forceCommand) repeat(m *walkModel) string {
	if existing := m.find(c.group, c.version, c.kind); existing != nil && existing.repeat != "" {
		return existing.repeat + " --force"
	}
	return "generate --check" // the sequence was shortened
}

func (c forceCommand) line(m *walkModel) string { return c.repeat(m) }
func (c forceCommand) allowed(*walkModel) bool  { return true }
func (c forceCommand) apply(*walkModel)         {}

// undoEdit returns the edit command that reverts another one, or "".
func (w *walker) undoEdit(c editCommand) string {
	was := map[string]bool{"multigroup": w.m.multi, "namespaced": w.m.scoped}
	if c.flag == "license" {
		if c.owner != "" && w.m.owner == "" && w.m.license != "none" {
			return "" // no flag removes an owner
		}
		return editCommand{flag: "license", value: w.m.license, owner: w.m.owner}.line(w.m)
	}
	after := w.m.clone()
	c.apply(after)
	back := editCommand{flag: c.flag, value: fmt.Sprint(was[c.flag])}
	if !back.allowed(after) {
		return ""
	}
	return back.line(after)
}

// name returns a kind, preferably an existing one.
func (w *walker) name() name {
	switch n := w.IntN(100); {
	case n < 45 && len(w.m.resources) > 0:
		t := w.m.resources[w.IntN(len(w.m.resources))]
		n := name{group: t.group, version: t.version, kind: t.kind, external: !t.own}
		if t.kind == "CustomResourceDefinition" {
			n = customResourceDefinition()
		}
		return n
	case n < 60:
		return [...]name{
			{group: "apps", version: "v1", kind: "Deployment", external: true},
			{group: "core", version: "v1", kind: "Pod", external: true},
			{group: "core", version: "v1", kind: "Namespace", external: true},
			{group: "networking", version: "v1", kind: "Ingress", external: true},
			{group: "batch", version: "v1", kind: "Job", external: true},
			{group: "rbac.authorization", version: "v1", kind: "Role", external: true},
			customResourceDefinition(),
		}[w.IntN(7)]
	}
	return name{group: w.one(w.groups...), version: w.one("v1", "v1alpha1", "v2"), kind: w.one(w.kinds...)}
}

func customResourceDefinition() name {
	return name{"apiextensions", "v1", "CustomResourceDefinition", true,
		" --external-api-path k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1 --external-api-domain k8s.io"}
}

func (w *walker) api() command {
	c := createAPICommand{name: w.name(), controller: w.chance(75)}
	c.resource = !c.external && w.m.find(c.group, c.version, c.kind) == nil
	if w.m.find(c.group, c.version, c.kind) != nil && !c.resource || c.external {
		c.controller = true
	}
	if c.resource {
		for _, t := range w.m.resources {
			if t.group == c.group && t.kind == c.kind {
				c.cluster = t.cluster // versions share the scope
			}
		}
		if w.chance(12) {
			c.cluster = !c.cluster
		}
		if w.chance(15) {
			c.plural = "many" + strings.ToLower(c.kind)
		}
		if c.controller && w.chance(35) {
			c.imageOf = w.one("memcached:1.6.39-alpine", "redis:7 --image-container-port 6379",
				"app:1 --run-as-user 1001 --image-container-command run,--fast", "ghcr.io/some/app@sha256:"+strings.Repeat("ab", 32))
		}
	}
	if c.controller && w.chance(35) {
		c.controllerName = strings.ToLower(c.kind) + w.one("-backup", "-restore", "")
		if w.chance(20) {
			c.controllerName = w.one("extra", "a-test", "suite", "redis-backup", "linux", "x-2")
		}
	}
	if w.chance(3) && !c.external { // the project may have an API of this name
		c.resource = !c.resource
	}
	return c
}

func (w *walker) webhook() command {
	c := createWebhookCommand{name: w.name(), defaulting: w.chance(50), validation: w.chance(50)}
	if !c.external && w.chance(50) {
		c.conversion = true
		for _, t := range w.m.resources {
			if t.group == c.group && t.kind == c.kind && t.version != c.version && w.chance(75) {
				c.spokes = append(c.spokes, t.version)
			}
		}
	}
	if c.defaulting && w.chance(25) {
		c.path = "/mutate-" + strings.ToLower(c.kind) + "-" + c.version + "-" + strings.ReplaceAll(c.group, ".", "-")
	}
	return c
}

func (w *walker) edit() command {
	switch w.IntN(5) {
	case 0, 1:
		return editCommand{flag: "multigroup", value: fmt.Sprint(!w.m.multi)}
	case 2, 3:
		return editCommand{flag: "namespaced", value: fmt.Sprint(!w.m.scoped)}
	}
	return editCommand{flag: "license", value: w.one("mit", "apache2"), owner: w.one("Acme", "Example-Inc", "")}
}

func (w *walker) delete() command {
	if w.chance(50) {
		return w.deleteWebhook()
	}
	c := deleteAPICommand{name: w.name()}
	if existing := w.m.find(c.group, c.version, c.kind); existing != nil && len(existing.controllers) > 0 && w.chance(50) {
		c.controllerName = existing.controllers[w.IntN(len(existing.controllers))]
	}
	return c
}

func (w *walker) deleteWebhook() command {
	c := deleteWebhookCommand{name: w.name(), defaulting: w.chance(40), validation: w.chance(40)}
	if existing := w.m.find(c.group, c.version, c.kind); existing != nil && len(existing.spokes) > 0 && w.chance(50) {
		c.conversion = true
		if w.chance(50) {
			c.spokes = existing.spokes[:1:1]
		}
	}
	return c
}

// back returns steps that delete all resources, in random order.
func (w *walker) back() []step {
	var steps []step
	do := func(c command) {
		steps = append(steps, step{command: c})
		c.apply(w.m)
	}
	resources := w.m.clone().resources
	for _, i := range w.Perm(len(resources)) {
		if t := resources[i]; t.hasWebhooks() {
			do(deleteWebhookCommand{name: t.name()})
		}
	}
	resources = w.m.clone().resources
	for _, i := range w.Perm(len(resources)) {
		do(deleteAPICommand{name: resources[i].name()})
	}
	return steps
}
