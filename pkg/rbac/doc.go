// Package rbac computes the rules of the manager's role of an operator without Go code, and updates them in its file.
package rbac
