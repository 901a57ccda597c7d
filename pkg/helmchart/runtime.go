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
	// Version is a version or a constraint; empty is the newest release.
	Version string `json:"version,omitempty"`
	// Starter is the name of a new chart, with Helm's starter as its content. The other fields are empty.
	Starter string `json:"starter,omitempty"`
	// Offline forbids network access.
	Offline bool `json:"offline,omitempty"`
}

// A FetchAnswer is a chart with its dependencies in charts/.
type FetchAnswer struct {
	Chart Metadata `json:"chart"`
	Files Files    `json:"files"`
	// Origin describes where the chart is from.
	Origin Origin `json:"origin"`
	// Warnings are problems that did not prevent the answer, such as a missing provenance file.
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

// Origin describes where a chart is from.
type Origin struct {
	// Chart and Repo are those of the FetchRequest, without credentials in URLs.
	Chart string `json:"chart"`
	Repo  string `json:"repo,omitempty"`
	// Version is the version of the chart.
	Version string `json:"version"`
	// Digest is the SHA-256 of the archive, or of the files of a directory: sha256:HEX.
	Digest string `json:"digest"`
}

// A RenderRequest asks for the objects of a chart.
type RenderRequest struct {
	Protocol int   `json:"protocol"`
	Files    Files `json:"files"`
	// ReleaseName and Namespace are those of the release.
	ReleaseName string `json:"releaseName"`
	Namespace   string `json:"namespace"`
	// Values are the values of each rendering, in addition to the defaults of the chart.
	Values []map[string]any `json:"values"`
}

// A RenderAnswer has one rendering for each element of Values.
type RenderAnswer struct {
	Chart      Metadata    `json:"chart"`
	Renderings []Rendering `json:"renderings"`
	// CRDs are the objects in crds/ of the chart and its dependencies.
	CRDs []RenderedObject `json:"crds,omitempty"`
}

// A Rendering is the result of one set of values.
type Rendering struct {
	// Objects are in the order in which Helm installs them, hooks last.
	Objects []RenderedObject `json:"objects,omitempty"`
	// Error is the reason that the chart cannot be rendered with the values, or empty.
	Error string `json:"error,omitempty"`
}

// A RenderedObject is an object of a chart.
type RenderedObject struct {
	// Template is the path of its file, such as memcached/templates/service.yaml.
	Template string `json:"template"`
	// Hooks are the events of a hook, such as pre-install; empty for objects that are not hooks.
	Hooks []string `json:"hooks,omitempty"`
	// Object is the decoded object.
	Object map[string]any `json:"object"`
}
