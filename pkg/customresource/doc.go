// Package customresource contains what reconcilers of custom resources share that have no Go types for their kinds: conditions,
// writes of finalizers and of the status, and controllers that start before their kind exists.
package customresource
