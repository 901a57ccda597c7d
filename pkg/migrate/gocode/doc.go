// Package gocode makes Go code written for older controller-runtime, Ginkgo and webhook interfaces fit those of
// today. It reads syntax and imports only, as the versions that the code was written for are not there to check it
// against: what is rewritten is what the imports prove to be meant. Everything else stays to the byte.
package gocode

const runtimeModule = "sigs.k8s.io/controller-runtime"
