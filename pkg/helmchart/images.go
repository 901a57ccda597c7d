package helmchart

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// RelatedPrefix is the start of the names of the environment variables of a manager with images. OLM and "bundle
// --use-image-digests" list them as related images.
const RelatedPrefix = "RELATED_IMAGE_"

// An Image is an image of a chart that values select.
type Image struct {
	// Path is the path of the value, or of the mapping with its parts: image, cart-cache.image.
	Path string `json:"path"`
	// Default is the image that the chart renders: registry.example.com/shop/web:1.4.0.
	Default string `json:"default"`
	// Variable is an environment variable for it: RELATED_IMAGE_SHOP_CART_CACHE.
	Variable string `json:"variable"`
	// Overrides are the override values of watches.yaml that set the image to the variable's, by their paths.
	Overrides map[string]string `json:"overrides"`
}

// Images finds the images of a chart that values select. It renders the chart with the values of the last set of rendered that can be
// rendered, and changes values with the names and forms of images: only those count that set an image to any reference, with a tag
// or a digest. Left are the other images of containers.
func Images(ctx context.Context, files Files, rendered *Rendered, render func(context.Context, RenderRequest) (*RenderAnswer, error)) (images []Image, left []string, err error) {
	i := slices.IndexFunc(rendered.Sets, func(set RenderedSet) bool { return set.Error == "" })
	if i < 0 {
		return nil, nil, nil
	}
	base := rendered.Sets[i]
	for _, set := range rendered.Sets[i:] {
		if set.Error == "" && len(set.switches) >= len(base.switches) {
			base = set
		}
	}
	tree, err := readTree(files)
	if err != nil {
		return nil, nil, err
	}
	s := imageSearch{files: files, base: base, leaves: leavesOf(base.Objects), render: render}
	s.find(tree.values, nil)
	for form := 0; slices.ContainsFunc(s.candidates, func(c *imageCandidate) bool { return c.open(form) }); form++ {
		if err := s.try(ctx, form); err != nil {
			return nil, nil, err
		}
	}
	images, left = s.result(tree.name)
	return images, left, nil
}

// An imageCandidate is a value that may select an image.
type imageCandidate struct {
	path  []string
	forms []imageForm
	// found is the form that sets the image, and places are the places that have it.
	found  imageForm
	places []string
}

func (c *imageCandidate) open(form int) bool { return c.found == nil && form < len(c.forms) }

// ref returns a reference that no chart has.
func (c *imageCandidate) ref(i int, digest bool) string {
	name := fmt.Sprintf("related.example:5000/team/app-%d", i)
	if digest {
		return name + "@sha256:" + testDigest
	}
	return name + ":1.2.3-related"
}

// testDigest is longer than the value of a label may be.
var testDigest = strings.Repeat("0123456789abcdef", 4)

type imageSearch struct {
	files  Files
	base   RenderedSet
	leaves map[string]string
	render func(context.Context, RenderRequest) (*RenderAnswer, error)

	candidates []*imageCandidate
}

// find adds the candidates of a mapping.
func (s *imageSearch) find(v *value, path []string) {
	for _, key := range slices.Sorted(slices.Values(v.keys)) {
		if strings.ContainsAny(key, `,=[]{}\`) {
			continue // cannot be the path of an override value
		}
		at := append(slices.Clone(path), key)
		field := v.fields[key]
		if forms := imageForms(key, field); len(forms) > 0 {
			s.candidates = append(s.candidates, &imageCandidate{path: at, forms: forms})
		}
		if field.kind == mapValue {
			s.find(field, at)
		}
	}
}

// try renders the chart with a form of each open candidate: all at once, or if that fails, one by one.
func (s *imageSearch) try(ctx context.Context, form int) error {
	var open []int
	for i, c := range s.candidates {
		if c.open(form) {
			open = append(open, i)
		}
	}
	sets := [][]int{open}
	answers, err := s.renderWith(ctx, form, sets)
	if err != nil {
		return err
	}
	if answers[0].Error != "" || answers[1].Error != "" {
		sets = slices.Collect(slices.Chunk(open, 1))
		if answers, err = s.renderWith(ctx, form, sets); err != nil {
			return err
		}
	}
	for n, set := range sets {
		tagged, pinned := answers[2*n], answers[2*n+1]
		if tagged.Error != "" || pinned.Error != "" {
			continue
		}
		withTag, withDigest := leavesOf(tagged.Objects), leavesOf(pinned.Objects)
		for _, i := range set {
			c := s.candidates[i]
			places := s.placesOf(withTag, c.ref(i, false))
			if len(places) > 0 && slices.Equal(places, s.placesOf(withDigest, c.ref(i, true))) && !hasLongLabel(withDigest) {
				c.found, c.places = c.forms[form], places
			}
		}
	}
	return nil
}

// renderWith renders the chart twice for each set of candidates: with tags, and with digests.
func (s *imageSearch) renderWith(ctx context.Context, form int, sets [][]int) ([]Rendering, error) {
	request := RenderRequest{Protocol: Protocol, Files: s.files, ReleaseName: renderRelease, Namespace: renderNamespace}
	for _, set := range sets {
		for _, digest := range []bool{false, true} {
			values := CloneValues(s.base.Values)
			for _, i := range set {
				c := s.candidates[i]
				for key, part := range c.forms[form] {
					setValue(values, c.key(key), part.of(c.ref(i, digest)))
				}
			}
			request.Values = append(request.Values, values)
		}
	}
	answer, err := s.render(ctx, request)
	if err != nil {
		return nil, err
	}
	return answer.Renderings, nil
}

func (c *imageCandidate) key(part string) []string {
	if part == "" {
		return c.path
	}
	return append(slices.Clone(c.path), part)
}

// placesOf returns the places that have a reference, alone or as the value of an argument, where the base has one, too.
func (s *imageSearch) placesOf(leaves map[string]string, ref string) []string {
	var places []string
	for place, text := range leaves {
		if _, ok := s.leaves[place]; ok && (text == ref || strings.HasSuffix(text, "="+ref)) {
			places = append(places, place)
		}
	}
	slices.Sort(places)
	return places
}

// hasLongLabel reports whether a label contains a digest, which the API server refuses.
func hasLongLabel(leaves map[string]string) bool {
	for place, text := range leaves {
		if strings.Contains(place, "/labels/") && strings.Contains(text, testDigest) {
			return true
		}
	}
	return false
}

func setValue(values map[string]any, path []string, text string) {
	for _, key := range path[:len(path)-1] {
		below, ok := values[key].(map[string]any)
		if !ok {
			below = map[string]any{}
			values[key] = below
		}
		values = below
	}
	values[path[len(path)-1]] = text
}

// CloneValues returns a copy of values in which maps can be changed. The copy of nil is empty.
func CloneValues(values map[string]any) map[string]any {
	clone := maps.Clone(values)
	if clone == nil {
		clone = map[string]any{}
	}
	for key, v := range clone {
		if below, ok := v.(map[string]any); ok {
			clone[key] = CloneValues(below)
		}
	}
	return clone
}

// leavesOf returns the texts in objects by their places, which begin with the object.
func leavesOf(objects []RenderedObject) map[string]string {
	leaves := map[string]string{}
	seen := map[string]int{}
	for _, o := range objects {
		id := strings.Join([]string{o.text("apiVersion"), o.text("kind"), o.text("metadata", "namespace"), o.text("metadata", "name")}, "|")
		seen[id]++
		addLeaves(leaves, id+"#"+strconv.Itoa(seen[id]), o.Object)
	}
	return leaves
}

func addLeaves(leaves map[string]string, place string, v any) {
	switch v := v.(type) {
	case string:
		leaves[place] = v
	case map[string]any:
		for key, below := range v {
			addLeaves(leaves, place+"/"+key, below)
		}
	case []any:
		for i, below := range v {
			addLeaves(leaves, place+"/"+strconv.Itoa(i), below)
		}
	}
}
