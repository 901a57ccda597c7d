package catalog

import (
	"context"
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

// Alone returns a YAML catalog with only this bundle, in one channel. replaces is the version that the bundle upgrades from,
// "" for none; other upgrade edges of the CSV are dropped, because their versions are not in the catalog. An empty image
// is for catalogs whose bundle is never pulled: the catalog then holds all manifests.
func (s *Source) Alone(ctx context.Context, image, channel, replaces string) ([]byte, error) {
	if err := s.SetImage(image, image == ""); err != nil {
		return nil, err
	}
	alone := *s
	alone.entry = declcfg.ChannelEntry{Name: s.Name, Replaces: replaces}
	c := &Catalog{dir: "the catalog"}
	added, err := c.Add(ctx, []*Source{&alone}, Options{Channels: []string{channel}, DefaultChannel: channel, Template: Basic, Format: YAML})
	if err != nil {
		return nil, err
	}
	if len(added.Files) != 1 {
		return nil, fmt.Errorf("the catalog of one bundle has %d files", len(added.Files))
	}
	for _, content := range added.Files {
		return content, nil
	}
	return nil, nil
}

// InstallModes returns the supported install modes of the CSV: OwnNamespace, SingleNamespace, MultiNamespace,
// AllNamespaces.
func (s *Source) InstallModes() []string {
	var modes []string
	for _, mode := range s.typed.Spec.InstallModes {
		if mode.Supported {
			modes = append(modes, string(mode.Type))
		}
	}
	return modes
}

// HasConversion reports whether the CSV has conversion webhooks, which OLM accepts only for the install mode
// AllNamespaces.
func (s *Source) HasConversion() bool {
	for _, webhook := range s.typed.Spec.WebhookDefinitions {
		if webhook.Type == v1alpha1.ConversionWebhook {
			return true
		}
	}
	return false
}
