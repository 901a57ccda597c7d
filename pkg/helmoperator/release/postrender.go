package release

import (
	"bytes"
	"errors"
	"fmt"

	"helm.sh/helm/v4/pkg/postrenderer"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// fileAnnotation is Helm's annotation of objects during post-rendering: the template that rendered them.
const fileAnnotation = "postrenderer.helm.sh/postrender-filename"

// A renderStep changes rendered objects.
type renderStep func([]*unstructured.Unstructured) ([]*unstructured.Unstructured, error)

// stepRenderer is Helm's post-renderer of steps.
type stepRenderer []renderStep

// postRenderer returns the post-renderer for PostRender and further steps. It is nil if there are none, so that the manifest
// keeps the text of the templates.
func (r *Release) postRenderer(steps ...renderStep) postrenderer.PostRenderer {
	if r.options.PostRender != nil {
		steps = append([]renderStep{hideFiles(r.options.PostRender)}, steps...)
	}
	if len(steps) == 0 {
		return nil
	}
	return stepRenderer(steps)
}

// Run implements postrenderer.PostRenderer.
func (s stepRenderer) Run(manifest *bytes.Buffer) (*bytes.Buffer, error) {
	parsed, err := parseManifest(manifest.String())
	if err != nil {
		return nil, err
	}
	objects := make([]*unstructured.Unstructured, len(parsed))
	for i, object := range parsed {
		objects[i] = object.Unstructured
	}
	for _, step := range s {
		if objects, err = step(objects); err != nil {
			return nil, err
		}
	}
	var out bytes.Buffer
	for _, object := range objects {
		if object == nil || object.GetKind() == "" || object.GetName() == "" {
			return nil, errors.New("an object without kind or name")
		}
		data, err := yaml.Marshal(object.Object)
		if err != nil {
			return nil, err
		}
		fmt.Fprintf(&out, "---\n%s", data)
	}
	return &out, nil
}

// hideFiles removes Helm's annotation of the template while a step runs.
func hideFiles(step renderStep) renderStep {
	return func(objects []*unstructured.Unstructured) ([]*unstructured.Unstructured, error) {
		files := map[*unstructured.Unstructured]string{}
		for _, object := range objects {
			files[object] = takeFile(object)
		}
		changed, err := step(objects)
		if err != nil {
			return nil, err
		}
		for _, object := range changed {
			if file := files[object]; file != "" {
				setFile(object, file)
			}
		}
		return changed, nil
	}
}

func takeFile(object *unstructured.Unstructured) string {
	annotations := object.GetAnnotations()
	file, ok := annotations[fileAnnotation]
	if !ok {
		return ""
	}
	delete(annotations, fileAnnotation)
	if len(annotations) == 0 {
		annotations = nil
	}
	object.SetAnnotations(annotations)
	return file
}

func setFile(object *unstructured.Unstructured, file string) {
	annotations := object.GetAnnotations()
	if annotations == nil {
		annotations = map[string]string{}
	}
	annotations[fileAnnotation] = file
	object.SetAnnotations(annotations)
}
