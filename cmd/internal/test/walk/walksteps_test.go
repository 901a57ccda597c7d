package walk

import (
	"fmt"
	"math/rand/v2"
	"strings"
)

// command is one of a walk's commands. allowed is what the model makes of it, apply what it changes.
type command interface {
	line(*walkModel) string
	allowed(*walkModel) bool
	apply(*walkModel)
}

// step is a command of a walk with what is looked at around it.
type step struct {
	command
	// undo is a command that takes back what this one did; the walk goes on from where it was.
	undo string
	// same holds that the command changes nothing, as --force does not on what nobody edited.
	same bool
	// dry runs it with --dry-run first, whole builds the project afterwards.
	dry, whole bool
	// fresh is the init whose project this step must end at.
	fresh string
}

// walker draws the steps of a walk.
type walker struct {
	*rand.Rand
	groups, kinds []string
	m             *walkModel
}

// newWalk draws a whole walk: an init, n steps and, often, the way back to the beginning.
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
	steps[len(steps)-1].whole = true
	if back := w.back(); len(back) > 0 {
		back[len(back)-1].fresh = w.m.fresh()
		steps = append(steps, back...)
	}
	return first, steps
}

func (w *walker) chance(percent int) bool { return w.IntN(100) < percent }

func (w *walker) one(of ...string) string { return of[w.IntN(len(of))] }

// some draws several different texts.
func (w *walker) some(n int, of ...string) []string {
	var drawn []string
	for _, i := range w.Perm(len(of))[:n] {
		drawn = append(drawn, of[i])
	}
	return drawn
}

// step draws a command that is allowed most of the time.
func (w *walker) step() step {
	var c command
	refusable := w.chance(15)
	for range 20 {
		switch n := w.IntN(100); {
		case n < 50:
			c = w.api()
		case n < 74:
			c = w.hook()
		case n < 87:
			c = w.edit()
		default:
			c = w.delete()
		}
		if refusable || c.allowed(w.m) {
			break
		}
	}
	s := step{command: c, dry: w.chance(8), whole: w.chance(5)}
	if !c.allowed(w.m) {
		return s
	}
	switch c := c.(type) {
	case apiCommand:
		if w.chance(35) {
			s.undo = c.undo(w.m)
		} else if have := w.m.find(c.group, c.version, c.kind); have != nil && have.again != "" && w.chance(50) {
			return step{command: forceCommand{c.name}, same: true}
		}
	case hookCommand:
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

// forceCommand makes the types of a kind again as they were made.
type forceCommand struct{ name }

func (c forceCommand) again(m *walkModel) string {
	if have := m.find(c.group, c.version, c.kind); have != nil && have.again != "" {
		return have.again + " --force"
	}
	return "generate --check" // the walk was shortened
}

func (c forceCommand) line(m *walkModel) string { return c.again(m) }
func (c forceCommand) allowed(*walkModel) bool  { return true }
func (c forceCommand) apply(*walkModel)         {}

// undoEdit is the edit that goes back, where there is a way.
func (w *walker) undoEdit(c editCommand) string {
	was := map[string]bool{"multigroup": w.m.multi, "namespaced": w.m.scoped}
	if c.flag == "license" {
		if c.owner != "" && w.m.owner == "" && w.m.license != "none" {
			return "" // no flag takes an owner away
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

// name draws a kind, more often one that is there.
func (w *walker) name() name {
	switch n := w.IntN(100); {
	case n < 45 && len(w.m.things) > 0:
		t := w.m.things[w.IntN(len(w.m.things))]
		n := name{group: t.group, version: t.version, kind: t.kind, foreign: !t.own}
		if t.kind == "CustomResourceDefinition" {
			n = customResourceDefinition()
		}
		return n
	case n < 60:
		return [...]name{
			{group: "apps", version: "v1", kind: "Deployment", foreign: true},
			{group: "core", version: "v1", kind: "Pod", foreign: true},
			{group: "core", version: "v1", kind: "Namespace", foreign: true},
			{group: "networking", version: "v1", kind: "Ingress", foreign: true},
			{group: "batch", version: "v1", kind: "Job", foreign: true},
			{group: "rbac.authorization", version: "v1", kind: "Role", foreign: true},
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
	c := apiCommand{name: w.name(), controller: w.chance(75)}
	c.resource = !c.foreign && w.m.find(c.group, c.version, c.kind) == nil
	if w.m.find(c.group, c.version, c.kind) != nil && !c.resource || c.foreign {
		c.controller = true
	}
	if c.resource {
		for _, t := range w.m.things {
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
	if w.chance(3) && !c.foreign { // the project may have an API of such a name too
		c.resource = !c.resource
	}
	return c
}

func (w *walker) hook() command {
	c := hookCommand{name: w.name(), defaulting: w.chance(50), validation: w.chance(50)}
	if !c.foreign && w.chance(50) {
		c.conversion = true
		for _, t := range w.m.things {
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
		return w.unhook()
	}
	c := deleteCommand{name: w.name()}
	if have := w.m.find(c.group, c.version, c.kind); have != nil && len(have.controllers) > 0 && w.chance(50) {
		c.controllerName = have.controllers[w.IntN(len(have.controllers))]
	}
	return c
}

func (w *walker) unhook() command {
	c := unhookCommand{name: w.name(), defaulting: w.chance(40), validation: w.chance(40)}
	if have := w.m.find(c.group, c.version, c.kind); have != nil && len(have.spokes) > 0 && w.chance(50) {
		c.conversion = true
		if w.chance(50) {
			c.spokes = have.spokes[:1:1]
		}
	}
	return c
}

// back deletes all that is there, in any order.
func (w *walker) back() []step {
	var steps []step
	do := func(c command) {
		steps = append(steps, step{command: c})
		c.apply(w.m)
	}
	things := w.m.clone().things
	for _, i := range w.Perm(len(things)) {
		if t := things[i]; t.hasWebhooks() {
			do(unhookCommand{name: t.name()})
		}
	}
	things = w.m.clone().things
	for _, i := range w.Perm(len(things)) {
		do(deleteCommand{name: things[i].name()})
	}
	return steps
}
