// Package proxy is the server between the modules of Ansible and the API server. Each run of a playbook has a kubeconfig with its own
// token. The proxy listens on 127.0.0.1, with a certificate that it creates when it starts, because tools that are based on client-go send
// tokens over TLS only.
//
// # Requests
//
// Requests are forwarded with the credentials of the operator: also watches, logs, and exec, attach and port-forward over SPDY or
// WebSocket. A request without the token of a current run is answered with 401, and logged without the token. When a run ends, its open
// requests end. Impersonation headers are forwarded: the API server decides whether the operator is permitted to impersonate, and
// without them, a request would have more permissions than its client asked for. If the operator itself impersonates a user, they are
// refused. Bodies that are edited are limited to 8 MiB; API servers accept 3.
//
// # Owners
//
// A run owns the objects that it creates. They get an owner reference, or if they are in another namespace than a namespaced owner, or
// cluster-scoped, the annotations operator-sdk/primary-resource and operator-sdk/primary-resource-type, as those of operator-sdk. The
// reference has apiVersion, kind, name and uid only, and is not that of a controller. Objects get it with POST, with PUT and with
// server-side apply, which all may create objects. Objects that have it keep it: a PUT, a server-side apply or a merge patch of the list
// of references, by a client that does not include it, would remove it. A merge patch with null or an empty list, and a JSON patch, can
// remove it. Objects that exist without it are not taken over, as a role may change objects that it did not create, which the deletion of
// the custom resource must not delete. Other references and annotations are kept. JSON, YAML and protobuf are edited; the answer to
// other types is 415, to which clients respond with JSON. While the API server does not answer which resources it serves, the answer is
// 503, as objects would be created without an owner. Reviews and other objects that are not stored, and subresources, are not edited.
//
// # Changes
//
// The metadata of objects of a kind is watched as soon as a run reads or writes an object with its mark, also after a restart of the
// operator. Only the metadata of objects that belong to custom resources is kept. A change requires a run of the owner, except if a run
// of the owner made it, or if the last run has seen it in everything that it has read of the object. Changes are held back during
// a run. Runs after a change of only the status begin 2 seconds later, and after 10 runs in short time, one can begin every 20 seconds.
// Events are not watched, as the API server deletes them after an hour.
//
// # Cache
//
// Reads are forwarded, unless the watch in watches.yaml permits cached ones. Then reads of single objects, or of their status, are
// answered from a cache of 32 MiB, with the header X-Cache: HIT. A response is dropped when a watch reports another version of the
// object, or is interrupted, and when a request through the proxy can change the object or reveal a newer version. So what a client
// reads through the proxy is never older than what it wrote or read through it before. It can be older than what others wrote, by the
// time that a watch needs. Reads do not wait for watches: until a kind is watched, they are forwarded. Not cached are lists, other
// subresources, reads with parameters or as another user, objects in namespaces that the operator does not watch, and kinds on the
// blacklist.
//
// # Secrets
//
// Secrets in requests and responses are reported to the run, which removes their contents from its messages. Those in responses with
// more than 8 MiB, and in watches, are not.
//
// # Metrics
//
//   - ansible_operator_proxy_requests_total {method, code, cache}: the number of requests, with cache "hit" for those that are answered
//     from the cache
package proxy
