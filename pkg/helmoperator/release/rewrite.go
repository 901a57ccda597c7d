package release

import (
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"
)

// A renderStep changes rendered objects.
type renderStep func([]manifestObject) ([]manifestObject, error)

// A rewriter changes the manifest that an action renders, before it is applied and stored. Helm's post-renderers are not used,
// because they turn nulls into empty strings.
type rewriter struct {
	steps []renderStep
	// rendered is the first manifest that is built, for the new revision, and rewritten the result.
	rendered, rewritten string
	done                bool
}

// newRewriter returns a rewriter for PostRender and further steps.
func (r *Release) newRewriter(steps ...renderStep) *rewriter {
	if r.options.PostRender != nil {
		steps = append([]renderStep{r.postRender}, steps...)
	}
	return &rewriter{steps: steps}
}

// postRender is the step of Options.PostRender.
func (r *Release) postRender(objects []manifestObject) ([]manifestObject, error) {
	sources, list := map[*unstructured.Unstructured]string{}, make([]*unstructured.Unstructured, len(objects))
	for i, object := range objects {
		list[i] = object.Unstructured
		sources[object.Unstructured] = object.source
	}
	list, err := r.options.PostRender(list)
	if err != nil {
		return nil, fmt.Errorf("post-render: %w", err)
	}
	objects = make([]manifestObject, len(list))
	for i, object := range list {
		if object == nil || object.GetKind() == "" || object.GetName() == "" && object.GetGenerateName() == "" {
			return nil, errors.New("post-render: an object without kind or name")
		}
		objects[i] = manifestObject{object, sources[object]}
	}
	return objects, nil
}

// apply returns the rewritten manifest, if it is the one that the action has rendered.
func (w *rewriter) apply(manifest string) (string, error) {
	if w == nil || len(w.steps) == 0 || w.done && manifest != w.rendered {
		return manifest, nil
	}
	if !w.done {
		rewritten, err := w.rewrite(manifest)
		if err != nil {
			return "", err
		}
		w.rendered, w.rewritten, w.done = manifest, rewritten, true
	}
	return w.rewritten, nil
}

// rewrite runs the steps. Documents that they do not change keep their text.
func (w *rewriter) rewrite(manifest string) (string, error) {
	type original struct {
		text   string
		object *unstructured.Unstructured
	}
	var objects []manifestObject
	originals := map[*unstructured.Unstructured]original{}
	for _, document := range splitManifest(manifest) {
		parsed, err := parseDocument(document)
		if err != nil {
			return "", err
		}
		for _, object := range parsed {
			objects = append(objects, manifestObject{object, documentSource(document)})
			if len(parsed) == 1 {
				originals[object] = original{document, object.DeepCopy()}
			}
		}
	}
	var err error
	for _, step := range w.steps {
		if objects, err = step(objects); err != nil {
			return "", err
		}
	}
	var out strings.Builder
	for _, object := range objects {
		if before, ok := originals[object.Unstructured]; ok && reflect.DeepEqual(before.object.Object, object.Object) {
			// Its last newlines may belong to a string.
			fmt.Fprintf(&out, "---\n%s", before.text)
			if !strings.HasSuffix(before.text, "\n") {
				out.WriteByte('\n')
			}
			continue
		}
		data, err := yaml.Marshal(object.Object)
		if err != nil {
			return "", err
		}
		out.WriteString("---\n")
		if object.source != "" {
			fmt.Fprintf(&out, "# Source: %s\n", object.source)
		}
		out.Write(data)
	}
	return out.String(), nil
}
