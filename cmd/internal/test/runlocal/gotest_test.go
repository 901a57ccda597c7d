//go:build unix

package runlocal

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/operon-sdk/operon/cmd/internal/clitest"
)

// specWithPods is a spec in the suite of a project that needs the controllers of Kubernetes. With HANG, it does not end.
const specWithPods = `package controller

import (
	"fmt"
	"os"
	"time"

	. "github.com/onsi/ginkgo/v2"
	. "github.com/onsi/gomega"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

var _ = Describe("A Deployment", func() {
	It("gets pods", func() {
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
		Expect(k8sClient.Create(ctx, d)).To(Succeed())
		Eventually(func() int32 {
			Expect(k8sClient.Get(ctx, client.ObjectKeyFromObject(d), d)).To(Succeed())
			return d.Status.ReadyReplicas
		}).WithTimeout(5 * time.Minute).Should(Equal(int32(1)))
		for os.Getenv("HANG") != "" {
			fmt.Println("ready")
			time.Sleep(100 * time.Millisecond)
		}
	})
})
`

// TestGoTest runs tests of a project on the full control plane: the suite of a new project, which CheckProjectTests runs without
// controllers, passes, also with a spec that needs them, and another test fails.
func TestGoTest(t *testing.T) {
	t.Parallel()
	dir := clitest.CopyGolden(t, "memcached-operator")
	suite := filepath.Join(dir, "internal", "controller")
	clitest.WriteFile(t, filepath.Join(suite, "pods_test.go"), specWithPods)
	clitest.Substitute(t, filepath.Join(suite, "suite_test.go"), "binaryAssets(),", `"none",`) // some suites ignore KUBEBUILDER_ASSETS
	wrong := filepath.Join(dir, "test", "wrong")
	if err := os.Mkdir(wrong, 0o755); err != nil {
		t.Fatal(err)
	}
	clitest.WriteFile(t, filepath.Join(wrong, "wrong_test.go"), "package wrong\n\nimport \"testing\"\n\nfunc TestWrong(t *testing.T) { t.Error(\"wrong\") }\n")
	environ := []string{"USE_EXISTING_CLUSTER=true", "KUBEBUILDER_CONTROLPLANE_START_TIMEOUT=3m", "KUBEBUILDER_CONTROLPLANE_STOP_TIMEOUT=3m"}
	p := clitest.StartProcess(t, dir, environ, "test", "--junit", "tests.xml", "--", "-vet=off", "./internal/controller", "./test/wrong")
	p.MustEnd(1)
	clitest.CheckContains(t, p.Output(),
		"ok  \tgithub.com/example/memcached-operator/internal/controller\t",
		"--- FAIL: TestWrong (", "s)\n    wrong_test.go:5: wrong\nFAIL\nFAIL\tgithub.com/example/memcached-operator/test/wrong\t",
		"error: go test -vet=off ./internal/controller ./test/wrong: exit status 1; tests that set what controllers set in a cluster, such as the status of a Deployment, need --controllers=false\n",
	)
	clitest.CheckContains(t, clitest.ReadFile(t, filepath.Join(dir, "tests.xml")),
		`<testsuite name="github.com/example/memcached-operator/internal/controller"`, `tests="1" failures="0"`,
		`<testcase classname="github.com/example/memcached-operator/test/wrong" name="TestWrong"`, "<failure message=\"failed\">",
	)
	if !*clitest.Thorough {
		return
	}
	p = clitest.StartProcess(t, dir, []string{"HANG=1"}, "test", "--", "-vet=off", "./internal/controller", "-v")
	p.WaitFor("ready", 1)
	p.Interrupt()
	p.MustEnd(1)
}
