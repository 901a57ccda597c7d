package helmchart

import (
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/operon-sdk/operon/pkg/lazyregexp"
)

// An imageForm is a way to set an image: the parts of a reference by the names of values.
type imageForm map[string]imagePart

// An imagePart is a part of a reference to an image, as a function and as a template of override values for a variable.
type imagePart struct {
	of       func(ref string) string
	template string
}

// The parts of a reference with a tag or a digest. The name of one with a digest ends with @sha256, and its tag is the hash: joined with
// a colon, as most charts do, they are the reference.
var (
	wholeImage   = imagePart{func(ref string) string { return ref }, `${%s}`}
	imageTag     = imagePart{func(ref string) string { return ref[strings.LastIndex(ref, ":")+1:] }, `{{ "${%s}" | splitList ":" | last }}`}
	imageName    = imagePart{nameOfImage, `{{ "${%s}" | splitList ":" | initial | join ":" }}`}
	registryPart = imagePart{func(ref string) string { host, _, _ := strings.Cut(ref, "/"); return host }, `{{ "${%s}" | splitList "/" | first }}`}
	nothing      = imagePart{func(string) string { return "" }, ""}
	pathPart     = imagePart{
		func(ref string) string { _, path, _ := strings.Cut(nameOfImage(ref), "/"); return path },
		`{{ "${%s}" | splitList ":" | initial | join ":" | splitList "/" | rest | join "/" }}`,
	}
)

func nameOfImage(ref string) string { return ref[:max(strings.LastIndex(ref, ":"), 0)] }

// imageForms returns the forms that may set the image of a value, the most common one first.
func imageForms(name string, v *value) []imageForm {
	if v.kind == stringValue || v.kind == nullValue {
		if lower := strings.ToLower(name); strings.HasSuffix(lower, "image") {
			return []imageForm{{"": wholeImage}}
		}
		return nil
	}
	if v.kind != mapValue {
		return nil
	}
	var forms []imageForm
	for _, key := range []string{"repository", "repo", "name", "image"} {
		if f := v.fields[key]; f == nil || f.kind != stringValue {
			continue
		}
		if v.fields["tag"] == nil {
			if key != "image" { // which is a value with an image itself
				forms = append(forms, imageForm{key: wholeImage})
			}
			continue
		}
		if v.fields["registry"] != nil {
			forms = append(forms, imageForm{"registry": registryPart, key: pathPart, "tag": imageTag}, imageForm{"registry": nothing, key: imageName, "tag": imageTag})
		}
		forms = append(forms, imageForm{key: imageName, "tag": imageTag})
	}
	for _, form := range forms {
		for _, pinned := range []string{"digest", "sha"} { // they would take precedence
			if v.fields[pinned] != nil {
				form[pinned] = nothing
			}
		}
	}
	return forms
}

// result returns the images that were found, and the other images of containers.
func (s *imageSearch) result(chart string) (images []Image, left []string) {
	covered, names := map[string]bool{}, map[string]bool{}
	for _, c := range s.candidates {
		if c.found == nil {
			continue
		}
		image := Image{Path: strings.Join(c.path, "."), Default: s.leaves[c.places[0]], Overrides: map[string]string{}}
		if _, value, ok := strings.Cut(image.Default, "="); ok {
			image.Default = value
		}
		if !isPinned(image.Default) {
			continue
		}
		image.Variable = variableOf(chart, c.path)
		for n := 2; names[image.Variable]; n++ {
			image.Variable = variableOf(chart, c.path) + "_" + strconv.Itoa(n)
		}
		names[image.Variable] = true
		for part, p := range c.found {
			text := p.template
			if text != "" {
				text = fmt.Sprintf(text, image.Variable)
			}
			image.Overrides[setPath(c.key(part))] = text
		}
		for _, place := range c.places {
			covered[place] = true
		}
		images = append(images, image)
	}
	for _, place := range slices.Sorted(maps.Keys(s.leaves)) {
		if containerImage.MatchString(place) && !covered[place] && !slices.Contains(left, s.leaves[place]) {
			left = append(left, s.leaves[place])
		}
	}
	return images, left
}

var containerImage = lazyregexp.New(`/(containers|initContainers)/\d+/image$`)

// isPinned reports whether a reference has a tag or a digest.
func isPinned(ref string) bool { return strings.Contains(ref[strings.LastIndex(ref, "/")+1:], ":") }

var notInVariable = lazyregexp.New(`[^A-Z0-9]+`)

// variableOf returns the environment variable for an image: without "image" at the end of its path.
func variableOf(chart string, path []string) string {
	words := append([]string{chart}, path...)
	if strings.EqualFold(words[len(words)-1], "image") {
		words = words[:len(words)-1]
	}
	return RelatedPrefix + notInVariable.ReplaceAllString(strings.ToUpper(strings.Join(words, "_")), "_")
}

// setPath returns a path in the syntax of Helm's --set.
func setPath(path []string) string {
	escaped := make([]string, len(path))
	for i, key := range path {
		escaped[i] = strings.ReplaceAll(key, ".", `\.`)
	}
	return strings.Join(escaped, ".")
}
