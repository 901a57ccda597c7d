// Package gokinds contains what commands do with kinds that have Go types: it creates and deletes APIs, controllers and webhooks, and
// generates code and manifests with controller-gen's generators. A Go project can have kinds with charts, too, which it leaves to
// package helmkinds.
package gokinds
