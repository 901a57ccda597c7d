// Package dependson makes custom resources wait until the objects that they depend on are ready.
//
// [Checker.Check] reads the objects of a resource, and remembers which of them it waits for. A [Watcher] watches the metadata of these
// objects. After a change, it reads an object once, and starts a pass of the resources that wait for it only if its state is another one
// than they know. Nothing is read, and no pass starts, while nothing changes or nobody waits.
//
// # Readiness
//
// An object is ready if its condition Ready is True for its current generation. An object without that condition is ready if kstatus
// says so, as for Deployments or Jobs, except that an object with an empty status isn't ready if its kind has the subresource status.
//
// # Cycles
//
// Resources of one process that wait for each other are found at run time; see [Wait].
package dependson
