// Package gocode updates Go code that was written for older versions of controller-runtime, Ginkgo and the webhook
// interfaces. Rewrite updates the code of a project, and FindWebhooks and Webhooks.Move move webhooks to their current
// package. The package reads only syntax and imports, because the old library versions may not be available: it
// rewrites what the imports identify, and keeps everything else byte for byte.
package gocode

const runtimeModule = "sigs.k8s.io/controller-runtime"
