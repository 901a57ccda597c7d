package runner

import "context"

// Versions are the versions of the programs that runs need.
type Versions struct {
	// Runner and Ansible are those of ansible-runner and ansible-core. Python is the path of the interpreter of modules.
	Runner, Ansible, Python string
	// Kubernetes is the version of the Python package kubernetes, which the modules of kubernetes.core need. It is empty if the
	// package is not installed.
	Kubernetes string
}

// Check runs the programs that runs need, and returns their versions. The error names missing packages.
func (r *Runner) Check(ctx context.Context) (Versions, error) {
	return Versions{}, nil
}
