//go:build !linux && !darwin

package runner

func isFull(string) error { return nil }
