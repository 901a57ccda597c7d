// Package helmchart derives the parts of an operator from a Helm chart: the schema and the sample of a kind from the
// values, and the rules of the manager's role from the objects that the chart renders. It does not link Helm: charts are
// read and rendered by the program operon-runtime, whose requests and answers are types of this package.
package helmchart
