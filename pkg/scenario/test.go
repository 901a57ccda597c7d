package scenario

import (
	"cmp"
	"fmt"
	"time"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// apiGroup begins the API version of a Test.
const apiGroup = "chainsaw.kyverno.io/"

// test reads the Test of a file. It reports whether it is to be run.
func (p *parser) test(file string, s *Scenario) (run bool) {
	run = true
	count := 0
	p.inFile(file, func(node *yaml.Node) {
		version, kind := safeyaml.ChildText(node, "apiVersion"), safeyaml.ChildText(node, "kind")
		count++
		switch {
		case version != apiGroup+"v1alpha1" || kind != "Test":
			p.addf(node, "must have apiVersion %sv1alpha1 and kind Test", apiGroup)
		case count > 1:
			p.addf(node, "must contain only one Test; move this one to a directory of its own")
		default:
			p.fields(node, known("apiVersion", "kind", "metadata", "spec"))
			p.bindText("test.metadata.name", safeyaml.ChildText(safeyaml.Child(node, "metadata"), "name"))
			run = p.spec(safeyaml.Child(node, "spec"), s)
		}
	})
	return run
}

// spec reads the spec of a Test. Fields about how Chainsaw runs tests are ignored.
func (p *parser) spec(spec *yaml.Node, s *Scenario) (run bool) {
	p.fields(spec, known(
		"description", "steps", "timeouts", "namespace", "skip", "catch", "template", "concurrent", "failFast", "skipDelete", "delayBeforeCleanup",
		"bindings", "forceTerminationGracePeriod", "fullName", "fastNamespaceDeletion", "error", "execution", "deletion", "cleanup",
	).without("cluster", "clusters", "namespaceTemplate", "namespaceTemplateCompiler", "scenarios", "compiler", "deletionPropagationPolicy"))
	s.Alone = safeyaml.ChildText(spec, "concurrent") == "false"
	s.Namespace = p.setNamespace(cmp.Or(safeyaml.ChildText(spec, "namespace"), namespaceOf(s.Name)))
	p.setTimeouts(safeyaml.Child(spec, "timeouts"))
	p.bind(safeyaml.Child(spec, "bindings"), false)
	steps := safeyaml.Child(spec, "steps")
	if steps == nil || steps.Kind != yaml.SequenceNode || len(steps.Content) == 0 {
		p.addf(spec, "spec.steps must be a list of steps")
		return true
	}
	for i, node := range steps.Content {
		s.Steps = append(s.Steps, p.step(safeyaml.Resolve(node), i+1))
	}
	return safeyaml.ChildText(spec, "skip") != "true"
}

func (p *parser) step(node *yaml.Node, number int) Step {
	step := Step{Name: safeyaml.ChildText(node, "name")}
	if step.Name == "" {
		step.Name = fmt.Sprintf("step %d", number)
	}
	p.fields(node, known("name", "description", "use", "bindings", "try", "catch", "finally", "cleanup", "timeouts", "template", "skipDelete", "delayBeforeCleanup").
		without("cluster", "clusters", "compiler", "deletionPropagationPolicy"))
	before := len(p.findings)
	p.within(func() {
		p.setTimeouts(safeyaml.Child(node, "timeouts"))
		p.bind(safeyaml.Child(node, "bindings"), false)
		if template := safeyaml.Child(node, "use"); template != nil {
			p.use(template, &step)
		}
		p.operate(node, &step)
	})
	if len(step.Try) == 0 && len(p.findings) == before {
		p.addf(node, "must have operations in try")
	}
	return step
}

// operate adds the operations of a step or template to a step. It leaves out catch, whose operations only collect information.
func (p *parser) operate(node *yaml.Node, step *Step) {
	step.Try = append(step.Try, p.operations(node, "try")...)
	step.Finally = append(step.Finally, append(p.operations(node, "finally"), p.operations(node, "cleanup")...)...)
}

// timeouts are the limits of operations that don't set another one.
type timeouts map[Verb]time.Duration

func defaultTimeouts() timeouts {
	t := timeouts{Assert: 30 * time.Second, Error: 30 * time.Second, Delete: 15 * time.Second, Wait: 30 * time.Second}
	for _, verb := range []Verb{Apply, Create, Update, Patch} {
		t[verb] = 5 * time.Second
	}
	return t
}

// setTimeouts reads the timeouts of a Test or step.
func (p *parser) setTimeouts(node *yaml.Node) {
	p.fields(node, known("apply", "assert", "delete", "error", "cleanup", "exec"))
	changed := timeouts{}
	for verb, limit := range p.timeouts {
		changed[verb] = limit
	}
	for key, value := range safeyaml.Fields(node) {
		limit := p.duration(key.Value, value)
		switch verb := Verb(key.Value); verb {
		case Apply:
			changed[Apply], changed[Create], changed[Update], changed[Patch] = limit, limit, limit, limit
		case Assert, Delete, Error:
			changed[verb] = limit
		case "exec":
			changed[Wait] = limit
		}
	}
	p.timeouts = changed
}

// duration reads a duration, such as 30s.
func (p *parser) duration(field string, node *yaml.Node) time.Duration {
	d, err := time.ParseDuration(node.Value)
	if err != nil || d < 0 {
		p.addf(node, "%s: %q must be a duration, such as 30s", field, node.Value)
	}
	return d
}
