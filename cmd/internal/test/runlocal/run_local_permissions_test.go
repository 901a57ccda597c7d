//go:build unix

package runlocal

import (
	"strings"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// TestRunLocalPermissions runs the golden operator without one of its markers: the request is forbidden as in a cluster, once in the
// output, with the marker. With the marker, the operator goes on. An administrator needs no marker.
func TestRunLocalPermissions(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	clitest.SetFreeWebhookPort(t, dir)
	const (
		controller = "internal/controller/memcached_controller.go"
		marker     = "// +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch;create;update\n"
		denial     = "forbidden: the manager has no permission to watch deployments.apps in the whole cluster"
	)
	clitest.EditFile(t, dir, controller, marker, "")

	t.Run("admin", func(t *testing.T) {
		p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded", "--samples", "--as-admin")
		p.Cluster().Eventually("True", "get", memcached, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
		p.Interrupt()
		p.MustEnd(0)
		if strings.Contains(p.Output(), "forbidden") || strings.Contains(p.Output(), "the permissions of") {
			t.Errorf("output:\n%s", p.Output())
		}
	})

	p := clitest.StartProcess(t, dir, nil, "run", "local", "--control-plane", "embedded", "--samples", "--watch")
	p.WaitFor("the manager runs as default/memcached-operator-controller-manager, with the permissions of config/default", 1)
	p.WaitFor(denial, 1)
	p.WaitFor("add the marker to the controller: // +kubebuilder:rbac:groups=apps,resources=deployments,verbs=get;list;watch", 1)
	clitest.EditFile(t, dir, controller, "// +kubebuilder:rbac:groups=core", marker+"// +kubebuilder:rbac:groups=core")
	p.WaitFor("starting the manager", 2)
	p.Cluster().Eventually("True", "get", memcached, "-o", `jsonpath={.status.conditions[?(@.type=="Available")].status}`)
	p.Interrupt()
	p.MustEnd(0)
	if n := strings.Count(p.Output(), denial); n != 1 {
		t.Errorf("%d times in the output: %s", n, denial)
	}
	p.WaitFor("the manager lacked permissions: watch deployments.apps in the whole cluster", 1)
}
