//go:build !linux

package node

import (
	"context"
	"errors"
)

// errSystem is why there is no node here.
var errSystem = errors.New("a node of its own needs Linux: set KUBECONFIG to a cluster to use instead")

// Options tell Start how to run a node.
type Options struct {
	Assets, Programs, StateDir string
	Step                       func(name string)
}

// Node is a running node.
type Node struct{ Name, Kubeconfig, Registry, Logs string }

// Start fails.
func Start(context.Context, Options) (*Node, error) { return nil, errSystem }

// Sweep fails.
func Sweep(context.Context, string) error { return errSystem }

// Role is none.
func Role([]string) func() int { return nil }

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
