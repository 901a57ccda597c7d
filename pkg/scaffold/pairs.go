package scaffold

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/worktree"
	"github.com/operon-sdk/operon/templates"
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
	add := func(event string, was, is Data) error {
		pairs, err := renderPair(event, was, is)
		all = append(all, pairs...)
		return err
	}
	for _, event := range []string{"init", sharedEvent} {
		if err := add(event, old.Init, now.Init); err != nil {
			return nil, err
		}
	}
	for i, was := range old.APIs {
		is, err := adaptPair(tree, &was, now.APIs[i])
		if err != nil {
			return nil, err
		}
		var events []string
		if was.Resource.API {
			events = append(events, "api")
		}
		if was.Resource.Controller {
			events = append(events, "controller")
		}
		if was.Image.Ref != "" {
			for _, event := range events {
				events = append(events, event+"-image")
			}
		}
		for _, event := range events {
			if err := add(event, was, is); err != nil {
				return nil, err
			}
		}
	}
	for i, w := range old.Webhooks {
		is, err := adaptPair(tree, &w.Data, now.Webhooks[i].Data)
		if err != nil {
			return nil, err
		}
		was := w.Data
		for _, event := range webhookEvents(was) {
			if err := add(event, was, is); err != nil {
				return nil, err
			}
		}
		if was.Webhook.Conversion && (was.Webhook.Defaulting || was.Webhook.Validation) {
			// Conversion may have been created before.
			first, then := was, is
			first.Webhook.Defaulting, first.Webhook.Validation = false, false
			then.Webhook.Defaulting, then.Webhook.Validation = false, false
			if err := add("webhook", first, then); err != nil {
				return nil, err
			}
		}
		for j, spoke := range w.Spokes {
			was.Spoke, is.Spoke = spoke, now.Webhooks[i].Spokes[j]
			// Names of fields are not names of kinds. If the types cannot be read, the conversion counts as edited.
			was.Spoke.Fields, _ = spokeFields(tree, was)
			is.Spoke.Fields = was.Spoke.Fields
			if err := add("spoke", was, is); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// adaptPair adapts both to the project, in which the files with the new names do not exist yet.
func adaptPair(tree *worktree.Tree, was *Data, is Data) (Data, error) {
	usual := was.Image.EnvVar
	if err := adapt(tree, was); err != nil {
		return is, err
	}
	p, q := &is.Project, was.Project
	p.LegacyConditions, p.LegacyEvents, p.LegacyWebhooks = q.LegacyConditions, q.LegacyEvents, q.LegacyWebhooks
	p.Paths, p.LegacyManifest, p.CRDs = q.Paths, q.LegacyManifest, q.CRDs
	is.Resource.LegacySchemeBuilder = was.Resource.LegacySchemeBuilder
	is.Resource.ControllerSuite, is.Resource.WebhookSuite = was.Resource.ControllerSuite, was.Resource.WebhookSuite
	is.Resource.SSA, is.Resource.SSAPackage = was.Resource.SSA, was.Resource.SSAPackage
	if was.Image.EnvVar != usual {
		is.Image.EnvVar = was.Image.EnvVar // a name that the user chose is kept
	}
	return is, nil
}

// renderPair renders an event for both.
func renderPair(event string, was, is Data) ([]RenderedPair, error) {
	before, err := Render(event, was)
	if err != nil {
		return nil, err
	}
	after, err := Render(event, is)
	if err != nil {
		return nil, err
	}
	var pairs []RenderedPair
	root := "go/" + event
	err = fs.WalkDir(templates.FS, root, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := strings.TrimPrefix(p, root+"/")
		if into, ok := strings.CutSuffix(name, insertSuffix); ok {
			from, to := outputPath(into, was), outputPath(into, is)
			for _, marker := range slices.Sorted(maps.Keys(before.Inserts[from])) {
				pairs = append(pairs, RenderedPair{From: from, To: to, Old: before.Inserts[from][marker], New: after.Inserts[to][marker], Part: true})
			}
			return nil
		}
		name = strings.TrimSuffix(name, templateSuffix)
		from, to := outputPath(name, was), outputPath(name, is)
		pairs = append(pairs, RenderedPair{From: from, To: to, Old: string(before.Files[from]), New: string(after.Files[to])})
		return nil
	})
	return pairs, err
}
