package catalog

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/operator-framework/operator-registry/alpha/declcfg"
	"github.com/operator-framework/operator-registry/alpha/property"
	"github.com/operator-framework/operator-registry/pkg/registry"
)

// SetImage sets the image of the bundle and renders its blob like opm render: with the CSV's metadata or, if objects is
// set, with all of its manifests for OLM versions that do not support the metadata.
func (s *Source) SetImage(image string, objects bool) error {
	s.registry.BundleImage = image
	manifests, props, err := registry.ObjectsAndPropertiesFromBundle(s.registry)
	if err != nil {
		return fmt.Errorf("%s: %w", s.csv.Position, err)
	}
	var first, last []property.Property
	for _, p := range props {
		switch {
		case p.Type != property.TypeBundleObject && p.Type != property.TypeCSVMetadata:
			first = append(first, p)
		case objects || p.Type == property.TypeCSVMetadata:
			last = append(last, p)
		}
	}
	if !objects && len(last) == 0 {
		last = append(last, property.MustBuildCSVMetadata(s.typed)) // the CSV was decoded from JSON, so it can be encoded
	}
	related, err := s.relatedImages(image)
	if err != nil {
		return err
	}
	s.bundle = declcfg.Bundle{
		Schema: declcfg.SchemaBundle, Name: s.Name, Package: s.Package, Image: image,
		Properties: append(first, last...), RelatedImages: related,
	}
	if objects {
		s.bundle.Objects = manifests // not encoded, but makes the image optional
	}
	return nil
}

// relatedImages returns the images that a mirror of the catalog needs, sorted: those listed in the CSV, the bundle image
// and the images of the Deployments.
func (s *Source) relatedImages(image string) ([]declcfg.RelatedImage, error) {
	var images []declcfg.RelatedImage
	add := func(name, ref string) {
		if ref != "" && !slices.ContainsFunc(images, func(i declcfg.RelatedImage) bool { return i.Image == ref }) {
			images = append(images, declcfg.RelatedImage{Name: name, Image: ref})
		}
	}
	for _, i := range s.typed.Spec.RelatedImages {
		images = append(images, declcfg.RelatedImage{Name: i.Name, Image: i.Image})
	}
	add("", image)
	csv, err := s.registry.ClusterServiceVersion()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.csv.Position, err)
	}
	operators, err := csv.GetOperatorImages()
	if err != nil {
		return nil, fmt.Errorf("%s: %w", s.csv.Position, err)
	}
	for _, ref := range slices.Sorted(maps.Keys(operators)) {
		add("", ref)
	}
	slices.SortStableFunc(images, func(a, b declcfg.RelatedImage) int { return strings.Compare(a.Image, b.Image) })
	return images, nil
}

// icon returns the CSV's first icon, nil if it has none.
func (s *Source) icon() *declcfg.Icon {
	csv, err := s.registry.ClusterServiceVersion()
	if err != nil {
		return nil
	}
	icons, err := csv.GetIcons()
	if err != nil || len(icons) == 0 || len(icons[0].Base64data) == 0 {
		return nil
	}
	return &declcfg.Icon{Data: icons[0].Base64data, MediaType: icons[0].MediaType}
}
