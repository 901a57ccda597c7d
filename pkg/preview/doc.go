// Package preview shows what an operator would change in a cluster. A [Preview] decides which of the operator's writes a gateway forwards
// as dry runs, collects them, and compares each result with the live object.
//
// Nothing is stored, so an operator sees the cluster as it was: it repeats writes, and doesn't get beyond the first step of what it does in
// several. Equal writes count once. Two writes to an object are equal if they change the same fields, whatever the values: times differ
// in each pass.
package preview
