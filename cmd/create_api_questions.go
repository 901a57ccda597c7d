package cmd

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/operon-sdk/operon/cmd/internal/prompt"
	"github.com/operon-sdk/operon/pkg/action"
	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/layout"
	"github.com/operon-sdk/operon/pkg/project"
)

// The answers to the first question of create api: what an API starts from.
const (
	fromTypes      = "types"
	fromImage      = "image"
	fromTypesOnly  = "types-only"
	fromKubernetes = "kubernetes"
	fromModule     = "module"
	fromNewChart   = "new-chart"
	fromChartFiles = "chart-files"
	fromRepository = "repository"
	fromRole       = "role"
	fromPlaybook   = "playbook"
	fromBoth       = "role-and-playbook"
	fromExisting   = "existing"
)

// createAPICommand is the name of the command in the facts of layouts.
const createAPICommand = "create api"

// kindQuestions are the questions of create api at a terminal.
type kindQuestions struct {
	*app
	command *cobra.Command
	config  *project.Config
	given   *action.CreateAPIOptions
	// start is what the API starts from if flags decide it, or empty.
	start string
}

// askKind asks at a terminal what create api adds, if flags don't name it.
func (a *app) askKind(c *cobra.Command, config *project.Config, o *action.CreateAPIOptions) error {
	named := o.Group != "" && o.Version != "" && o.Kind != "" || o.Chart.Source != ""
	if named || !a.InTerminal || !o.API && !o.Controller || len(refuse(c, config.Facts(), createAPICommand)) > 0 {
		return nil // an error follows
	}
	q := kindQuestions{app: a, command: c, config: config, given: o}
	switch {
	case o.DeploysImage():
		q.start = fromImage
	case o.ExternalPath != "":
		q.start = fromModule
	case o.HasChart():
		q.start = fromNewChart
	case !o.API:
		q.start = fromKubernetes
	case anyGiven(c, []string{"resource", "controller"}):
		q.start = fromTypes
	case anyGiven(c, []string{"generate-role", "generate-playbook"}):
		q.start = fromRole
	case len(origins(config.Facts())) == 0:
		q.start = fromExisting
	}
	return a.askFlags(c, q.steps)
}

// origins returns what an API of a layout can start from: the layout has the flags that create it.
func origins(facts *layout.Facts) []prompt.Option {
	newChart := []string{}
	if !facts.Charts {
		newChart = []string{"--plugins", layout.Helm().Family()}
	}
	var options []prompt.Option
	for _, group := range []struct {
		flag    string
		options []prompt.Option
	}{
		{"resource", []prompt.Option{
			{Value: fromTypes, Text: "Go types, and a controller that you write", Flags: []string{"--resource", "--controller"}},
			{Value: fromImage, Text: "a container image, which the controller deploys", Flags: []string{}},
			{Value: fromTypesOnly, Text: "Go types without a controller", Flags: []string{"--resource", "--controller=false"}},
			{Value: fromKubernetes, Text: "a kind of Kubernetes, such as Deployment, and a controller that you write", Flags: []string{"--resource=false", "--controller"}},
			{Value: fromModule, Text: "a kind of another Go module, and a controller that you write", Flags: []string{"--resource=false", "--controller"}},
		}},
		{"helm-chart", []prompt.Option{
			{Value: fromNewChart, Text: "a new Helm chart", Flags: newChart},
			{Value: fromChartFiles, Text: "a Helm chart in a directory or an archive", Flags: []string{}},
			{Value: fromRepository, Text: "a Helm chart from a repository or a registry", Flags: []string{}},
		}},
		{"generate-role", []prompt.Option{
			{Value: fromRole, Text: "a new role", Flags: []string{"--generate-role"}},
			{Value: fromPlaybook, Text: "a new playbook", Flags: []string{"--generate-playbook"}},
			{Value: fromBoth, Text: "a new playbook that runs a new role", Flags: []string{"--generate-role", "--generate-playbook"}},
			{Value: fromExisting, Text: "a role or a playbook that you have", Flags: []string{}},
		}},
	} {
		if !facts.Refuses(createAPICommand, group.flag) && (group.flag != "helm-chart" || facts.NoCharts == "") {
			options = append(options, group.options...)
		}
	}
	return options
}

// steps returns the questions for what the API starts from.
func (q *kindQuestions) steps(answers prompt.Answers) []prompt.Step {
	start := q.start
	var steps []prompt.Step
	if start == "" {
		steps = append(steps, prompt.Step{Name: "start", Decides: true, Question: prompt.Question{Text: "What do you start from?", Options: origins(q.config.Facts())}})
		if start = answers["start"]; start == "" {
			return steps
		}
	}
	ask := func(flag string, question prompt.Question) {
		if !q.command.Flags().Changed(flag) {
			steps = append(steps, prompt.Step{Name: flag, Question: question})
		}
	}
	switch start {
	case fromImage:
		ask("image", prompt.Question{Text: "Container image", Example: "memcached:1.6.39-alpine", Check: func(ref string) error { return project.CheckImage("--image", ref).Err() }})
		ask("image-container-port", prompt.Question{Text: "Port of the container, empty for none", Example: "11211", Check: func(port string) error { return project.CheckPort(port).Err() }})
	case fromModule:
		for _, step := range moduleSteps() {
			ask(step.Name, step.Question)
		}
	case fromChartFiles:
		ask("helm-chart", prompt.Question{Text: "Directory or archive of the chart", Example: "../charts/memcached", Check: q.checkFile})
	case fromRepository:
		ask("helm-chart", prompt.Question{Text: "Chart", Example: "oci://registry.example.com/charts/memcached, or memcached", Check: answerRequired})
		if chart := answers["helm-chart"]; !strings.Contains(chart, "/") {
			ask("helm-chart-repo", prompt.Question{Text: "URL of the chart's repository", Example: "https://charts.example.com", Check: answerRequired})
		}
		ask("helm-chart-version", prompt.Question{Text: "Version of the chart, empty for the newest release", Example: "1.2.3"})
	}
	return append(steps, q.names(start, answers)...)
}

// names returns the questions for group, version, kind and scope.
func (q *kindQuestions) names(start string, answers prompt.Answers) []prompt.Step {
	var steps []prompt.Step
	add := func(given string, step prompt.Step) {
		if given == "" {
			steps = append(steps, step)
		}
	}
	names := q.given.ResourceOptions
	if start == fromKubernetes {
		if kinds := kindOptions(project.StableCoreKinds(), names); len(kinds) > 0 {
			return []prompt.Step{{Name: "kind", Question: prompt.Question{Text: "Kind of Kubernetes", Options: kinds}}}
		}
	}
	group, fixed := q.groupQuestion(start == fromModule)
	if group.Default == "" && (start == fromChartFiles || start == fromRepository) {
		group.Default = "charts"
	}
	names.Group, names.Version = cmp.Or(names.Group, fixed, answers["group"]), cmp.Or(names.Version, answers["version"])
	add(q.given.Group, prompt.Step{Name: "group", Question: group, Fixed: fixed})
	add(q.given.Version, prompt.Step{Name: "version", Question: q.versionQuestion(names.Group)})
	add(q.given.Kind, prompt.Step{Name: "kind", Question: q.kindQuestion(start, names)})
	names.Kind = cmp.Or(names.Kind, answers["kind"])
	recorded := func(r project.Resource) bool { return r.HasAPI() && r.Group == names.Group && r.Kind == names.Kind }
	scoped := slices.Contains([]string{fromTypes, fromImage, fromTypesOnly}, start) && !q.config.Namespaced() && !q.command.Flags().Changed("namespaced")
	if scoped && !slices.ContainsFunc(q.config.Resources(), recorded) { // all versions of a kind have the same scope
		steps = append(steps, prompt.Step{Name: "namespaced", Question: prompt.Question{Text: "Scope", Options: []prompt.Option{
			{Value: "true", Text: "Namespaced: each object is in a namespace", Flags: []string{}},
			{Value: "false", Text: "Cluster: objects are in no namespace", Flags: []string{"--namespaced=false"}},
		}}})
	}
	return append(steps, q.from(start, names)...)
}

// from returns the question for the version that a further version of a kind begins with a copy of.
func (q *kindQuestions) from(start string, names project.ResourceOptions) []prompt.Step {
	gvk := project.GVK{Group: names.Group, Domain: q.config.Domain(), Version: names.Version, Kind: names.Kind}
	others := q.config.OtherVersions(gvk)
	if existing, _ := q.config.Resource(gvk); existing.HasAPI() || len(others) == 0 || start != fromTypes && start != fromTypesOnly || q.command.Flags().Changed("from") {
		return nil
	}
	question := prompt.Question{Text: "The types begin as"}
	for _, other := range others {
		if other.API.SSA || !q.given.SSA {
			question.Options = append(question.Options, prompt.Option{Value: other.Version, Text: "a copy of version " + other.Version})
		}
	}
	question.Options = append(question.Options, prompt.Option{Value: project.NoVersion, Text: "new ones, without a copy"})
	return []prompt.Step{{Name: "from", Question: question}}
}

// kindOptions returns options for kinds, with flags for those names that are not given.
func kindOptions(kinds []project.GVK, given project.ResourceOptions) []prompt.Option {
	var options []prompt.Option
	for _, k := range kinds {
		option := prompt.Option{Value: k.String(), Text: fmt.Sprintf("%s (%s/%s)", k.Kind, k.QualifiedGroup(), k.Version), Flags: []string{}}
		matches := true
		for _, name := range []struct{ flag, given, value string }{{"--group", given.Group, k.Group}, {"--version", given.Version, k.Version}, {"--kind", given.Kind, k.Kind}} {
			if name.given == "" {
				option.Flags = append(option.Flags, name.flag, name.value)
			}
			matches = matches && (name.given == "" || name.given == name.value)
		}
		if matches {
			options = append(options, option)
		}
	}
	return options
}

// kindQuestion returns the question for the kind, whose other names are given.
func (q *kindQuestions) kindQuestion(start string, names project.ResourceOptions) prompt.Question {
	question := prompt.Question{Text: "Kind", Example: "Memcached"}
	chart := start == fromChartFiles || start == fromRepository
	if chart {
		question.Text += ", empty for the name of the chart"
	}
	_, types := q.config.Facts().CreateCommand(chart || start == fromNewChart)
	names.API, names.NoTypes, names.Controller = true, !types, false
	question.Check = func(kind string) error {
		findings := project.CheckKind(kind)
		switch names.Kind = kind; {
		case chart && kind == "":
			return nil
		case len(findings) == 0 && start != fromModule:
			_, findings = project.ResolveResource(q.config, names)
		}
		return slices.DeleteFunc(findings, func(f diag.Finding) bool { return f.Field != "--kind" }).Err()
	}
	return question
}

// groupQuestion returns the question for the group, or the only group that is possible.
func (q *kindQuestions) groupQuestion(foreign bool) (question prompt.Question, fixed string) {
	question = prompt.Question{Text: "API group, without the domain", Example: "cache", Check: func(group string) error {
		return cmp.Or(answerRequired(group), project.CheckGroup(group, q.config.Domain()).Err())
	}}
	if foreign {
		return prompt.Question{Text: "API group, without the domain", Example: "cert-manager", Check: answerRequired}, ""
	}
	for _, r := range q.config.Resources() {
		switch {
		case !q.config.Owns(r) || r.Group == "":
		case !q.config.MultiGroup():
			return question, r.Group
		default:
			question.Options, question.Other = appendOption(question.Options, r.Group), "another group"
			question.Default = r.Group
		}
	}
	return question, ""
}

// versionQuestion returns the question for the version, which offers the versions of a group.
func (q *kindQuestions) versionQuestion(group string) prompt.Question {
	question := prompt.Question{Text: "API version", Default: "v1alpha1", Check: func(version string) error { return project.CheckVersion(version).Err() }}
	for _, r := range q.config.Resources() {
		if r.Group == group && q.config.Owns(r) {
			question.Options, question.Other = appendOption(question.Options, r.Version), "another version"
			question.Default = r.Version
		}
	}
	return question
}

// appendOption adds an option to a list that does not have it.
func appendOption(options []prompt.Option, value string) []prompt.Option {
	if slices.ContainsFunc(options, func(o prompt.Option) bool { return o.Value == value }) {
		return options
	}
	return append(options, prompt.Option{Value: value})
}

// checkFile checks that a file exists.
func (q *kindQuestions) checkFile(name string) error {
	if name == "" {
		return answerRequired(name)
	}
	if _, err := q.FS.Stat(q.Absolute(name)); err != nil {
		return fmt.Errorf("%q: no such file or directory", name)
	}
	return nil
}

// answerRequired is the check of an answer that must not be empty.
func answerRequired(answer string) error {
	if answer == "" {
		return errors.New("an answer is required")
	}
	return nil
}
