package codegen

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"path/filepath"
	"regexp"
	"strings"

	"sigs.k8s.io/controller-tools/pkg/applyconfiguration"
	"sigs.k8s.io/controller-tools/pkg/crd"
	"sigs.k8s.io/controller-tools/pkg/deepcopy"
	"sigs.k8s.io/controller-tools/pkg/rbac"
	"sigs.k8s.io/controller-tools/pkg/schemapatcher"
	"sigs.k8s.io/controller-tools/pkg/webhook"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/filecache"
)

// prepare reads the header of a task, replaces the year in it, and sets the key of the task. The generator then has no file
// to read.
func (g *generation) prepare(t *task) (warnings diag.Findings, err error) {
	var year string
	readHeader := func(file, yearOption *string) {
		name := *file
		year, *yearOption = *yearOption, ""
		if name == "" {
			return
		}
		name = g.relative(t.call.path(name))
		t.header, err = g.project.read(name)
		if errors.Is(err, fs.ErrNotExist) {
			if *file, err = "", nil; t.call.Source.File != "" {
				warnings = append(warnings, t.warning("header file %s not found; %s is generated without a header", name, t.name))
			}
		} else if err != nil {
			err = fmt.Errorf("reading %s: %w", name, diag.Cause(err))
		}
	}
	switch generator := t.generator.(type) {
	case deepcopy.Generator:
		readHeader(&generator.HeaderFile, &generator.Year)
		// A byte order mark is valid only at the start of a file.
		t.header = bytes.TrimPrefix(t.header, []byte("\uFEFF"))
		t.generator = generator
	case crd.Generator:
		readHeader(&generator.HeaderFile, &generator.Year)
		t.generator = generator
	case rbac.Generator:
		readHeader(&generator.HeaderFile, &generator.Year)
		t.generator = generator
	case webhook.Generator:
		readHeader(&generator.HeaderFile, &generator.Year)
		t.generator = generator
	case applyconfiguration.Generator:
		current := CurrentYear // it always replaces YEAR by the current year
		readHeader(&generator.HeaderFile, &current)
		t.generator = generator
	case schemapatcher.Generator:
		generator.ManifestsPath = g.project.abs(t.call.path(generator.ManifestsPath))
		t.generator = generator
	}
	if err != nil {
		return nil, err
	}
	if year == CurrentYear {
		if year = g.currentYear(t); year == "" {
			t.header = bytes.ReplaceAll(t.header, []byte(" YEAR"), nil)
		}
	}
	t.header = bytes.ReplaceAll(t.header, []byte(" YEAR"), []byte(" "+year))
	options, err := json.Marshal(t.generator)
	if err != nil {
		return nil, err
	}
	t.key = fmt.Appendf(nil, "%s %s %q %q %s", t.name, options, t.config, t.code, t.header)
	if patcher, ok := t.generator.(schemapatcher.Generator); ok {
		sum := g.manifestsDigest(patcher.ManifestsPath)
		t.key = append(t.key, sum[:]...)
	}
	return warnings, nil
}

// manifestsDigest returns the digest of the files in an absolute directory.
func (g *generation) manifestsDigest(dir string) filecache.Digest {
	var parts [][]byte
	if rel, err := filepath.Rel(g.opts.Root, dir); err == nil {
		names, _ := g.project.list(filepath.ToSlash(rel))
		for _, name := range names {
			data, _ := g.project.read(path.Join(filepath.ToSlash(rel), name))
			parts = append(parts, []byte(name), data)
		}
	}
	return filecache.DigestOf(parts...)
}

// currentYear returns Options.Year, or the latest year in the header of a task in the project's files, or "".
func (g *generation) currentYear(t *task) string {
	before, after, ok := strings.Cut(strings.TrimSpace(string(t.header)), " YEAR")
	if g.opts.Year != "" || !ok {
		return g.opts.Year
	}
	after, _, _ = strings.Cut(after, " YEAR")
	pattern := regexp.MustCompile(regexp.QuoteMeta(before) + ` (\d{4})` + regexp.QuoteMeta(after))
	latest := ""
	search := func(data []byte) {
		if m := pattern.FindSubmatch(data); m != nil {
			latest = max(latest, string(m[1]))
		}
	}
	generated := []string{path.Join(t.config, "role.yaml"), path.Join(t.config, "manifests.yaml")}
	for _, p := range t.packages {
		generated = append(generated, path.Join(p.dir, "zz_generated.deepcopy.go"))
	}
	if names, err := g.project.list(t.config); err == nil && t.kind == CRD {
		for _, name := range names {
			generated = append(generated, path.Join(t.config, name))
		}
	}
	for _, name := range generated {
		if data, err := g.project.read(name); err == nil {
			search(data)
		}
	}
	if latest != "" {
		return latest
	}
	for _, p := range g.project.packages {
		for _, file := range p.files {
			search(file.content)
		}
	}
	return latest
}

// Header returns the header of new Go files in the project, the same as for DeepCopy methods, and its file,
// slash-separated and relative to opts.Root. YEAR is replaced by the year of the call, or else the current one. Both are
// empty if the calls name no file that exists.
func Header(opts Options) (text, file string, err error) {
	tasks, err := tasksOf(opts.Calls)
	if err != nil {
		return "", "", err
	}
	g := &generation{opts: opts, project: &project{root: opts.Root, overlay: opts.Overlay}}
	for _, t := range tasks {
		generator, ok := t.generator.(deepcopy.Generator)
		if !ok || generator.HeaderFile == "" {
			continue
		}
		if generator.Year == "" {
			generator.Year = CurrentYear
		}
		t.generator = generator
		name := g.relative(t.call.path(generator.HeaderFile))
		if data, _ := g.project.read(name); bytes.Contains(data, []byte(" YEAR")) {
			if g, err = newGeneration(opts); err != nil {
				return "", "", err
			}
			_ = g.selectPackages(t)
		}
		if missing, err := g.prepare(t); err != nil || len(missing) == 0 {
			return string(t.header), name, err
		}
	}
	return "", "", nil
}
