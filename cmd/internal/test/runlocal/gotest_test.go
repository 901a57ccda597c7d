//go:build unix

package runlocal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// suiteWithPods is a suite of a project, as it is written for envtest, whose test needs the controllers of Kubernetes. With HANG, it
// does not end.
const suiteWithPods = `package pods

import (
	"os"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"
)

func TestPods(t *testing.T) {
	environment := &envtest.Environment{CRDDirectoryPaths: []string{"../../config/crd/bases"}, ErrorIfCRDPathMissing: true, BinaryAssetsDirectory: "none"}
	cfg, err := environment.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := environment.Stop(); err != nil {
			t.Error(err)
		}
	}()
	c, err := client.New(cfg, client.Options{})
	if err != nil {
		t.Fatal(err)
	}
	labels := map[string]string{"app": "a"}
	d := &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"},
		Spec: appsv1.DeploymentSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: corev1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "example.com/c:1"}}},
			},
		},
	}
	if err := c.Create(t.Context(), d); err != nil {
		t.Fatal(err)
	}
	for d.Status.ReadyReplicas == 0 || os.Getenv("HANG") != "" {
		time.Sleep(100 * time.Millisecond)
		if err := c.Get(t.Context(), client.ObjectKeyFromObject(d), d); err != nil {
			t.Fatal(err)
		}
		if d.Status.ReadyReplicas == 1 {
			t.Log("ready")
		}
	}
}
`

// TestGoTest runs tests of a project on the full control plane: one passes, and one fails.
func TestGoTest(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	for name, content := range map[string]string{
		"pods": suiteWithPods, "wrong": "package wrong\n\nimport \"testing\"\n\nfunc TestWrong(t *testing.T) { t.Error(\"wrong\") }\n",
	} {
		if err := os.Mkdir(filepath.Join(dir, "test", name), 0o755); err != nil {
			t.Fatal(err)
		}
		clitest.WriteFile(t, filepath.Join(dir, "test", name, name+"_test.go"), content)
	}
	p := clitest.StartProcess(t, dir, []string{"USE_EXISTING_CLUSTER=true"}, "test", "--junit", "tests.xml", "--", "./test/pods", "./test/wrong")
	p.MustEnd(1)
	clitest.CheckContains(t, p.Output(),
		"ok  \tgithub.com/example/memcached-operator/test/pods\t",
		"--- FAIL: TestWrong (", "s)\n    wrong_test.go:5: wrong\nFAIL\nFAIL\tgithub.com/example/memcached-operator/test/wrong\t",
		"error: go test ./test/pods ./test/wrong: exit status 1; tests that set what controllers set in a cluster, such as the status of a Deployment, need --controllers=false\n",
	)
	clitest.CheckContains(t, clitest.ReadFile(t, filepath.Join(dir, "tests.xml")),
		`<testsuite name="github.com/example/memcached-operator/test/pods"`, `tests="1" failures="0"`,
		`<testcase classname="github.com/example/memcached-operator/test/wrong" name="TestWrong"`, "<failure message=\"failed\">",
	)
	if !*clitest.Thorough {
		return
	}
	p = clitest.StartProcess(t, dir, []string{"HANG=1"}, "test", "--", "./test/pods", "-v")
	p.WaitFor("ready", 1)
	p.Interrupt()
	p.MustEnd(1)
}
