package bundle

import (
	"path"
	"reflect"
	"slices"
	"strings"

	"github.com/operon-sdk/operon/pkg/diag"
)

// mergeMetadata merges annotations.yaml and the Dockerfile.
func (u *Update) mergeMetadata() error {
	annotations := path.Join(u.Dir, AnnotationsFile)
	for _, f := range []struct {
		name, template string
		dockerfile     bool
	}{{annotations, "annotations.yaml", false}, {DockerfileName, DockerfileName, true}} {
		parse := func(text []byte) (labelFile, error) {
			if f.dockerfile {
				return parseDockerfile(text), nil
			}
			return parseAnnotations(f.name, text)
		}
		if err := u.mergeLabels(f.name, f.template, u.Metadata.values(f.dockerfile), parse); err != nil {
			return err
		}
	}
	return nil
}

func (u *Update) mergeLabels(name, template string, now map[string]any, parse func([]byte) (labelFile, error)) error {
	plain, err := u.Metadata.render(template, now, nil)
	if err != nil {
		return err
	}
	u.generated[name], u.files[name] = string(plain), plain
	disk, ok, err := u.Read(name)
	if err != nil || !ok {
		return err
	}
	onDisk, err := parse(disk)
	if problems, ok := err.(diag.Findings); ok {
		u.problems = append(u.problems, problems...)
		return nil
	} else if err != nil {
		return err
	}
	var before any = missing{}
	if text, ok := u.Before[name]; ok {
		if parsed, err := parse([]byte(text)); err == nil {
			before = parsed.values
		}
	}
	builder, _ := onDisk.values[metricsBuilder].(string)
	from := onDisk.values[keyFrom]
	if from != nil {
		now[keyFrom] = from // the template never changes it, so it is an edit
	}
	for _, values := range []any{before, onDisk.values} {
		if values, ok := asMap(values); ok {
			delete(values, metricsBuilder)
			if from != nil {
				values[keyFrom] = from
			}
		}
	}
	nowBuilder := now[metricsBuilder]
	delete(now, metricsBuilder)
	m := u.merger(name, func(at []string) bool {
		return len(at) == 1 && !isGenerated(at[0]) && at[0] != keyFrom && !strings.HasPrefix(at[0], keyCopy)
	})
	merged, _ := asMap(m.merge(nil, before, now, onDisk.values))
	u.done(m)
	if merged == nil || reflect.DeepEqual(merged, onDisk.values) && builder != "" {
		u.files[name] = disk
		return nil
	}
	merged[metricsBuilder] = nowBuilder
	extras := slices.DeleteFunc(onDisk.extras, func(e extra) bool {
		_, there := merged[e.key]
		return e.key != "" && !there
	})
	u.files[name], err = u.Metadata.render(template, merged, extras)
	return err
}
