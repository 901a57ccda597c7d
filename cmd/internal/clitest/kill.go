package clitest

import (
	"context"
	"fmt"
	"io/fs"
	"os"
	"os/signal"
	"strconv"

	"github.com/spf13/afero"

	"github.com/operon-sdk/operon/cmd"
)

// KillVariable names the environment variable that makes the test binary operon, which kills itself at the n-th change of
// the file system, or never if that is 0.
const KillVariable = "OPERON_TEST_KILL_AT"

// CacheVariable names the environment variable with the cache directory of such a process.
const CacheVariable = "OPERON_TEST_CACHE"

// runAsProgram ends the process as operon if KillVariable is set.
func runAsProgram() {
	if at := os.Getenv(KillVariable); at != "" {
		os.Exit(killedProgram(at))
	}
}

func killedProgram(at string) int {
	n, err := strconv.Atoi(at)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	env, err := programEnv()
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 3
	}
	if dir := os.Getenv(CacheVariable); dir != "" {
		env.CacheDir = dir
	}
	env.FS = &killingFs{Fs: env.FS, left: n}
	ctx, stop := signal.NotifyContext(context.Background(), cmd.EndSignals()...)
	defer stop()
	return cmd.Main(ctx, env, append([]string{"operon"}, os.Args[1:]...))
}

// killingFs is a file system that kills the process before its n-th change.
type killingFs struct {
	afero.Fs
	left int
}

// change is called before every change.
func (k *killingFs) change() {
	k.left--
	if k.left != 0 {
		return
	}
	self, err := os.FindProcess(os.Getpid())
	if err == nil {
		err = self.Kill()
	}
	fmt.Fprintln(os.Stderr, "killing:", err)
	select {}
}

func (k *killingFs) OpenFile(name string, flag int, mode fs.FileMode) (afero.File, error) {
	if flag&(os.O_WRONLY|os.O_RDWR|os.O_CREATE|os.O_TRUNC) == 0 {
		return k.Fs.OpenFile(name, flag, mode)
	}
	k.change()
	f, err := k.Fs.OpenFile(name, flag, mode)
	return killingFile{File: f, fs: k}, err
}

func (k *killingFs) Create(name string) (afero.File, error) {
	return k.OpenFile(name, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o666)
}

func (k *killingFs) Mkdir(name string, mode fs.FileMode) error {
	k.change()
	return k.Fs.Mkdir(name, mode)
}

func (k *killingFs) MkdirAll(name string, mode fs.FileMode) error {
	k.change()
	return k.Fs.MkdirAll(name, mode)
}

func (k *killingFs) Remove(name string) error {
	k.change()
	return k.Fs.Remove(name)
}

func (k *killingFs) RemoveAll(name string) error {
	k.change()
	return k.Fs.RemoveAll(name)
}

func (k *killingFs) Rename(from, to string) error {
	k.change()
	return k.Fs.Rename(from, to)
}

func (k *killingFs) Chmod(name string, mode fs.FileMode) error {
	k.change()
	return k.Fs.Chmod(name, mode)
}

// killingFile writes half of the data at the change that kills the process.
type killingFile struct {
	afero.File
	fs *killingFs
}

func (f killingFile) Write(p []byte) (int, error) {
	if f.fs.left == 1 {
		if _, err := f.File.Write(p[:len(p)/2]); err != nil {
			return 0, err
		}
	}
	f.fs.change()
	return f.File.Write(p)
}
