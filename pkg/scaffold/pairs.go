package scaffold

import (
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/worktree"
)

// A RenderedPair is the output of one template for a project and for the same project with other names.
type RenderedPair struct {
	// From and To are the paths of the file before and after.
	From, To string
	// Old and New are its contents, or texts in it.
	Old, New string
	// Part reports whether they are texts at a marker instead of whole files.
	Part bool
}

// Commands are the commands that created a project with one set of names: init, create api and create webhook.
type Commands struct {
	Init     Data
	APIs     []Data
	Webhooks []Webhooks
}

// RenderPairs renders the output of commands with the old and with the new names. Both have the same commands in the
// same order.
func RenderPairs(tree *worktree.Tree, old, now Commands) ([]RenderedPair, error) {
	var all []RenderedPair
	add := func(event string, oldData, newData Data) error {
		pairs, err := renderPair(event, oldData, newData)
		all = append(all, pairs...)
		return err
	}
	for _, event := range []string{"init", sharedEvent, "grafana"} {
		if err := add(event, old.Init, now.Init); err != nil {
			return nil, err
		}
	}
	for i, oldData := range old.APIs {
		newData, err := adaptPair(tree, &oldData, now.APIs[i])
		if err != nil {
			return nil, err
		}
		for _, event := range apiEvents(oldData) {
			if err := add(event, oldData, newData); err != nil {
				return nil, err
			}
		}
	}
	for i, w := range old.Webhooks {
		newData, err := adaptPair(tree, &w.Data, now.Webhooks[i].Data)
		if err != nil {
			return nil, err
		}
		oldData := w.Data
		for _, event := range webhookEvents(oldData) {
			if err := add(event, oldData, newData); err != nil {
				return nil, err
			}
		}
		if oldData.Webhook.Conversion && (oldData.Webhook.Defaulting || oldData.Webhook.Validation) {
			// Conversion may have been created before.
			oldConversion, newConversion := oldData, newData
			oldConversion.Webhook.Defaulting, oldConversion.Webhook.Validation = false, false
			newConversion.Webhook.Defaulting, newConversion.Webhook.Validation = false, false
			if err := add("webhook", oldConversion, newConversion); err != nil {
				return nil, err
			}
		}
		for j, spoke := range w.Spokes {
			oldData.Spoke, newData.Spoke = spoke, now.Webhooks[i].Spokes[j]
			// Names of fields are not names of kinds. If the types cannot be read, the conversion counts as edited.
			oldData.Spoke.Fields, _ = spokeFields(tree, oldData)
			newData.Spoke.Fields = oldData.Spoke.Fields
			if err := add("spoke", oldData, newData); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// adaptPair adapts both to the project, in which the files with the new names do not exist yet.
func adaptPair(tree *worktree.Tree, oldData *Data, newData Data) (Data, error) {
	usual := oldData.Image.EnvVar
	if err := adapt(tree, oldData); err != nil {
		return newData, err
	}
	p, q := &newData.Project, oldData.Project
	p.LegacyConditions, p.LegacyEvents, p.LegacyWebhooks = q.LegacyConditions, q.LegacyEvents, q.LegacyWebhooks
	p.ShortWebhooks = q.ShortWebhooks
	p.Paths, p.LegacyManifest, p.CRDs = q.Paths, q.LegacyManifest, q.CRDs
	newData.Resource.LegacySchemeBuilder = oldData.Resource.LegacySchemeBuilder
	newData.Resource.ControllerSuite, newData.Resource.WebhookSuite = oldData.Resource.ControllerSuite, oldData.Resource.WebhookSuite
	newData.Resource.SSA, newData.Resource.SSAPackage = oldData.Resource.SSA, oldData.Resource.SSAPackage
	newData.Resource.SampleName = newData.Resource.sampleName(oldData.Resource.SampleName != oldData.Resource.sampleName(false))
	if oldData.Image.EnvVar != usual {
		newData.Image.EnvVar = oldData.Image.EnvVar // a name that the user chose is kept
	}
	return newData, nil
}

// renderPair renders an event for both.
func renderPair(event string, oldData, newData Data) ([]RenderedPair, error) {
	before, err := Render(event, oldData)
	if err != nil {
		return nil, err
	}
	after, err := Render(event, newData)
	if err != nil {
		return nil, err
	}
	var pairs []RenderedPair
	err = walkTemplates(event, oldData, func(_, name string) error {
		if into, ok := strings.CutSuffix(name, insertSuffix); ok {
			from, to := outputPath(into, oldData), outputPath(into, newData)
			for _, marker := range slices.Sorted(maps.Keys(before.Inserts[from])) {
				pairs = append(pairs, RenderedPair{From: from, To: to, Old: before.Inserts[from][marker], New: after.Inserts[to][marker], Part: true})
			}
			return nil
		}
		name = strings.TrimSuffix(name, templateSuffix)
		from, to := outputPath(name, oldData), outputPath(name, newData)
		pairs = append(pairs, RenderedPair{From: from, To: to, Old: string(before.Files[from]), New: string(after.Files[to])})
		return nil
	})
	return pairs, err
}
