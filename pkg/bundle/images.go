package bundle

import (
	"fmt"
	"slices"
	"strings"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	corev1 "k8s.io/api/core/v1"

	"github.com/operon-sdk/operon/pkg/diag"
)

// relatedPrefix is the prefix of variables that hold images which the operator deploys.
const relatedPrefix = "RELATED_IMAGE_"

// applyRelatedImages writes the images of RELATED_IMAGE_ variables into the CSV and keeps the other related images of the
// base. With pinned images, it adds the images of all containers, so that a mirror of the bundle includes them.
func (c *collection) applyRelatedImages(csv *v1alpha1.ClusterServiceVersion, pinned bool) {
	found := c.relatedImages()
	if pinned {
		found = append(found, c.containerImages(found)...)
	}
	for _, image := range csv.Spec.RelatedImages {
		if !slices.ContainsFunc(found, func(r v1alpha1.RelatedImage) bool {
			return r.Image == image.Image || r.Name == image.Name && r.Name != ""
		}) {
			found = append(found, image)
		}
	}
	csv.Spec.RelatedImages = found
}

// A related is an image that a container names in a variable.
type related struct{ name, image, container string }

// relatedImages returns the images of RELATED_IMAGE_ variables in input order. Each image is listed once under its
// variable's name; if the name has two images, the container name is its prefix.
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
			c.note(diag.Finding{
				Object:  "image " + r.image,
				Problem: fmt.Sprintf("has the RELATED_IMAGE_ names %s and %s; it is listed once, as %s", r.name, strings.Join(others, ", "), r.name),
				Fix:     "use one name for it",
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

// relatedVariables returns the variables without duplicates.
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
					c.problems.Addf(d.Position,
						"%s, container %s: %s must have a value; an image from a reference is unknown when the bundle is generated", d, container.Name, env.Name)
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

// containerImages returns the images of containers that are not listed yet, under the container's name; if the name is
// taken, the Deployment name is its prefix.
func (c *collection) containerImages(listed []v1alpha1.RelatedImage) []v1alpha1.RelatedImage {
	images, names := map[string]bool{}, map[string]bool{}
	for _, r := range listed {
		images[r.Image], names[r.Name] = true, true
	}
	var list []v1alpha1.RelatedImage
	for _, d := range c.deployments {
		pod := d.value.Spec.Template.Spec
		for _, container := range slices.Concat(pod.Containers, pod.InitContainers) {
			if images[container.Image] {
				continue
			}
			name := container.Name
			if names[name] {
				name = d.Name() + "-" + name
			}
			images[container.Image], names[name] = true, true
			list = append(list, v1alpha1.RelatedImage{Name: name, Image: container.Image})
		}
	}
	return list
}

// annotationImage is the annotation with the operator image that catalogs show.
const annotationImage = "containerImage"

// pin replaces the images of all containers, RELATED_IMAGE_ variables and the base by references with digests. Images that
// cannot be resolved are reported, with what asks for digests.
func (c *collection) pin(csv *v1alpha1.ClusterServiceVersion, by string, digest func(string) (string, error)) {
	known := map[string]string{}
	resolve := func(at diag.Position, ref *string) {
		if *ref == "" {
			return
		}
		pinned, ok := known[*ref]
		if !ok {
			var err error
			if pinned, err = digest(*ref); err != nil {
				c.unavailable.Addf(at, "%s: %v", by, err)
				pinned = *ref // one problem for each image
			}
			known[*ref] = pinned
		}
		*ref = pinned
	}
	for i := range c.deployments {
		d := &c.deployments[i]
		pod := &d.value.Spec.Template.Spec
		for _, containers := range [][]corev1.Container{pod.Containers, pod.InitContainers} {
			for j := range containers {
				resolve(d.Position, &containers[j].Image)
				for k := range containers[j].Env {
					if env := &containers[j].Env[k]; strings.HasPrefix(env.Name, relatedPrefix) {
						resolve(d.Position, &env.Value)
					}
				}
			}
		}
	}
	base := diag.Position{File: "the base CSV"}
	for i := range csv.Spec.RelatedImages {
		resolve(base, &csv.Spec.RelatedImages[i].Image)
	}
	if ref := csv.Annotations[annotationImage]; ref != "" {
		resolve(base, &ref)
		csv.Annotations[annotationImage] = ref
	}
}
