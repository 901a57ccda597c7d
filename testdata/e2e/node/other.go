//go:build !linux

package node

import (
	"context"
	"errors"
)

// The roles in which the program calls itself, as its first argument.
const (
	InitRole = "node-init"
	RunRole  = "node-run"
)

// errSystem is why there is no node here.
var errSystem = errors.New("a node of its own needs Linux: set KUBECONFIG to a cluster to use instead")

// Options tell Start how to run a node.
type Options struct {
	Assets, StateDir string
	Step             func(name string)
}

// Node is a running node.
type Node struct{ Name, Kubeconfig, Registry, Logs string }

// Start fails.
func Start(context.Context, Options) (*Node, error) { return nil, errSystem }

// Sweep fails.
func Sweep(context.Context, string) error { return errSystem }

// Init fails.
func Init() int { return 1 }

// Run fails.
func Run() int { return 1 }

// NamespacesOf finds none.
func NamespacesOf(string) []string { return nil }

// Wait fails.
func (n *Node) Wait(context.Context, string) error { return errSystem }

// Done is never closed.
func (n *Node) Done() <-chan struct{} { return nil }

// Err is why there is no node.
func (n *Node) Err() error { return errSystem }

// Namespaces are none.
func (n *Node) Namespaces() []string { return nil }

// Stop does nothing.
func (n *Node) Stop() error { return nil }
