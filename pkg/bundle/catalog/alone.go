package catalog

import (
	"context"
	"fmt"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	"github.com/operator-framework/operator-registry/alpha/declcfg"
)

// Alone is a catalog of this bundle alone, in one channel, as YAML. Replaces is the version that the
// bundle upgrades from, and empty for none: what the CSV says of other versions does not count, because
// they are not there. The image may be empty: the catalog then holds all manifests, and nobody pulls
// the bundle.
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

// InstallModes are those that the CSV supports: OwnNamespace, SingleNamespace, MultiNamespace, AllNamespaces.
func (s *Source) InstallModes() []string {
	var modes []string
	for _, mode := range s.typed.Spec.InstallModes {
		if mode.Supported {
			modes = append(modes, string(mode.Type))
		}
	}
	return modes
}

// Converts tells that the CSV has conversion webhooks, which OLM takes of operators for all namespaces only.
func (s *Source) Converts() bool {
	for _, webhook := range s.typed.Spec.WebhookDefinitions {
		if webhook.Type == v1alpha1.ConversionWebhook {
			return true
		}
	}
	return false
}
