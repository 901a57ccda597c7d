package local

import (
	"runtime"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/kube"
)

// A Debugger runs the manager under Delve.
type Debugger struct {
	// Program is the path of dlv, and Listen the address at which it waits for clients, such as 127.0.0.1:2345.
	Program, Listen string
}

// debugTimeout is the longest timeout of a webhook in seconds that an API server accepts.
const debugTimeout = int64(30)

// command returns what runs the manager with arguments under the debugger. The manager doesn't wait for a client.
func (d *Debugger) command(binary string, args []string) (name string, arguments []string) {
	return d.Program, slices.Concat(
		[]string{"exec", binary, "--headless", "--listen=" + d.Listen, "--api-version=2", "--accept-multiclient", "--continue", "--"}, args)
}

// patient gives webhooks the longest timeout, since a request waits while the manager stands at a breakpoint.
func patient(configurations []*kube.Object) []*kube.Object {
	for _, o := range configurations {
		for _, item := range kube.ListAt(o.Object, "webhooks") {
			if webhook, ok := item.(map[string]any); ok {
				webhook["timeoutSeconds"] = debugTimeout
			}
		}
	}
	return configurations
}

// explainNoManager says how to run the manager in place of Run.
func (r *runner) explainNoManager() {
	pkg, err := MainPackage(r.o.Root)
	if err != nil {
		pkg = "./cmd" // it may not exist yet
	}
	variables := []string{"ENABLE_WEBHOOKS=false"}
	if r.o.Config.Namespaced() || r.o.Namespace != "" {
		variables = append(variables, "WATCH_NAMESPACE="+r.namespace)
	}
	r.progressf("run the manager yourself, for example in your IDE, with these variables:\n%s", strings.Join(append(
		exports(runtime.GOOS, r.claim.kubeconfig(), variables), "  go run "+pkg), "\n"))
}

// exports returns lines for a shell that set KUBECONFIG to a file of the project, and other variables.
func exports(system, kubeconfig string, variables []string) (lines []string) {
	if system == "windows" {
		lines = []string{`  $env:KUBECONFIG = "$PWD\` + strings.ReplaceAll(kubeconfig, "/", `\`) + `"`}
	} else {
		lines = []string{`  export KUBECONFIG="$PWD/` + kubeconfig + `"`}
	}
	for _, variable := range variables {
		name, value, _ := strings.Cut(variable, "=")
		if system == "windows" {
			lines = append(lines, `  $env:`+name+` = "`+value+`"`)
		} else {
			lines = append(lines, "  export "+variable)
		}
	}
	return lines
}
