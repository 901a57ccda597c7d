package migrate

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/project"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Files with the manager's configuration in older scaffolds: a patch that adds a proxy for its metrics and sets its
// arguments, a file with its options, and a patch that passes this file.
const (
	metricsPatch = project.DefaultDir + "/manager_metrics_patch.yaml"
	proxyPatch   = project.DefaultDir + "/manager_auth_proxy_patch.yaml"
	optionsPatch = project.DefaultDir + "/manager_config_patch.yaml"
	optionsFile  = project.ManagerDir + "/controller_manager_config.yaml"
)

// moveSettings moves the user's settings in these files to the current manifest and program.
func (u *upgrader) moveSettings() error {
	if u.theirs[project.ManagerFile] == nil || u.theirs[project.MainFile] == nil && !u.usesRuntime() {
		return nil
	}
	if u.displacing(metricsPatch) != "" && !bytes.Contains(u.ours[project.MainFile], []byte(`"metrics-secure"`)) {
		u.replaceInMain(`"metrics-secure", true,`, `"metrics-secure", false,`) // the user's proxy requests metrics without TLS
	}
	if u.usesRuntime() {
		u.keepSelector()
		u.keepContainer()
	}
	named, err := u.namers()
	if err != nil {
		return err
	}
	for _, arg := range arguments(u.readPatch(named, proxyPatch)) {
		u.moveArgument(arg)
	}
	if u.usesRuntime() && u.hasOnlyArguments(proxyPatch) {
		u.carried[proxyPatch] = nil
	}
	if u.readPatch(named, optionsPatch) == nil {
		return nil
	}
	text, err := u.tree.ReadFile(optionsFile)
	if err != nil {
		return nil // the patch refers to another file
	}
	var options map[string]any
	if safeyaml.Unmarshal(text, &options) != nil {
		return nil // kept as an edited file
	}
	u.moveOptions(options)
	return nil
}

// keepSelector removes the label with the name of the project from the current selector of the Deployment if the project's has
// none, as selectors are immutable. In Go projects, the end-to-end tests depend on the label.
func (u *upgrader) keepSelector() {
	selector := regexp.MustCompile(`(\n +matchLabels:\n +control-plane: [^\n]+)\n +app\.kubernetes\.io/name: [^\n]+`)
	if ours := u.ours[project.ManagerFile]; bytes.Contains(ours, []byte("matchLabels:")) && !selector.Match(ours) {
		u.theirs[project.ManagerFile] = selector.ReplaceAll(u.theirs[project.ManagerFile], []byte("$1"))
	}
}

// managerOptions matches the options of the current manifest that change how the container of an existing project works, with the
// comments before them: variables with a value, the number of concurrent runs, and the restriction to a read-only root file system,
// as roles and the programs that they call may write to any directory. A manifest with an option contains one of the groups.
var managerOptions = lazyregexp.New(`(?m)(?:^ *#[^\n+]*\n)*^ +(?:- (name: [A-Z_]+)\n +value: .*|- (--max-concurrent-reconciles)=.*|(readOnlyRootFilesystem:) .*)\n`)

// keepContainer removes the options from the current manifest that the project's does not have. In Go projects, the program is part of
// the scaffold that is upgraded.
func (u *upgrader) keepContainer() {
	ours := u.ours[project.ManagerFile]
	if ours == nil {
		return
	}
	u.theirs[project.ManagerFile] = managerOptions.ReplaceAllFunc(u.theirs[project.ManagerFile], func(option []byte) []byte {
		if name := bytes.Join(managerOptions.FindSubmatch(option)[1:], nil); bytes.Contains(ours, name) {
			return option
		}
		return nil
	})
}

// hasOnlyArguments reports whether the user's edits of a patch are arguments of the manager, and there are some. In projects
// without a program of their own, all options of the manager are arguments.
func (u *upgrader) hasOnlyArguments(name string) bool {
	b, edited := u.baseOf(name), false
	if u.ours[name] == nil || b == nil {
		return false
	}
	for _, fact := range facts(name, u.ours[name]) {
		if fact.Part != merge.HeadLines || b.Has(fact) {
			continue
		}
		at := slices.Index(fact.Path, "manager")
		if at < 0 || at+1 >= len(fact.Path) || fact.Path[at+1] != "args" {
			return false
		}
		edited = true
	}
	return edited
}

// readPatch reads a patch that a kustomization of the project uses. It returns nil for one that cannot be decoded,
// which kustomize reports.
func (u *upgrader) readPatch(named namers, name string) *yaml.Node {
	if named.of(name) != project.DefaultKustomization {
		return nil
	}
	text, err := u.tree.ReadFile(name)
	var doc yaml.Node
	if err != nil || safeyaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	return doc.Content[0]
}

// arguments returns the manager's arguments in a patch.
func arguments(patch *yaml.Node) []string {
	containers := safeyaml.Child(patch, "spec", "template", "spec", "containers")
	if containers == nil {
		return nil
	}
	var args []string
	for _, container := range containers.Content {
		list := safeyaml.Child(container, "args")
		if safeyaml.ChildText(container, "name") != "manager" || list == nil {
			continue
		}
		for _, arg := range list.Content {
			args = append(args, arg.Value)
		}
	}
	return args
}

// moveArgument moves an argument of the user to the current manifest.
func (u *upgrader) moveArgument(arg string) {
	flag, value, _ := strings.Cut(arg, "=")
	switch flag {
	case "--leader-elect", "--enable-leader-election", "--config", "--metrics-addr":
		return
	case "--metrics-bind-address":
		u.moveMetrics(value)
		return
	case "--health-probe-bind-address":
		u.moveProbes(value)
		return
	}
	if strings.HasPrefix(arg, "-") {
		u.addArgument(arg)
	}
}

// addArgument adds an argument to the current manifest, or replaces that with the same flag.
func (u *upgrader) addArgument(arg string) {
	const last = "        - --health-probe-bind-address="
	text := string(u.theirs[project.ManagerFile])
	quoted := arg
	if strings.ContainsAny(arg, " #:{}[]&*!|>'\"%@`,") {
		quoted = strconv.Quote(arg)
	}
	flag, _, _ := strings.Cut(arg, "=")
	if at := strings.Index(text, "        - "+flag+"="); at >= 0 {
		end := at + strings.IndexByte(text[at:], '\n') + 1
		u.theirs[project.ManagerFile] = []byte(text[:at] + "        - " + quoted + "\n" + text[end:])
		return
	}
	if at := strings.Index(text, last); at >= 0 {
		end := at + strings.IndexByte(text[at:], '\n') + 1
		u.theirs[project.ManagerFile] = []byte(text[:end] + "        - " + quoted + "\n" + text[end:])
	}
}

// moveMetrics moves the address of the metrics. It reports whether that is the default or was moved.
func (u *upgrader) moveMetrics(address string) bool {
	if address == "0" {
		u.addArgument("--metrics-bind-address=0")
		return true
	}
	return strings.HasPrefix(address, "127.0.0.1:") || strings.HasPrefix(address, "localhost:") || address == ":8080"
}

// probeAddress matches the argument with the address of the probes, whose port depends on the layout.
var probeAddress = lazyregexp.New(`--health-probe-bind-address=:([0-9]+)`)

func (u *upgrader) moveProbes(address string) bool {
	at := strings.LastIndexByte(address, ':')
	if _, err := strconv.Atoi(address[at+1:]); at < 0 || err != nil {
		return false
	}
	current := probeAddress.FindSubmatch(u.theirs[project.ManagerFile])
	if current == nil {
		return false
	}
	text := bytes.Replace(u.theirs[project.ManagerFile], current[0], []byte("--health-probe-bind-address="+address), 1)
	u.theirs[project.ManagerFile] = bytes.Replace(text, fmt.Appendf(nil, "- containerPort: %s\n", current[1]), []byte("- containerPort: "+address[at+1:]+"\n"), 1)
	return true
}

// moveOptions moves the options of a ControllerManagerConfig, and records those that cannot be moved.
func (u *upgrader) moveOptions(options map[string]any) {
	var lost []string
	of := func(section string, carry func(key, value string) bool) {
		values, ok := options[section].(map[string]any)
		if !ok {
			return
		}
		for key, value := range values {
			if !carry(key, fmt.Sprint(value)) {
				lost = append(lost, section+"."+key)
			}
		}
	}
	elected := false
	of("health", func(key, value string) bool { return key == "healthProbeBindAddress" && u.moveProbes(value) })
	of("metrics", func(key, value string) bool { return key == "bindAddress" && u.moveMetrics(value) })
	of("webhook", func(key, value string) bool {
		return key == "port" && (value == "9443" || u.replaceInMain("webhook.Options{TLSOpts:", "webhook.Options{Port: "+value+", TLSOpts:"))
	})
	of("leaderElection", func(key, value string) bool {
		switch key {
		case "leaderElect":
			elected = value == "true"
			return true
		case "resourceName":
			return u.moveLease(value)
		}
		return false
	})
	if !elected {
		u.theirs[project.ManagerFile] = bytes.Replace(u.theirs[project.ManagerFile], []byte("        - --leader-elect\n"), nil, 1)
	}
	for key := range options {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "health", "metrics", "webhook", "leaderElection"}, key) {
			lost = append(lost, key)
		}
	}
	slices.Sort(lost)
	u.carried[optionsFile] = lost
}

// replaceInMain replaces a part of the current program.
func (u *upgrader) replaceInMain(old, text string) bool {
	if !bytes.Contains(u.theirs[project.MainFile], []byte(old)) {
		return false
	}
	u.theirs[project.MainFile] = bytes.Replace(u.theirs[project.MainFile], []byte(old), []byte(text), 1)
	return true
}

// moveLease moves the name of the leader election lease.
func (u *upgrader) moveLease(name string) bool {
	if u.usesRuntime() {
		u.addArgument("--leader-election-id=" + name)
		return true
	}
	const key = "LeaderElectionID:"
	text := string(u.theirs[project.MainFile])
	at := strings.Index(text, key)
	if at < 0 {
		return false
	}
	from := at + strings.IndexByte(text[at:], '"')
	to := from + strings.IndexByte(text[from:], '\n')
	u.theirs[project.MainFile] = []byte(text[:from] + strconv.Quote(name) + "," + text[to:])
	return true
}
