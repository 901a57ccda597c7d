package helmchart

// Protocol is the version of the requests and answers. Programs of different versions do not work together.
const Protocol = 1

// Files are the files of a chart by their path in it, with slashes: Chart.yaml, templates/service.yaml,
// charts/redis/Chart.yaml.
type Files map[string][]byte

// A FetchRequest asks for a chart.
type FetchRequest struct {
	Protocol int `json:"protocol"`
	// Chart is a directory, an archive, REPOSITORY/NAME of the user's repositories, the URL of an archive, an oci:// reference,
	// or, with Repo, the name of a chart. Relative paths are relative to the working directory.
	Chart string `json:"chart"`
	// Repo is the URL of a repository, or empty.
	Repo string `json:"repo,omitempty"`
	// Version is a version or a constraint; empty means the newest release.
	Version string `json:"version,omitempty"`
	// Starter is the name of a new chart, with Helm's starter as its content. The other fields are empty.
	Starter string `json:"starter,omitempty"`
	// Library accepts library charts, which have no objects of their own.
	Library bool `json:"library,omitempty"`
	// Offline forbids network access.
	Offline bool `json:"offline,omitempty"`
}

// A FetchAnswer is a chart with its dependencies in charts/.
type FetchAnswer struct {
	Chart Metadata `json:"chart"`
	Files Files    `json:"files"`
	// Origin describes where the chart is from.
	Origin Origin `json:"origin"`
	// Warnings are problems that did not prevent the answer, such as a deprecated chart.
	Warnings []string `json:"warnings,omitempty"`
}

// Metadata are the fields of Chart.yaml that operon needs.
type Metadata struct {
	Name        string `json:"name"`
	Version     string `json:"version"`
	AppVersion  string `json:"appVersion,omitempty"`
	Description string `json:"description,omitempty"`
	// KubeVersion is the constraint on the version of Kubernetes, or empty.
	KubeVersion string `json:"kubeVersion,omitempty"`
}

// Origin describes where a chart is from. A starter chart has neither Chart nor Repo.
type Origin struct {
	// Chart and Repo come from the FetchRequest; URLs are without user information, query and fragment.
	Chart string `json:"chart"`
	Repo  string `json:"repo,omitempty"`
	// Version is the version of the chart.
	Version string `json:"version"`
	// Digest is sha256:HEX. For an archive, it is the SHA-256 of its bytes as downloaded. For a directory and a starter chart,
	// it is the SHA-256 of the concatenation, in the order of the paths, of each file's path, a NUL, its size in bytes as a
	// decimal number, a NUL, and its content; files that .helmignore excludes and dependencies that were added are left out.
	Digest string `json:"digest"`
}

// A RenderRequest asks for the objects of a chart.
type RenderRequest struct {
	Protocol int   `json:"protocol"`
	Files    Files `json:"files"`
	// ReleaseName and Namespace identify the release.
	ReleaseName string `json:"releaseName"`
	Namespace   string `json:"namespace"`
	// Values are the values of each rendering, in addition to the defaults of the chart.
	Values []map[string]any `json:"values"`
	// BuiltinOnly limits .Capabilities.APIVersions to the APIs of Kubernetes and of the chart's CRDs. By default,
	// templates also find the APIs of common operators, such as monitoring.coreos.com/v1. As charts render some objects only
	// in their absence, both renderings together have all kinds.
	BuiltinOnly bool `json:"builtinOnly,omitempty"`
}

// A RenderAnswer has one rendering for each element of Values.
type RenderAnswer struct {
	Chart      Metadata    `json:"chart"`
	Renderings []Rendering `json:"renderings"`
	// CRDs are the objects in crds/ of the chart and its dependencies, disabled ones included.
	CRDs []RenderedObject `json:"crds,omitempty"`
	// Warnings are problems of the chart with any values, such as an unmet constraint on the version of Kubernetes.
	Warnings []string `json:"warnings,omitempty"`
}

// A Rendering is the result of one set of values.
type Rendering struct {
	// Objects are in the order in which Helm installs them, hooks last. The items of lists are objects of their own.
	Objects []RenderedObject `json:"objects,omitempty"`
	// Error is the reason that the chart cannot be rendered with the values, or empty. It is one line, which begins with the
	// path of the template and the line in it where they are known.
	Error string `json:"error,omitempty"`
	// Warnings are problems that did not prevent the rendering, such as values that violate the schema of the chart.
	Warnings []string `json:"warnings,omitempty"`
}

// A RenderedObject is an object of a chart.
type RenderedObject struct {
	// Template is the path of its file, such as memcached/templates/service.yaml.
	Template string `json:"template"`
	// Hooks are the events of a hook, such as pre-install, or test for a test; empty for objects that are not hooks.
	Hooks []string `json:"hooks,omitempty"`
	// Object is the decoded object.
	Object map[string]any `json:"object"`
}
