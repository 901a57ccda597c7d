// Package runner runs playbooks and roles for custom resources, with the ansible-runner of the user.
//
// Each custom resource has a directory below Config.Root, GROUP/VERSION/KIND/NAMESPACE/NAME, in the form that ansible-runner
// expects: env, inventory, project and artifacts, with a link to the artifacts of the latest run. It is removed with the custom
// resource, when the operator ends, or, if the operator is killed, by a process that waits for its end.
//
// Each run has a supervisor, a small Python process without other modules than those of the standard library. It is the reaper of
// all processes of the run, so that it also ends those that have left their session, as ansible-playbook does, or that run in the
// background, as asynchronous tasks do: after the run, when the run is canceled or exceeds its time, and when the operator dies.
//
// ansible-runner reports its events through a plugin of this package, which ansible-runner finds by its entry point on PYTHONPATH,
// and which writes them to an inherited pipe. Compared with requests to a socket, a pipe requires no HTTP library, delays a writer
// instead of losing events, cannot be written to by other processes, and ends with the process.
//
// On Linux, the supervisor, ansible-runner, ansible-playbook and Python modules on localhost are forks of one interpreter, which has
// loaded ansible-runner, Ansible and the Python client for Kubernetes. python/warm.py describes when a process is started instead, as are
// those of runs while the interpreter loads for too long or has ended; it is started again after a pause. A run without changes took
// these processor times, in seconds, with Ansible 2.14 and ansible-runner 2.3.1:
//
//	tasks                     new interpreters   ansible-runner and   with modules
//	                                             ansible-playbook
//	debug                     0.62               0.12                 0.12
//	one kubernetes.core.k8s   1.25               0.55                 0.22
//	three                     2.20               1.43                 0.42
//
// The rest is mostly that of the tasks' requests. The interpreter occupies 80 MB while idle, 70 MB of them not shared with
// others; a run shares most of it. ANSIBLE_PIPELINING did not reduce the times. BenchmarkRun measures the
// time of runs, cold and warm.
package runner
