// Package proxy stands between the modules of Ansible and the API server. It recognizes the run that sends a request, so it can add
// what a role leaves out: owners of the objects that a run creates, watches of those objects, and a cache.
//
// A [Proxy] serves all runs of a process on 127.0.0.1. [Proxy.Register] returns a kubeconfig for one run, with a token of its own
// and the [Settings] of its watch. The proxy creates a certificate when it starts, because clients based on client-go send tokens
// over TLS only.
//
// # Requests
//
// The proxy forwards requests with the operator's credentials, including watches, logs, exec, attach and port-forward, over SPDY or
// WebSocket. It answers a request without the token of a current run with 401, and logs it without the token. When a run ends, its
// open requests end.
//
// Impersonation headers are forwarded, and the API server decides whether the operator may impersonate: without them, a request
// would have more permissions than its client asked for. If the operator itself impersonates a user, such requests are refused.
//
// Bodies that the proxy edits are limited to 8 MiB; API servers accept 3.
//
// # Owners
//
// A run owns the objects that it creates. The proxy marks them as operator-sdk does: with an owner reference, or, if the object is
// cluster-scoped or not in the namespace of a namespaced owner, with the annotations operator-sdk/primary-resource and
// operator-sdk/primary-resource-type. The reference contains apiVersion, kind, name and uid, and doesn't claim to be the
// controller.
//
//   - POST, PUT and server-side apply may create an object, so they get the mark.
//   - An object that has the mark keeps it: a PUT, a server-side apply, or a merge patch of the list of references would remove it
//     if the client doesn't send it. A merge patch with null or an empty list, or a JSON patch, still removes it.
//   - An object that exists without the mark is not taken over: a role may change objects that it didn't create, and deleting the
//     custom resource must not delete them.
//   - Other references and annotations are kept.
//   - Reviews and other objects that are not stored, and subresources, are not edited.
//
// The proxy edits JSON, YAML and protobuf. It answers other types with 415, after which clients send JSON. While the API server
// doesn't report which resources it serves, the answer is 503: otherwise objects would be created without an owner.
//
// # Changes
//
// Once a run reads or writes an object with its mark, the proxy watches the metadata of that kind, also after a restart of the
// operator. It keeps only the metadata of objects that belong to custom resources. Events are not watched, as the API server
// deletes them after an hour.
//
// A change requests a run of the owner, unless a run of the owner made it, or the last run has seen it in everything it read of the
// object. During a run, changes are held back and judged at its end, because the response to the request that causes a change can
// arrive after the change. A change of only the status delays the run by 2 seconds. After 10 runs in a short time, one can begin
// every 20 seconds; this stops roles that change their objects in each run. [Proxy.RequestRun] adds a request within the same limits.
//
// # Cache
//
// Reads are forwarded, unless the watch allows cached ones. Then the proxy answers reads of single objects, or of their status,
// from a cache of 32 MiB, with the header X-Cache: HIT. It drops a response when a watch reports another version of the object or
// is interrupted, and when a request through the proxy can change the object or reveals a newer version.
//
// So a client never reads anything older than what it wrote or read through the proxy before. It can miss what others wrote, for as
// long as a watch takes to report it. Reads don't wait for watches: they are forwarded until the kind is watched. Lists, other
// subresources, reads with parameters or as another user, namespaces that the operator doesn't watch, and kinds on the blacklist
// are never cached.
//
// # Secrets
//
// The proxy reports the Secrets in requests and responses to the run, which removes their contents from its messages. It skips
// responses of more than 8 MiB, and watches.
//
// # Metrics
//
//   - ansible_operator_proxy_requests_total {method, code, cache}: the number of requests, with cache "hit" if the cache answered
package proxy
