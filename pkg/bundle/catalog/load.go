package catalog

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	"github.com/joelanford/ignore"
	"github.com/operator-framework/operator-registry/alpha/declcfg"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/manifest"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

// A Catalog is a directory of file-based catalogs with the position of its content.
type Catalog struct {
	dir   string
	files []*file
	// blobs are in the order of the files and their documents.
	blobs []*blob
}

// A file is one file of a catalog.
type file struct {
	name string // relative to the catalog directory
	data []byte
	json bool
}

// A blob is one document of a catalog. At most one of pkg, channel, bundle and deprecations is set, none for other
// schemas.
type blob struct {
	manifest.Document
	file *file
	// start and end delimit the document in the file; both are 0 for a new one.
	start, end int

	meta         *declcfg.Meta
	pkg          *declcfg.Package
	channel      *declcfg.Channel
	bundle       *declcfg.Bundle
	deprecations *declcfg.Deprecation
	// origin maps the names of channel entries to the positions of their CSVs.
	origin map[string]diag.Position
	// locator is set by the first finding: a catalog may have thousands of documents.
	locator func(path ...string) diag.Position
	// changed reports whether Data differs from the file.
	changed bool
}

// Locate returns the position of a field like manifest.Document.Locate.
func (b *blob) Locate(path ...string) diag.Position {
	if b.locator == nil {
		b.locator = b.Locator()
	}
	return b.locator(path...)
}

// maxFile is the maximum size of a file in bytes. Catalogs of hundreds of operators have a file for each operator;
// safeyaml limits each document of it.
const maxFile = 128 << 20

// maxBlobs is the maximum number of documents in a catalog. The largest public catalogs have some ten thousand.
const maxBlobs = 200_000

// ignoreFile lists the files of the directory that are not part of the catalog.
const ignoreFile = ".indexignore"

// Load reads a catalog like opm: every file that .indexignore does not exclude. dir is the directory in messages. If it
// does not exist, the catalog is empty.
func Load(fsys fs.FS, dir string) (*Catalog, diag.Findings) {
	c := &Catalog{dir: dir}
	var problems diag.Findings
	at := func(name string) diag.Position { return diag.Position{File: path.Join(dir, name)} }
	if _, err := fs.Stat(fsys, "."); errors.Is(err, fs.ErrNotExist) {
		return c, nil
	}
	matcher, err := ignore.NewMatcher(fsys, ignoreFile)
	if err != nil {
		return c, diag.Findings{{Position: at(ignoreFile), Problem: diag.Cause(err).Error()}}
	}
	err = fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil {
			problems = append(problems, diag.Finding{Position: at(name), Problem: "cannot be read: " + diag.Cause(err).Error()})
			return nil
		}
		if d.IsDir() || d.Name() == ignoreFile || matcher.Match(name, false) {
			return nil
		}
		if info, err := fs.Stat(fsys, name); err == nil && !info.Mode().IsRegular() {
			problems = append(problems, diag.Finding{Position: at(name), Problem: "is not a regular file; list it in " + ignoreFile + ", or remove it from the catalog"})
			return nil
		}
		data, err := safeyaml.ReadFile(fsys, name, maxFile)
		if bound, ok := errors.AsType[*safeyaml.Error](err); ok {
			problems = append(problems, manifest.Unbounded(at(name).File, bound))
			return nil
		}
		if err != nil {
			problems = append(problems, diag.Finding{Position: at(name), Problem: "cannot be read: " + diag.Cause(err).Error()})
			return nil
		}
		problems = append(problems, c.read(name, data)...)
		return nil
	})
	if err != nil {
		problems = append(problems, diag.Finding{Position: at(""), Problem: diag.Cause(err).Error()})
	}
	return c, problems
}

// read adds the documents of one file.
func (c *Catalog) read(name string, data []byte) diag.Findings {
	f := &file{name: name, data: data, json: bytes.HasPrefix(bytes.TrimSpace(data), []byte("{"))}
	c.files = append(c.files, f)
	shown := path.Join(c.dir, name)
	if bytes.IndexByte(data, 0) >= 0 {
		return diag.Findings{{Position: diag.Position{File: shown}, Problem: "contains binary data; list it in " + ignoreFile + ", or remove it from the catalog"}}
	}
	var (
		docs     []manifest.Document
		problems diag.Findings
	)
	if f.json {
		docs, problems = splitJSON(shown, data)
	} else {
		docs = manifest.Split(shown, data)
	}
	end, line := 0, 1 // of the previous document
	for _, doc := range docs {
		if len(c.blobs)+len(problems) == maxBlobs {
			return append(problems, diag.Finding{Position: doc.Position, Problem: fmt.Sprintf("exceeds the limit of %d documents; split the catalog", maxBlobs)})
		}
		start := offset(data, doc, end, line)
		end, line = start+len(doc.Data), doc.Line+bytes.Count(doc.Data, []byte("\n"))
		b, problem := parse(doc)
		if problem != nil {
			problems = append(problems, *problem)
			continue
		}
		b.file = f
		b.start, b.end = start, end
		c.blobs = append(c.blobs, b)
	}
	return problems
}

// offset returns the start of a document in its file, searching from a position on a line.
func offset(data []byte, doc manifest.Document, at, line int) int {
	for ; line < doc.Line; line++ {
		at += bytes.IndexByte(data[at:], '\n') + 1
	}
	return at + bytes.Index(data[at:], doc.Data)
}

// splitJSON splits a stream of JSON objects.
func splitJSON(file string, data []byte) ([]manifest.Document, diag.Findings) {
	var docs []manifest.Document
	decoder := json.NewDecoder(bytes.NewReader(data))
	counted, lines := 0, 1 // the line of the offset counted
	line := func(at int) int {
		if at > counted {
			lines += bytes.Count(data[counted:at], []byte("\n"))
			counted = at
		}
		return lines
	}
	for decoder.More() {
		var raw json.RawMessage
		if err := decoder.Decode(&raw); err != nil {
			end := int(decoder.InputOffset())
			if syntax, ok := errors.AsType[*json.SyntaxError](err); ok {
				end = min(int(syntax.Offset), len(data))
			}
			return docs, diag.Findings{{Position: diag.Position{File: file, Line: line(end)}, Problem: "is not valid JSON: " + err.Error()}}
		}
		start := int(decoder.InputOffset()) - len(raw)
		docs = append(docs, manifest.Document{Position: diag.Position{File: file, Line: line(start)}, Data: raw})
	}
	return docs, nil
}

// parse decodes one document.
func parse(doc manifest.Document) (*blob, *diag.Finding) {
	wrong := func(at diag.Position, text string) (*blob, *diag.Finding) {
		return nil, &diag.Finding{Position: at, Problem: text}
	}
	asJSON, err := safeyaml.ToJSON(doc.Data)
	if err != nil {
		_, problems := manifest.Decode(doc.File, doc.Data)
		if len(problems) > 0 { // with the line
			problems[0].Line += doc.Line - 1
			return nil, &problems[0]
		}
		return wrong(doc.Position, plainError(err))
	}
	var meta declcfg.Meta
	if !bytes.HasPrefix(asJSON, []byte("{")) {
		return wrong(doc.Position, "is not a catalog blob; list the file in "+ignoreFile+", or remove it from the catalog")
	}
	var fields map[string]any
	if err := json.Unmarshal(asJSON, &fields); err != nil {
		return wrong(doc.Position, plainError(err))
	}
	for _, key := range []string{"schema", "package", "name"} {
		if _, ok := fields[key].(string); !ok && fields[key] != nil {
			return wrong(doc.Locate(key), key+" of the blob must be a string")
		}
	}
	if err := meta.UnmarshalJSON(asJSON); err != nil {
		return wrong(doc.Position, err.Error())
	}
	if meta.Schema == "" {
		return wrong(doc.Position, "has no schema, such as olm.package, olm.channel or olm.bundle; list other files in "+ignoreFile)
	}
	config, err := declcfg.LoadSlice([]*declcfg.Meta{&meta})
	if err != nil {
		if typed, ok := typeError(&meta); ok {
			return wrong(doc.Locate(strings.Split(typed.Field, ".")...), fmt.Sprintf("%s of the %s must be %s, not %s", typed.Field, meta.Schema, typed.Type, typed.Value))
		}
		return wrong(doc.Position, err.Error())
	}
	b := &blob{Document: doc, meta: &meta}
	switch {
	case len(config.Packages) > 0:
		b.pkg = &config.Packages[0]
	case len(config.Channels) > 0:
		b.channel = &config.Channels[0]
	case len(config.Bundles) > 0:
		b.bundle = &config.Bundles[0]
	case len(config.Deprecations) > 0:
		b.deprecations = &config.Deprecations[0]
	}
	return b, nil
}

// typeError returns the field of the wrong type; the error of declcfg is only text.
func typeError(meta *declcfg.Meta) (*json.UnmarshalTypeError, bool) {
	var target any
	switch meta.Schema {
	case declcfg.SchemaPackage:
		target = &declcfg.Package{}
	case declcfg.SchemaChannel:
		target = &declcfg.Channel{}
	case declcfg.SchemaBundle:
		target = &declcfg.Bundle{}
	case declcfg.SchemaDeprecation:
		target = &declcfg.Deprecation{}
	}
	return errors.AsType[*json.UnmarshalTypeError](json.Unmarshal(meta.Blob, target))
}

// Empty reports whether the catalog has no content.
func (c *Catalog) Empty() bool { return len(c.blobs) == 0 }

// config returns the catalog as the type of operator-registry.
func (c *Catalog) config() declcfg.DeclarativeConfig {
	var config declcfg.DeclarativeConfig
	for _, b := range c.blobs {
		switch {
		case b.pkg != nil:
			config.Packages = append(config.Packages, *b.pkg)
		case b.channel != nil:
			config.Channels = append(config.Channels, *b.channel)
		case b.bundle != nil:
			config.Bundles = append(config.Bundles, *b.bundle)
		case b.deprecations != nil:
			config.Deprecations = append(config.Deprecations, *b.deprecations)
		default:
			config.Others = append(config.Others, *b.meta)
		}
	}
	return config
}
