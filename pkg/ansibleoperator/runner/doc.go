// Package runner runs playbooks and roles for custom resources, with the ansible-runner of the user.
//
// # Directories
//
// Each custom resource has a directory below Config.Root, GROUP/VERSION/KIND/NAMESPACE/NAME, in the form that ansible-runner
// expects: env, inventory, project and artifacts, with a link to the artifacts of the latest run. It is removed with the custom
// resource and when the operator ends. If the operator is killed, a process that waits for its end removes it. The artifacts of the
// last failed run outlive the operator; Runner.FailedRuns lists them for the next one.
//
// # Processes
//
// Each run has a supervisor, a small Python process that needs only the standard library. It adopts all processes of the run, so it
// can also end processes that have left their session, as ansible-playbook does, or that run in the background, as asynchronous
// tasks do. It ends them after the run, when the run is canceled or exceeds its time, and when the operator dies.
//
// ansible-runner reports its events through a plugin of this package. ansible-runner finds the plugin by its entry point on
// PYTHONPATH; the plugin writes to an inherited pipe. Compared with requests to a socket, a pipe needs no HTTP library, delays a
// writer instead of losing events, can't be written to by other processes, and ends with the process.
//
// # Warm interpreters
//
// On Linux, the supervisor, ansible-runner, ansible-playbook and Python modules on localhost are forks of one interpreter, which
// has loaded ansible-runner, Ansible and the Python client for Kubernetes. python/warm.py describes when a new process is started
// instead; runs also start new ones while the interpreter takes too long to load, or after it has ended, until it is started again
// after a pause. A run without changes took these processor times, in seconds, with Ansible 2.14 and ansible-runner 2.3.1:
//
//	tasks                     new interpreters   ansible-runner and   with modules
//	                                             ansible-playbook
//	debug                     0.62               0.12                 0.12
//	one kubernetes.core.k8s   1.25               0.55                 0.22
//	three                     2.20               1.43                 0.42
//
// Most of what is left are the requests of the tasks. An idle interpreter occupies 80 MB, of which it shares 10 MB with others; a
// run shares most of it. ANSIBLE_PIPELINING did not reduce the times. BenchmarkRun measures the time of runs, cold and warm.
package runner
