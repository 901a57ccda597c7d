// Package operatorchart makes a Helm chart that installs an operator from the objects of its kustomization.
//
// # Model
//
// The kustomization stays the source: Make turns each of its objects into a template, and what users of charts expect to set into values. With
// the default values, and a release that has the name and the namespace of the kustomization, the chart renders the objects of the
// kustomization, apart from three differences: the Namespace is missing, since Helm makes it; the label app.kubernetes.io/managed-by is Helm,
// beside the label helm.sh/chart; and CRDs have the annotation that makes Helm keep them.
//
// An object becomes a tree of values, expressions, conditions and lines of templates, which a writer prints as YAML with actions. References
// to objects whose names begin with the prefix of the kustomization follow the release, as do references to its namespace; words that only look
// like names stay. Lines that aren't
// derived from an object come from the blocks in templates/chart.
//
// The values have the names and the files the paths that the helm/v2-alpha plugin of kubebuilder gives them, so that charts and pipelines that
// were made for it continue to work. Continue takes over a chart of that plugin.
package operatorchart
