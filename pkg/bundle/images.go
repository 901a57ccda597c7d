package bundle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"
)

// relatedPrefix begins the names of variables that hold images the operator runs.
const relatedPrefix = "RELATED_IMAGE_"

// applyRelatedImages lists the images of RELATED_IMAGE_ variables in the CSV. What the base lists
// besides stays.
func (c *collection) applyRelatedImages(csv *v1alpha1.ClusterServiceVersion) {
	found := c.relatedImages()
	for _, image := range csv.Spec.RelatedImages {
		if !slices.ContainsFunc(found, func(r v1alpha1.RelatedImage) bool {
			return r.Image == image.Image || r.Name == image.Name && r.Name != ""
		}) {
			found = append(found, image)
		}
	}
	csv.Spec.RelatedImages = found
}

// related is an image that a container names in a variable.
type related struct{ name, image, container string }

// relatedImages lists the images of RELATED_IMAGE_ variables in the order of the input: each image
// once, under the variable's name, with the container's before it where a name stands for two images.
func (c *collection) relatedImages() []v1alpha1.RelatedImage {
	all := c.relatedVariables()
	images, names := map[string][]string{}, map[string]int{}
	for _, r := range all {
		images[r.image] = append(images[r.image], r.name)
		names[r.name]++
	}
	var list []v1alpha1.RelatedImage
	for _, r := range all {
		if images[r.image][0] != r.name {
			continue
		}
		if others := images[r.image][1:]; len(others) > 0 {
			c.note(Note{
				Subject: "image " + r.image,
				Reason:  fmt.Sprintf("is named %s and %s by RELATED_IMAGE_ variables; it is listed once, as %s", r.name, strings.Join(others, ", "), r.name),
				Advice:  "use one name for it",
			})
		}
		name := r.name
		if names[name] > 1 {
			name = r.container + "-" + name
		}
		list = append(list, v1alpha1.RelatedImage{Name: name, Image: r.image})
	}
	return list
}

// relatedVariables finds the variables, a name with the same image once.
func (c *collection) relatedVariables() []related {
	var all []related
	seen := map[string]bool{}
	for _, d := range c.deployments {
		pod := d.value.Spec.Template.Spec
		containers := slices.Concat(pod.Containers, pod.InitContainers)
		for _, container := range containers {
			where := d.Name()
			if len(containers) > 1 {
				where += "-" + container.Name
			}
			for _, env := range container.Env {
				suffix, ok := strings.CutPrefix(env.Name, relatedPrefix)
				if !ok {
					continue
				}
				if env.ValueFrom != nil {
					c.problem(d.Position, "%s, container %s: %s must have a value: an image that comes from a reference is not known when the bundle is made", d, container.Name, env.Name)
					continue
				}
				r := related{strings.ToLower(strings.ReplaceAll(suffix, "_", "-")), env.Value, where}
				if key := r.name + "\x00" + r.image; !seen[key] {
					seen[key] = true
					all = append(all, r)
				}
			}
		}
	}
	return all
}

// envOf finds a variable by name.
func envOf(env []corev1.EnvVar, name string) int {
	return slices.IndexFunc(env, func(e corev1.EnvVar) bool { return e.Name == name })
}
