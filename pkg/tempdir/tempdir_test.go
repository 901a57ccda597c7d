package tempdir

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"
)

// childVariable makes the test binary a process that creates directories in its value and waits.
const childVariable = "TEMPDIR_TEST_PARENT"

func TestMain(m *testing.M) {
	if parent := os.Getenv(childVariable); parent != "" {
		runChild(parent)
	}
	os.Exit(m.Run())
}

func runChild(parent string) {
	kept, err := New(parent, "kept")
	if err == nil {
		err = os.WriteFile(filepath.Join(kept.Path, "tls.key"), nil, 0o600)
	}
	var temp *Dir
	if err == nil {
		temp, err = NewGo(parent)
	}
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	if runtime.GOOS == "linux" {
		tool := exec.Command("/bin/sh", "-c", "sleep 300 & sleep 300")
		tool.Env = append(os.Environ(), temp.Variable())
		if err := tool.Start(); err != nil {
			fmt.Println(err)
			os.Exit(1)
		}
	}
	fmt.Println(kept.Path, temp.Path)
	time.Sleep(time.Minute)
	_ = kept.Remove()
	_ = temp.Remove()
}

// killChild returns the directories of a process that was killed: one of New and one of NewGo.
func killChild(t *testing.T, parent string) (kept, temp string) {
	t.Helper()
	child := exec.Command(os.Args[0])
	child.Env = append(os.Environ(), childVariable+"="+parent)
	out, err := child.StdoutPipe()
	if err == nil {
		err = child.Start()
	}
	if err != nil {
		t.Fatal(err)
	}
	line, err := bufio.NewReader(out).ReadString('\n')
	if err != nil && !errors.Is(err, io.EOF) {
		t.Error(err)
	}
	if _, err := fmt.Sscan(line, &kept, &temp); err != nil {
		t.Errorf("the child printed %q", line)
	}
	Sweep(parent)
	for _, dir := range []string{kept, temp} {
		if _, err := os.Stat(dir); err != nil {
			t.Errorf("the directory of a running process was removed: %v", err)
		}
	}
	if err := child.Process.Kill(); err != nil {
		t.Error(err)
	}
	_ = child.Wait()
	return kept, temp
}

// TestSweep checks that the directories of a killed process are removed, and other processes' directories are kept.
func TestSweep(t *testing.T) {
	t.Parallel()
	parent := t.TempDir()
	kept, _ := killChild(t, parent)
	if _, err := os.Stat(filepath.Join(kept, "tls.key")); err != nil {
		t.Fatal(err)
	}
	if err := os.Mkdir(filepath.Join(filepath.Dir(kept), "go-1"), 0o700); err != nil { // killed before it created the lock
		t.Fatal(err)
	}
	own, err := New(parent, "own")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(kept); err == nil {
		t.Errorf("%s was not removed", kept)
	}
	Sweep(parent)
	if _, err := os.Stat(own.Path); err != nil {
		t.Error(err)
	}
	if err := own.Remove(); err != nil {
		t.Error(err)
	}
	left := func() []os.DirEntry {
		entries, err := os.ReadDir(parent)
		if err != nil {
			t.Fatal(err)
		}
		return entries
	}
	for deadline := time.Now().Add(30 * time.Second); len(left()) > 0 && time.Now().Before(deadline); { // of NewGo
		time.Sleep(20 * time.Millisecond)
	}
	if entries := left(); len(entries) > 0 {
		t.Errorf("%v remain in the parent directory", entries)
	}
}

// TestKilledGo checks that the processes of a go command end with this process, and that their directory is removed.
func TestKilledGo(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("other systems do not show the environment of processes in /proc")
	}
	t.Parallel()
	_, temp := killChild(t, t.TempDir())
	for deadline := time.Now().Add(30 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		var running []string
		files, _ := filepath.Glob("/proc/[0-9]*/environ") // the pattern is valid
		for _, file := range files {
			if data, err := os.ReadFile(file); err == nil && strings.Contains(string(data), temp+"/") {
				running = append(running, file)
			}
		}
		_, err := os.Stat(temp)
		if len(running) == 0 && err != nil {
			return
		}
		if time.Now().After(deadline) {
			t.Fatalf("processes %v or directory %s remain (%v)", running, temp, err)
		}
	}
}

// TestForeignBase checks that a directory that another user may have prepared is not used.
func TestForeignBase(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a directory for temporary files belongs to one user")
	}
	t.Parallel()
	for name, prepare := range map[string]func(base string) error{
		"readable by others": func(base string) error { return os.Mkdir(base, 0o755) },
		"a file":             func(base string) error { return os.WriteFile(base, nil, 0o600) },
		"a link":             func(base string) error { return os.Symlink(t.TempDir(), base) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			parent := t.TempDir()
			base, err := basePath(parent)
			if err == nil {
				err = prepare(base)
			}
			if err != nil {
				t.Fatal(err)
			}
			if d, err := New(parent, "x"); err == nil {
				t.Errorf("New created %s, want an error", d.Path)
			} else if !strings.Contains(err.Error(), base+" is not a directory that belongs to this user") {
				t.Error(err)
			}
		})
	}
}
