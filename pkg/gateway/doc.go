// Package gateway is a TLS proxy in front of an API server that records requests and injects faults, so that a test sees
// what a program asks of the API server, and decides what the program gets.
//
// A program connects to [Gateway.URL] with the credentials of [Gateway.Kubeconfig]; the gateway forwards its requests with the
// credentials of the backend. HTTP/1.1 and HTTP/2 are supported, and watches are streamed.
//
// # Faults
//
// A [Rule] applies a [Fault] to the requests that it matches: an error, a delay, a reset. The first rule that applies wins. A rule can
// skip requests, end after a number of them, or apply to a share of them only. The share is chosen by a hash of the seed and the
// request, so that the order in which concurrent requests arrive doesn't matter.
//
// A [Hold] stops a program at its n-th request: the request waits, before or after the API server has answered it, until the test has
// killed the program.
//
// Faults of the network and of credentials are methods of the Gateway: [Gateway.Refuse], [Gateway.ResetConnections],
// [Gateway.CutWatches], [Gateway.RotateCertificate] and [Gateway.SetTokens].
//
// # Dry runs
//
// With [Options.DryRun], a program can't change anything in the cluster: each write is forwarded as a server-side dry run, and the program
// gets its result. What the API server can't do as a dry run isn't forwarded.
package gateway
