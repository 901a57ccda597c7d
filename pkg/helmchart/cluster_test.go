package helmchart_test

import (
	"bytes"
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/operon-sdk/operon/pkg/controlplane"
	"github.com/operon-sdk/operon/pkg/helmchart"
	"github.com/operon-sdk/operon/pkg/helmchart/source"
	"github.com/operon-sdk/operon/pkg/rbac"
)

// chartsDir selects charts of others for TestRoleSuffices.
var chartsDir = flag.String("roles.charts", "", "directory of charts that are installed with the derived role, in addition to those of testdata")

// assets are etcd, kube-apiserver and kubectl.
var assets = sync.OnceValues(func() (controlplane.Assets, error) {
	o := controlplane.DefaultOptions(os.Environ())
	o.Parts = []string{controlplane.Etcd, controlplane.KubeAPIServer, controlplane.Kubectl}
	o.Progress = func(message string) { fmt.Fprintln(os.Stderr, message) }
	return controlplane.Ensure(context.Background(), o)
})

// A cluster is a control plane.
type cluster struct {
	t       *testing.T
	kubectl string
	config  string
}

func startCluster(t *testing.T) cluster {
	t.Helper()
	found, err := assets()
	if err != nil {
		t.Fatal(err)
	}
	plane, err := controlplane.Start(t.Context(), found, controlplane.StartOptions{Environ: os.Environ(), TempDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := plane.Stop(); err != nil {
			t.Error(err)
		}
	})
	return cluster{t, found.Path(controlplane.Kubectl), plane.KubeconfigPath()}
}

// run runs kubectl with objects on stdin and returns the lines of its errors.
func (c cluster) run(objects []helmchart.RenderedObject, args ...string) []string {
	c.t.Helper()
	var in bytes.Buffer
	for _, o := range objects {
		if err := json.NewEncoder(&in).Encode(o.Object); err != nil {
			c.t.Fatal(err)
		}
		fmt.Fprintln(&in, "---")
	}
	cmd := exec.CommandContext(c.t.Context(), c.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.config)
	cmd.Stdin = &in
	var errOut bytes.Buffer
	cmd.Stderr = &errOut
	if err := cmd.Run(); err == nil {
		return nil
	} else if errOut.Len() == 0 {
		return []string{err.Error()}
	}
	return slices.Collect(strings.Lines(errOut.String()))
}

// as is run for a service account.
func (c cluster) as(account string, objects []helmchart.RenderedObject, args ...string) []string {
	c.t.Helper()
	return c.run(objects, append(args, "--as=system:serviceaccount:default:"+account, "--as-group=system:serviceaccounts",
		"--as-group=system:authenticated")...)
}

// must is run with the rights of an administrator.
func (c cluster) must(text string, args ...string) {
	c.t.Helper()
	cmd := exec.CommandContext(c.t.Context(), c.kubectl, args...)
	cmd.Env = append(os.Environ(), "KUBECONFIG="+c.config)
	cmd.Stdin = strings.NewReader(text)
	if out, err := cmd.CombinedOutput(); err != nil {
		c.t.Fatalf("kubectl %s: %v\n%s", strings.Join(args, " "), err, out)
	}
}

// readChart reads the files of a chart.
func readChart(t *testing.T, dir string) helmchart.Files {
	t.Helper()
	files := helmchart.Files{}
	err := fs.WalkDir(os.DirFS(dir), ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		files[name], err = os.ReadFile(filepath.Join(dir, filepath.FromSlash(name)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// A service account with exactly the derived role can create, read, change and delete everything that a chart renders, with its
// default values and with switches on, for a release with another name than the one that the role was derived from.
func TestRoleSuffices(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it starts control planes")
	}
	patterns := []string{filepath.Join("testdata", "charts", "*")}
	if *chartsDir != "" {
		patterns = append(patterns, filepath.Join(*chartsDir, "*"))
	}
	c := startCluster(t)
	for _, pattern := range patterns {
		dirs, err := filepath.Glob(filepath.Join(pattern, "Chart.yaml"))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range dirs {
			t.Run(filepath.Base(filepath.Dir(file)), func(t *testing.T) {
				c.t = t
				c.checkRole(filepath.Base(filepath.Dir(file)), readChart(t, filepath.Dir(file)))
			})
		}
	}
}

// checkRole installs a chart with the role for it. The name is unique.
func (c cluster) checkRole(name string, files helmchart.Files) {
	t := c.t
	rendered, err := helmchart.Explore(t.Context(), files, source.Render)
	if err != nil {
		t.Fatal(err)
	}
	rules, notes := helmchart.Rules([]helmchart.ChartAPI{{Group: "charts.example.com", Plural: "apps", Files: files, Rendered: rendered}})
	for _, n := range notes {
		t.Log(n)
	}
	role, err := rbac.UpdateRole("role.yaml", []byte("apiVersion: rbac.authorization.k8s.io/v1\nkind: ClusterRole\n"+
		"metadata:\n  name: "+name+"-manager\nrules:\n"), rules, "the charts")
	if err != nil {
		t.Fatal(err)
	}
	c.must(string(role), "create", "-f", "-")
	c.must("", "create", "clusterrolebinding", name+"-manager", "--clusterrole="+name+"-manager", "--serviceaccount=default:"+name)
	c.must("", "create", "namespace", name)
	c.must("", "config", "set-context", "--current", "--namespace="+name)
	var sets []helmchart.ValueSet
	for _, set := range rendered.Sets {
		if set.Error == "" {
			sets = append(sets, set.ValueSet)
		}
	}
	request := helmchart.RenderRequest{Protocol: helmchart.Protocol, Files: files, ReleaseName: "cache", Namespace: name}
	for _, set := range sets {
		request.Values = append(request.Values, set.Values)
	}
	answer, err := source.Render(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	created := 0
	for i, rendering := range answer.Renderings {
		var objects []helmchart.RenderedObject
		for _, o := range rendering.Objects {
			if len(o.Hooks) == 0 || !strings.HasPrefix(o.Hooks[0], "test") {
				objects = append(objects, o)
			}
		}
		withCRDs := objects
		if i == 0 {
			withCRDs = slices.Concat(answer.CRDs, objects)
		}
		created += len(withCRDs)
		if len(objects) > 0 && !slices.ContainsFunc(c.as("another", objects[:1], "create", "-f", "-"), isPermission) {
			t.Errorf("%.100s: an account without the role is not refused", sets[i].Name)
		}
		for _, action := range []struct {
			objects []helmchart.RenderedObject
			args    []string
		}{
			{withCRDs, []string{"create", "-f", "-"}},
			{withCRDs, []string{"annotate", "-f", "-", "checked=true"}},
			{withCRDs, []string{"get", "-f", "-", "-o", "name"}},
			{objects, []string{"delete", "-f", "-", "--wait=false"}}, // Helm never deletes the CRDs of crds/
		} {
			for _, problem := range c.as(name, action.objects, action.args...) {
				if isPermission(problem) {
					t.Errorf("%.100s: kubectl %s: %s", sets[i].Name, action.args[0], problem)
				} else if action.args[0] == "create" {
					t.Logf("%.100s: %s", sets[i].Name, problem)
				}
			}
		}
	}
	t.Logf("%d value sets, %d objects, %d rules", len(sets), created, len(rules))
}

// isPermission reports whether an error of kubectl is caused by a missing permission.
func isPermission(problem string) bool {
	return strings.Contains(problem, "orbidden") || strings.Contains(problem, "cannot ") || strings.Contains(problem, "permission")
}
