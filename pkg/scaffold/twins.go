package scaffold

import (
	"io/fs"
	"maps"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/worktree"
	"github.com/operon-sdk/operon/templates"
)

// Twin is what one template gives for a project as it is, and for the same project by other names.
type Twin struct {
	// From and To are the paths of the file, before and after.
	From, To string
	// Was and Is are its contents, or texts in it.
	Was, Is string
	// Part tells that they are texts at a marker, not the whole file.
	Part bool
}

// Named are the commands that made a project, by one set of names: init, create api and create webhook.
type Named struct {
	Init     Data
	APIs     []Data
	Webhooks []Webhooks
}

// Twins renders everything that the commands of old write, and the same by the names of now, whose commands
// must be those of old in their order.
func Twins(tree *worktree.Tree, old, now Named) ([]Twin, error) {
	var all []Twin
	add := func(event string, was, is Data) error {
		twins, err := twinsOf(event, was, is)
		all = append(all, twins...)
		return err
	}
	for _, event := range []string{"init", sharedEvent} {
		if err := add(event, old.Init, now.Init); err != nil {
			return nil, err
		}
	}
	for i, was := range old.APIs {
		is, err := adaptBoth(tree, &was, now.APIs[i])
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
		is, err := adaptBoth(tree, &w.Data, now.Webhooks[i].Data)
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
			// Conversion may have come first.
			first, then := was, is
			first.Webhook.Defaulting, first.Webhook.Validation = false, false
			then.Webhook.Defaulting, then.Webhook.Validation = false, false
			if err := add("webhook", first, then); err != nil {
				return nil, err
			}
		}
		for j, spoke := range w.Spokes {
			was.Spoke, is.Spoke = spoke, now.Webhooks[i].Spokes[j]
			// Names of fields are no names of kinds. Types that cannot be read leave a conversion that looks edited.
			was.Spoke.Fields, _ = spokeFields(tree, was)
			is.Spoke.Fields = was.Spoke.Fields
			if err := add("spoke", was, is); err != nil {
				return nil, err
			}
		}
	}
	return all, nil
}

// adaptBoth makes both fit the project, in which the files of now do not exist yet.
func adaptBoth(tree *worktree.Tree, was *Data, is Data) (Data, error) {
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
		is.Image.EnvVar = was.Image.EnvVar // a name of the person's own stays
	}
	return is, nil
}

// twinsOf renders an event twice.
func twinsOf(event string, was, is Data) ([]Twin, error) {
	before, err := Render(event, was)
	if err != nil {
		return nil, err
	}
	after, err := Render(event, is)
	if err != nil {
		return nil, err
	}
	var twins []Twin
	root := "go/" + event
	err = fs.WalkDir(templates.FS, root, func(p string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name := strings.TrimPrefix(p, root+"/")
		if into, ok := strings.CutSuffix(name, insertSuffix); ok {
			from, to := outputPath(into, was), outputPath(into, is)
			for _, marker := range slices.Sorted(maps.Keys(before.Inserts[from])) {
				twins = append(twins, Twin{From: from, To: to, Was: before.Inserts[from][marker], Is: after.Inserts[to][marker], Part: true})
			}
			return nil
		}
		name = strings.TrimSuffix(name, templateSuffix)
		from, to := outputPath(name, was), outputPath(name, is)
		twins = append(twins, Twin{From: from, To: to, Was: string(before.Files[from]), Is: string(after.Files[to])})
		return nil
	})
	return twins, err
}
