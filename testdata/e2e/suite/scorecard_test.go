package suite

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/operator-framework/api/pkg/apis/scorecard/v1alpha3"

	"github.com/operon-sdk/operon/testdata/e2e/cluster"
	"github.com/operon-sdk/operon/testdata/e2e/images"
)

const (
	scorecardNamespace = "scorecard"
	boxImage           = "scorecard-box:v1"
)

// testScorecard runs the tests of the golden project's bundle as pods, in a namespace that takes restricted ones only,
// and tests of other kinds. All that they leave is what a killed run leaves, and that only until the next run.
func (b *bench) testScorecard(t *testing.T) {
	b.get(t, &b.products.scorecard)
	dir := b.copyProject(t)
	if b.own == nil { // its nodes take the image with the built-in tests from where it comes from
		replaceAllIn(t, filepath.Join(dir, "bundle", "tests", "scorecard", "config.yaml"), images.ScorecardTest, b.builtInImage())
	}
	own := filepath.Join(dir, "own.yaml")
	text := strings.ReplaceAll(string(read(t, "objects/scorecard.yaml")), "BOX", b.image(boxImage))
	if err := os.WriteFile(own, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	before := b.objects(t, cluster.Scope{Namespaces: []string{scorecardNamespace}})
	b.run(t, dir, "kubectl", "create", "namespace", scorecardNamespace)
	b.run(t, dir, "kubectl", "label", "namespace", scorecardNamespace, "pod-security.kubernetes.io/enforce=restricted")
	b.run(t, dir, "kubectl", "-n", scorecardNamespace, "wait", "--for=create", "serviceaccount/default", "--timeout=1m")

	b.killScorecard(t, dir, own)
	b.differsFrom(t, before)
	b.progress.Done("scorecard killed")
	b.testBuiltIns(t, dir)
	b.progress.Done("scorecard: the same results in pods as without")
	b.testOwn(t, dir, own)
	b.progress.Done("scorecard: tests that fail, and that cannot run")
	// Runs sweep what the killed one has left once its time is over.
	b.eventually(t, func() error {
		b.scorecard(t, dir, 0, "--selector", "suite=basic")
		return b.noPods(t)
	})
	b.run(t, dir, "kubectl", "delete", "namespace", scorecardNamespace)
	b.backTo(t, before)
}

// pushScorecard pushes the images that runs of scorecard take.
func (b *bench) pushScorecard(t *testing.T) {
	t.Helper()
	box := t.TempDir()
	b.run(t, b.root, "env", "CGO_ENABLED=0", "GOOS=linux", "go", "build", "-trimpath", "-o", filepath.Join(box, "box"), "./"+images.Box)
	if err := images.Push(b.ctx, b.registry, []string{box}, images.Scorecard(b.operon, b.builtInImage(), b.image(boxImage))); err != nil {
		t.Fatal(err)
	}
}

// builtInImage returns the name of the image with the built-in tests.
func (b *bench) builtInImage() string {
	if b.own == nil {
		return b.image("scorecard-test:v1")
	}
	return images.ScorecardTest
}

func (b *bench) scorecardCommand(dir string, args ...string) *exec.Cmd {
	args = append([]string{
		"scorecard", "bundle", "--namespace", scorecardNamespace, "--pod-security", "restricted", "--wait-time", "3m",
		"--untar-image", b.image(boxImage), "--storage-image", b.image(boxImage),
	}, args...)
	cmd := exec.CommandContext(b.ctx, b.operon, args...)
	cmd.Dir, cmd.Env = dir, append(os.Environ(), "KUBECONFIG="+b.kubeconfig)
	return cmd
}

// scorecard runs scorecard, which must end with the code given.
func (b *bench) scorecard(t *testing.T, dir string, code int, args ...string) (out, errOut string) {
	t.Helper()
	var o, e bytes.Buffer
	cmd := b.scorecardCommand(dir, args...)
	cmd.Stdout, cmd.Stderr = &o, &e
	err := cmd.Run()
	if exit, ok := errors.AsType[*exec.ExitError](err); err != nil && !ok || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("%s: %v, %v, want the exit code %d\n%s%s", strings.Join(cmd.Args, " "), err, exit, code, &o, &e)
	}
	return o.String(), e.String()
}

// noPods is an error while there is something of a run.
func (b *bench) noPods(t *testing.T) error {
	t.Helper()
	if left := b.run(t, b.root, "kubectl", "-n", scorecardNamespace, "get", "pods,configmaps", "-l", "app=scorecard-test", "-o", "name"); left != "" {
		return fmt.Errorf("scorecard leaves %s", left)
	}
	return nil
}

// testBuiltIns holds that the golden project passes all built-in tests, and with the same results in pods as without.
func (b *bench) testBuiltIns(t *testing.T, dir string) {
	local, _ := b.scorecard(t, dir, 0, "--local", "-o", "json")
	pods, errOut := b.scorecard(t, dir, 0, "-o", "json")
	if pods != local {
		t.Errorf("in pods:\n%s\nwithout:\n%s\n%s", pods, local, errOut)
	}
	if n := strings.Count(errOut, ": created pod "); n != strings.Count(local, `"entrypoint"`) || n == 0 {
		t.Errorf("%d pods were created\n%s", n, errOut)
	}
}

// testOwn holds that a failing test hands its log, its result and its files over, and that an image which nobody has is
// told at once, although the time is not over.
func (b *bench) testOwn(t *testing.T, dir, config string) {
	out, errOut := b.scorecard(t, dir, 1, "--config", config, "--selector", "suite=own", "-o", "json", "--test-output", "seen")
	var list v1alpha3.TestList
	if err := json.Unmarshal([]byte(out), &list); err != nil || len(list.Items) != 3 {
		t.Fatalf("%v\n%s%s", err, out, errOut)
	}
	failing, missing, babbling := list.Items[0].Status.Results[0], list.Items[1].Status.Results[0], list.Items[2].Status.Results[0]
	if failing.Name != "failing" || failing.State != v1alpha3.FailState || strings.Join(failing.Errors, "") != "too few pods" {
		t.Errorf("the failing test: %+v", failing)
	}
	if text := string(read(t, filepath.Join(dir, "seen", "own", "failing", "deep", "report.txt"))); text != "what was seen\n" {
		t.Errorf("its file: %q", text)
	}
	if !strings.Contains(strings.Join(babbling.Errors, ""), "its output is not a test result") || !strings.Contains(babbling.Log, `invalid duration "longs"`) {
		t.Errorf("the test that ends without a result: %+v", babbling)
	}
	told := strings.Join(missing.Errors, "\n")
	for _, want := range []string{"the pod cannot run: container scorecard-test: ", "ImagePull", "example.com/nobody/has-this:v1"} {
		if !strings.Contains(told, want) {
			t.Errorf("no %q in %q", want, told)
		}
	}
	for _, want := range []string{"babbling | time: ", "tests have failed: 3 of 3: failing, not-pulled, babbling"} {
		if !strings.Contains(errOut, want) {
			t.Errorf("no %q in %s", want, errOut)
		}
	}
	if strings.Contains(errOut, "did not end within") {
		t.Errorf("it waits for an image that never comes:\n%s", errOut)
	}
}

// killScorecard kills a run whose pod is there.
func (b *bench) killScorecard(t *testing.T, dir, config string) {
	cmd := b.scorecardCommand(dir, "--config", config, "--selector", "suite=held", "--wait-time", "30s")
	lines, err := cmd.StderrPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	created := false
	for s := bufio.NewScanner(lines); !created && s.Scan(); {
		created = strings.Contains(s.Text(), ": created pod ")
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Error(err)
	}
	if err := cmd.Wait(); !created || err == nil {
		t.Fatalf("no pod was created before the kill: %v", err)
	}
	if b.noPods(t) == nil {
		t.Error("a killed run leaves nothing, so that the next one has nothing to delete")
	}
}
