package migrate

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"

	"github.com/operon-sdk/operon/pkg/merge"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// Files of older scaffolds that configure the manager: a patch that puts a proxy before its metrics and gives it
// other arguments, and a file with its options, which a patch has it read.
const (
	kustomizationFile = "config/default/kustomization.yaml"
	managerFile       = "config/manager/manager.yaml"
	mainFile          = "cmd/main.go"
	metricsPatch      = "config/default/manager_metrics_patch.yaml"
	proxyPatch        = "config/default/manager_auth_proxy_patch.yaml"
	optionsPatch      = "config/default/manager_config_patch.yaml"
	optionsFile       = "config/manager/controller_manager_config.yaml"
)

// settings carries what a person has set in such files into today's manifest and program.
func (u *upgrader) settings() error {
	if u.theirs[managerFile] == nil || u.theirs[mainFile] == nil {
		return nil
	}
	if u.displacing(metricsPatch) != "" && !bytes.Contains(u.ours[mainFile], []byte(`"metrics-secure"`)) {
		u.inMain(`"metrics-secure", true,`, `"metrics-secure", false,`) // the user's proxy asks for metrics without TLS
	}
	named, err := u.namers()
	if err != nil {
		return err
	}
	for _, arg := range arguments(u.patched(named, proxyPatch)) {
		u.argument(arg)
	}
	if u.patched(named, optionsPatch) == nil {
		return nil
	}
	text, err := u.tree.ReadFile(optionsFile)
	if err != nil {
		return nil // the patch names another
	}
	var options map[string]any
	if safeyaml.Unmarshal(text, &options) != nil {
		return nil // it is kept, as one that was edited
	}
	u.options(options)
	return nil
}

// patched reads a patch that the project's kustomization uses. It returns nil if there is none that can be decoded, which
// kustomize reports.
func (u *upgrader) patched(named namers, name string) *yaml.Node {
	if named.of(name) != kustomizationFile {
		return nil
	}
	text, err := u.tree.ReadFile(name)
	var doc yaml.Node
	if err != nil || safeyaml.Unmarshal(text, &doc) != nil || len(doc.Content) != 1 {
		return nil
	}
	return doc.Content[0]
}

// arguments are those that a patch gives the manager.
func arguments(patch *yaml.Node) []string {
	var args []string
	for _, step := range []string{"spec", "template", "spec", "containers"} {
		if patch == nil {
			return nil
		}
		at := merge.FieldIndex(patch, step)
		if at < 0 {
			return nil
		}
		patch = patch.Content[at+1]
	}
	for _, container := range patch.Content {
		if merge.ScalarOf(container, "name") != "manager" {
			continue
		}
		if at := merge.FieldIndex(container, "args"); at >= 0 {
			for _, arg := range container.Content[at+1].Content {
				args = append(args, arg.Value)
			}
		}
	}
	return args
}

// argument gives today's manager an argument that a person gave the old one.
func (u *upgrader) argument(arg string) {
	flag, value, _ := strings.Cut(arg, "=")
	switch flag {
	case "--leader-elect", "--enable-leader-election", "--config", "--metrics-addr":
		return
	case "--metrics-bind-address":
		u.metrics(value)
		return
	case "--health-probe-bind-address":
		u.probes(value)
		return
	}
	if strings.HasPrefix(arg, "-") {
		u.addArgument(arg)
	}
}

// addArgument adds an argument to today's.
func (u *upgrader) addArgument(arg string) {
	const last = "        - --health-probe-bind-address="
	text := string(u.theirs[managerFile])
	if at := strings.Index(text, last); at >= 0 {
		end := at + strings.IndexByte(text[at:], '\n') + 1
		quoted := arg
		if strings.ContainsAny(arg, " #:{}[]&*!|>'\"%@`,") {
			quoted = strconv.Quote(arg)
		}
		u.theirs[managerFile] = []byte(text[:end] + "        - " + quoted + "\n" + text[end:])
	}
}

// metrics says whether the address of metrics is that of today's, or could be carried.
func (u *upgrader) metrics(address string) bool {
	if address == "0" {
		u.addArgument("--metrics-bind-address=0")
		return true
	}
	return strings.HasPrefix(address, "127.0.0.1:") || strings.HasPrefix(address, "localhost:") || address == ":8080"
}

// probes sets the address of the probes.
func (u *upgrader) probes(address string) bool {
	at := strings.LastIndexByte(address, ':')
	if _, err := strconv.Atoi(address[at+1:]); at < 0 || err != nil {
		return false
	}
	text := bytes.Replace(u.theirs[managerFile], []byte("--health-probe-bind-address=:8081"), []byte("--health-probe-bind-address="+address), 1)
	u.theirs[managerFile] = bytes.Replace(text, []byte("- containerPort: 8081\n"), []byte("- containerPort: "+address[at+1:]+"\n"), 1)
	return true
}

// options carries the options of a ControllerManagerConfig, and notes those that it cannot.
func (u *upgrader) options(options map[string]any) {
	var left []string
	of := func(section string, carry func(key, value string) bool) {
		values, ok := options[section].(map[string]any)
		if !ok {
			return
		}
		for key, value := range values {
			if !carry(key, fmt.Sprint(value)) {
				left = append(left, section+"."+key)
			}
		}
	}
	elected := false
	of("health", func(key, value string) bool { return key == "healthProbeBindAddress" && u.probes(value) })
	of("metrics", func(key, value string) bool { return key == "bindAddress" && u.metrics(value) })
	of("webhook", func(key, value string) bool {
		return key == "port" && (value == "9443" || u.inMain("webhook.Options{TLSOpts:", "webhook.Options{Port: "+value+", TLSOpts:"))
	})
	of("leaderElection", func(key, value string) bool {
		switch key {
		case "leaderElect":
			elected = value == "true"
			return true
		case "resourceName":
			return u.lease(value)
		}
		return false
	})
	if !elected {
		u.theirs[managerFile] = bytes.Replace(u.theirs[managerFile], []byte("        - --leader-elect\n"), nil, 1)
	}
	for key := range options {
		if !slices.Contains([]string{"apiVersion", "kind", "metadata", "health", "metrics", "webhook", "leaderElection"}, key) {
			left = append(left, key)
		}
	}
	slices.Sort(left)
	u.carried[optionsFile] = left
}

// inMain replaces a part of today's program.
func (u *upgrader) inMain(old, text string) bool {
	if !bytes.Contains(u.theirs[mainFile], []byte(old)) {
		return false
	}
	u.theirs[mainFile] = bytes.Replace(u.theirs[mainFile], []byte(old), []byte(text), 1)
	return true
}

// lease sets the name of the lease that leaders hold.
func (u *upgrader) lease(name string) bool {
	const key = "LeaderElectionID:"
	text := string(u.theirs[mainFile])
	at := strings.Index(text, key)
	if at < 0 {
		return false
	}
	from := at + strings.IndexByte(text[at:], '"')
	to := from + strings.IndexByte(text[from:], '\n')
	u.theirs[mainFile] = []byte(text[:from] + strconv.Quote(name) + "," + text[to:])
	return true
}
