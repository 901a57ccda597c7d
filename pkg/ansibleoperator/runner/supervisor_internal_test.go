//go:build unix

package runner

import (
	"bufio"
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestStopWithRequest checks that a supervisor reads a stop that arrives together with the request.
func TestStopWithRequest(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("-short: it starts Python")
	}
	own := t.TempDir()
	if err := writePython(own); err != nil {
		t.Fatal(err)
	}
	e := readEnvironment(Config{Environ: os.Environ()})
	r := &Runner{env: &environment{values: e.values, python: e.lookPath("python3")}, root: &root{own: own}}
	p, err := newPipes()
	if err != nil {
		t.Fatal(err)
	}
	if _, err := p.controlWrite.WriteString(`{"argv": ["sleep", "300.9"], "env": {}, "remove": []}` + "\n" + `{"stop": 0}` + "\n"); err != nil {
		t.Fatal(err)
	}
	cmd, err := r.startCold(p, e.runEnviron(nil))
	p.closeRemote()
	if err != nil {
		t.Fatal(err)
	}
	defer p.closeLocal()
	s := &supervised{cmd: cmd, ended: make(chan outcome, 1)}
	go s.wait(p, &tail{limit: 1024})
	select {
	case ended := <-s.ended:
		if ended.code != -15 && ended.code != -9 || ended.err != nil {
			t.Errorf("%+v", ended)
		}
	case <-time.After(time.Minute):
		t.Error("the supervisor does not stop the command")
		_ = cmd.Process.Kill()
	}
}

// TestFirstCause checks that only the first cause of the end of a run counts.
func TestFirstCause(t *testing.T) {
	t.Parallel()
	canceled := errors.New("canceled")
	for name, want := range map[string]error{"requeue": nil, "expired": errExpired, "canceled": canceled, "closed": errClosed} {
		control, controlWrite, err := os.Pipe()
		if err != nil {
			t.Fatal(err)
		}
		child := &supervised{control: controlWrite, ended: make(chan outcome, 1)}
		r := &Runner{config: Config{GracePeriod: time.Hour}, closed: make(chan struct{}), disk: &disk{limit: -1}}
		ctx, cancel := context.WithCancelCause(t.Context())
		requeue, expired := make(chan struct{}, 1), make(chan time.Time, 1)
		causes := map[string]func(){
			"requeue": func() { requeue <- struct{}{} }, "expired": func() { expired <- time.Time{} },
			"canceled": func() { cancel(canceled) }, "closed": func() { close(r.closed) },
		}
		causes[name]()
		delete(causes, name)
		go func() {
			if _, err := bufio.NewReader(control).ReadString('\n'); err != nil {
				t.Error(err)
			}
			for _, cause := range causes {
				cause()
			}
			child.ended <- outcome{code: -15}
		}()
		if ended, stopped := r.await(ctx, child, filepath.Join(t.TempDir(), "none"), requeue, expired); !errors.Is(stopped, want) || ended.code != -15 {
			t.Errorf("%s: %+v, %v", name, ended, stopped)
		}
		child.close()
		_ = control.Close()
	}
	// An event that arrives while the run ends for another reason does not change the result.
	period := time.Second
	collected, result := &events{requeue: &period}, &Result{Killed: KilledByTimeout}
	_, err := (&Runner{}).complete(Request{Timeout: time.Minute}, result, collected, outcome{code: -15}, errExpired, nil)
	if want := "the run exceeded its time limit of 1m0s before the first task, after ok=0 changed=0 failed=0"; err != nil || result.RequeueAfter != nil || result.Message() != want {
		t.Errorf("%+v, %v", result, err)
	}
}

func TestIsTrusted(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		owner, uid, gid int
		want            bool
	}{
		{0, 1001, 1001, true}, {0, 0, 0, true}, {1001, 1001, 1001, true}, {1001, 1000680000, 0, true},
		{1001, 1002, 1002, false}, {1001, 0, 0, false},
	} {
		if got := isTrusted(test.owner, test.uid, test.gid); got != test.want {
			t.Errorf("%+v: %t", test, got)
		}
	}
}

// TestPrivateDir checks which directories of others are used.
func TestPrivateDir(t *testing.T) {
	t.Parallel()
	if os.Getuid() != 0 {
		t.Skip("only root can create directories of other users")
	}
	dir := t.TempDir()
	if got, err := privateDir(dir); err != nil || got != dir {
		t.Errorf("%s, %v", got, err)
	}
	own := filepath.Join(dir, "uid-0")
	if err := errors.Join(os.Chmod(dir, 0o777), os.Mkdir(own, 0o700), os.Chown(own, 1001, 1001)); err != nil {
		t.Fatal(err)
	}
	if got, err := privateDir(dir); err == nil || !strings.Contains(err.Error(), "must belong to this user and not be writable by others") {
		t.Errorf("%s, %v", got, err)
	}
	if err := os.Chown(dir, 1001, 1001); err != nil {
		t.Fatal(err)
	}
	if got, err := privateDir(dir); err == nil || !strings.Contains(err.Error(), "must belong to this user or to root") {
		t.Errorf("%s, %v", got, err)
	}
}
