//go:build !linux

package main

import (
	"errors"
	"syscall"
)

var errSystem = errors.New("soak runs on Linux only")

func checkSystem() error { return errSystem }

func attributes() *syscall.SysProcAttr { return nil }

func residentKiB(int) (int, error) { return 0, errSystem }

func cpuSeconds(string) float64 { return 0 }

type runningProcess struct {
	pid           int
	args, environ []string
	dir           string
}

func findProcess(...string) (runningProcess, error) { return runningProcess{}, errSystem }

func marked(string) []string { return nil }
