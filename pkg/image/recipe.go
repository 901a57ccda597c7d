package image

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// Scratch is the empty base image.
const Scratch = "scratch"

// A Recipe describes an image to build.
type Recipe struct {
	// Base is the reference of the base image, or Scratch.
	Base string
	// Parts are the images for single platforms. The result of several is an index.
	Parts []Part
	// User, Dir, Entrypoint and Cmd configure the start of a container. Empty ones come from the base image.
	User, Dir       string
	Entrypoint, Cmd []string
	// KeepInit runs Entrypoint through the init program of the base if its entry point starts with one, such as tini.
	KeepInit bool
	// Env are variables, as KEY=VALUE. Precedence, highest first: Env, the base image, DefaultEnv.
	Env, DefaultEnv []string
	// Labels are added to the base image's labels.
	Labels map[string]string
	// Created is the time of creation that is recorded in the image.
	Created time.Time
	// Author is the program that builds the image, for its history.
	Author string
}

// A Part has the layers of an image for a platform.
type Part struct {
	// Platform is OS/ARCH or OS/ARCH/VARIANT, such as linux/arm64 or linux/arm/v7. Empty means all platforms of the base.
	Platform string
	Layers   []*Layer
}

// CheckPlatform returns an error unless text is a platform of containers.
func CheckPlatform(text string) error {
	if !regexp.MustCompile(`^[a-z0-9]+/[a-z0-9]+(/v[0-9]+)?$`).MatchString(text) {
		return errors.New("must be OS/ARCH or OS/ARCH/VARIANT, such as linux/amd64 or linux/arm/v7")
	}
	return nil
}

// GoVariables returns the environment variables that make the go command build a static program for a platform.
func GoVariables(platform string) []string {
	parts := strings.Split(platform, "/")
	variables := []string{"CGO_ENABLED=0", "GOOS=" + parts[0], "GOARCH=" + parts[1]}
	if len(parts) == 3 {
		switch variant := parts[2]; parts[1] {
		case "arm":
			variables = append(variables, "GOARM="+strings.TrimPrefix(variant, "v"))
		case "amd64":
			variables = append(variables, "GOAMD64="+variant)
		}
	}
	return variables
}

// Build builds an image. The same recipe with a base of the same digest results in the same digest.
func (o Options) Build(ctx context.Context, r Recipe) (*Image, error) {
	base := &Image{}
	if r.Base != Scratch {
		var err error
		if base, err = o.image(ctx, r.Base); err != nil {
			return nil, fmt.Errorf("the base: %w", err)
		}
	}
	parts := r.Parts
	if len(parts) == 1 && parts[0].Platform == "" {
		platforms, err := base.platforms()
		if err != nil {
			return nil, fmt.Errorf("the base: %w", err)
		}
		layers := parts[0].Layers
		parts = nil
		for _, p := range platforms {
			parts = append(parts, Part{p, layers})
		}
	}
	var images []mutate.IndexAddendum
	for _, part := range parts {
		platform, err := v1.ParsePlatform(part.Platform)
		if err != nil {
			return nil, err
		}
		img, err := r.image(base, part, platform)
		if err != nil {
			return nil, fmt.Errorf("the image for %s: %w", part.Platform, err)
		}
		images = append(images, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: platform}})
	}
	if len(images) == 1 {
		return &Image{single: images[0].Add.(v1.Image), explainError: base.explainError}, nil
	}
	return &Image{index: mutate.AppendManifests(mutate.IndexMediaType(empty.Index, types.OCIImageIndex), images...), explainError: base.explainError}, nil
}

// image builds the image for a platform.
func (r Recipe) image(base *Image, part Part, platform *v1.Platform) (v1.Image, error) {
	img := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	layerType := types.OCILayer
	labels := maps.Clone(r.Labels)
	if !base.isEmpty() {
		var err error
		if img, err = base.forPlatform(platform); err != nil {
			return nil, err
		}
		digest, err := img.Digest()
		if err != nil {
			return nil, base.explain(err)
		}
		labels["org.opencontainers.image.base.digest"] = digest.String()
		if IsReference(r.Base) {
			labels["org.opencontainers.image.base.name"] = r.Base
		}
		if media, err := img.MediaType(); err == nil && media == types.DockerManifestSchema2 {
			layerType = types.DockerLayer
		}
	}
	old, err := img.ConfigFile()
	if err != nil {
		return nil, base.explain(err)
	}
	created := v1.Time{Time: r.Created}
	config := old.DeepCopy()
	config.Architecture, config.OS, config.Variant = platform.Architecture, platform.OS, platform.Variant
	config.Created, config.Author = created, ""
	config.Config.Labels = withLabels(config.Config.Labels, labels)
	for _, set := range []struct {
		to    *string
		value string
	}{{&config.Config.User, r.User}, {&config.Config.WorkingDir, r.Dir}} {
		if set.value != "" {
			*set.to = set.value
		}
	}
	for _, variable := range r.Env {
		config.Config.Env = append(slices.DeleteFunc(config.Config.Env, sameKey(variable)), variable)
	}
	for _, variable := range r.DefaultEnv {
		if !slices.ContainsFunc(config.Config.Env, sameKey(variable)) {
			config.Config.Env = append(config.Config.Env, variable)
		}
	}
	if len(r.Entrypoint) > 0 {
		entrypoint := r.Entrypoint
		if r.KeepInit {
			entrypoint = slices.Concat(initProgram(config.Config.Entrypoint), entrypoint)
		}
		config.Config.Entrypoint, config.Config.Cmd = entrypoint, nil
	}
	if len(r.Cmd) > 0 {
		config.Config.Cmd = r.Cmd
	}
	if img, err = mutate.ConfigFile(img, config); err != nil {
		return nil, base.explain(err)
	}
	var added []mutate.Addendum
	for _, layer := range part.Layers {
		added = append(added, mutate.Addendum{Layer: typedLayer{layer, layerType}, MediaType: layerType,
			History: v1.History{Created: created, CreatedBy: r.Author, Comment: layer.comment}})
	}
	if img, err = mutate.Append(img, added...); err != nil {
		return nil, base.explain(err)
	}
	return img, nil
}

// sameKey returns a function that reports whether a variable has the key of another one, as KEY=VALUE.
func sameKey(variable string) func(string) bool {
	key, _, _ := strings.Cut(variable, "=")
	return func(other string) bool { return strings.HasPrefix(other, key+"=") }
}

// initProgram returns the arguments at the start of an entry point that run an init program: its path, its flags and "--".
func initProgram(entrypoint []string) []string {
	if len(entrypoint) == 0 || !slices.Contains([]string{"tini", "tini-static", "dumb-init", "catatonit"}, path.Base(entrypoint[0])) {
		return nil
	}
	if end := slices.Index(entrypoint, "--"); end >= 0 {
		return slices.Clone(entrypoint[:end+1])
	}
	return []string{entrypoint[0], "--"}
}

func withLabels(old, more map[string]string) map[string]string {
	all := map[string]string{}
	maps.Copy(all, old)
	maps.Copy(all, more)
	return all
}

// platforms returns the platforms of an image.
func (i *Image) platforms() ([]string, error) {
	if i.index == nil {
		if i.single == nil {
			return []string{"linux/amd64"}, nil
		}
		config, err := i.single.ConfigFile()
		if err != nil {
			return nil, i.explain(err)
		}
		return []string{config.Platform().String()}, nil
	}
	m, err := i.index.IndexManifest()
	if err != nil {
		return nil, i.explain(err)
	}
	var all []string
	for _, d := range imagesOf(m.Manifests) {
		if d.Platform != nil && !slices.Contains(all, d.Platform.String()) {
			all = append(all, d.Platform.String())
		}
	}
	if len(all) == 0 {
		return nil, errors.New("its index contains no platform")
	}
	return all, nil
}

func (i *Image) forPlatform(platform *v1.Platform) (v1.Image, error) {
	if i.index == nil {
		config, err := i.single.ConfigFile()
		if err != nil {
			return nil, i.explain(err)
		}
		if p := config.Platform(); p.OS != platform.OS || p.Architecture != platform.Architecture {
			return nil, fmt.Errorf("the base supports only %s; pass another one with --base, or leave out the platform", p)
		}
		return i.single, nil
	}
	m, err := i.index.IndexManifest()
	if err != nil {
		return nil, i.explain(err)
	}
	for _, exact := range []bool{true, false} {
		for _, d := range imagesOf(m.Manifests) {
			if p := d.Platform; p != nil && d.MediaType.IsImage() && p.OS == platform.OS && p.Architecture == platform.Architecture && (!exact || p.Variant == platform.Variant) {
				img, err := i.index.Image(d.Digest)
				if err != nil {
					return nil, i.explain(err)
				}
				return img, nil
			}
		}
	}
	platforms, _ := i.platforms()
	return nil, fmt.Errorf("the base supports only %s; pass another one with --base, or leave out the platform", strings.Join(platforms, ", "))
}
