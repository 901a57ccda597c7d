package release

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"slices"
	"strings"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	chartutil "helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// A chartCRD is an object of the crds directory of a chart, without its content: CRDs are large, and seldom needed.
type chartCRD struct {
	gvk  schema.GroupVersionKind
	name string
	// digest identifies the content.
	digest string
	// file contains the object, and filename is its path.
	file     *common.File
	filename string
}

// chartCRDs returns the objects of the crds directories of the chart and of its enabled subcharts. They are the same for the whole pass.
func (r *Release) chartCRDs() ([]chartCRD, error) {
	if r.crds == nil {
		crds, err := r.readCRDFiles()
		if err != nil {
			return nil, err
		}
		r.crds = &crds
	}
	return *r.crds, nil
}

func (r *Release) readCRDFiles() ([]chartCRD, error) {
	chart, err := r.enabledChart()
	if err != nil {
		return nil, err
	}
	var all []chartCRD
	for _, crd := range chart.CRDObjects() {
		if crd.File == nil || len(bytes.TrimSpace(crd.File.Data)) == 0 {
			continue
		}
		crds, err := r.factory.crds.parse(r.owner.gvk, r.options.Chart, crd)
		if err != nil {
			return nil, r.errorf("%s: %w", crd.Filename, err)
		}
		all = append(all, crds...)
	}
	return all, nil
}

// enabledChart returns the chart without disabled subcharts, whose CRDs may belong to others.
func (r *Release) enabledChart() (*chartv2.Chart, error) {
	chart := r.options.Chart
	if !slices.ContainsFunc(chart.Dependencies(), func(c *chartv2.Chart) bool { return len(c.CRDObjects()) > 0 }) {
		return chart, nil
	}
	chart = copyChart(chart)
	if err := chartutil.ProcessDependencies(chart, copyMap(r.options.Values)); err != nil {
		return nil, r.errorf("the dependencies of the chart: %w", err)
	}
	return chart, nil
}

// parseCRDs returns the objects of a file.
func parseCRDs(crd chartv2.CRD) ([]chartCRD, error) {
	objects, err := parseManifest(string(crd.File.Data))
	if err != nil {
		return nil, err
	}
	crds := make([]chartCRD, len(objects))
	for i, object := range objects {
		data, err := json.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		sum := sha256.Sum256(data)
		crds[i] = chartCRD{object.GroupVersionKind(), object.GetName(), hex.EncodeToString(sum[:8]), crd.File, crd.Filename}
	}
	return crds, nil
}

// object returns the content, as it is applied.
func (c chartCRD) object() (*unstructured.Unstructured, error) {
	objects, err := parseManifest(string(c.file.Data))
	if err != nil {
		return nil, err
	}
	for _, object := range objects {
		if object.GetName() == c.name && object.GroupVersionKind() == c.gvk {
			normalizeValue(object.Object)
			delete(object.Object, "status")
			unstructured.RemoveNestedField(object.Object, "metadata", "creationTimestamp")
			return object.Unstructured, nil
		}
	}
	return nil, nil // not possible: it was found in the file
}

// versionOf returns the version of a chart.
func versionOf(chart *chartv2.Chart) string {
	if chart.Metadata == nil {
		return ""
	}
	return strings.TrimSpace(chart.Metadata.Version)
}
