package operator

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"

	"github.com/operon-sdk/operon/pkg/kube"
)

// maxMapSize is the maximum size of a part of a catalog: clusters limit ConfigMaps to 1 MiB, names included.
const maxMapSize = 1000 << 10

// volumes returns ConfigMaps with the catalog and mounts them. A catalog that is too large for one ConfigMap is compressed and
// split; an init container assembles it.
func (r *run) volumes(deployment *kube.Object, values map[string]string) ([]*kube.Object, error) {
	pod := kube.ValueAt(deployment.Object, "spec", "template", "spec").(map[string]any)
	volumes := pod["volumes"].([]any)
	name := values["Registry"]
	if len(r.Bundle.Catalog) <= maxMapSize {
		m := kube.Named("v1", "ConfigMap", r.Namespace, name)
		m.Object["data"] = map[string]any{"catalog.yaml": string(r.Bundle.Catalog)}
		source := map[string]any{"name": name}
		pod["volumes"] = append(volumes, map[string]any{"name": "catalog", "configMap": source})
		return []*kube.Object{m}, nil
	}
	packed, err := compress(r.Bundle.Catalog)
	if err != nil {
		return nil, err
	}
	var maps []*kube.Object
	var sources []any
	for i := 0; len(packed) > 0; i++ {
		n := min(len(packed), maxMapSize)
		m := kube.Named("v1", "ConfigMap", r.Namespace, fmt.Sprintf("%s-%d", name, i+1))
		m.Object["binaryData"] = map[string]any{fmt.Sprintf("catalog.yaml.gz.%04d", i): base64.StdEncoding.EncodeToString(packed[:n])}
		maps = append(maps, m)
		sources = append(sources, map[string]any{"configMap": map[string]any{"name": m.GetName()}})
		packed = packed[n:]
	}
	text, err := renderText("02-decompress", values)
	if err != nil {
		return nil, err
	}
	container, err := decodeMap(text)
	if err != nil {
		return nil, fmt.Errorf("templates/run/02-decompress: %w", err)
	}
	pod["initContainers"] = []any{container}
	pod["volumes"] = append(volumes,
		map[string]any{"name": "compressed", "projected": map[string]any{"sources": sources}},
		map[string]any{"name": "catalog", "emptyDir": map[string]any{}})
	return maps, nil
}

// compress returns a text compressed with gzip. The result depends only on the text.
func compress(text []byte) ([]byte, error) {
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return nil, err
	}
	if _, err := w.Write(text); err != nil {
		return nil, err
	}
	if err := w.Close(); err != nil {
		return nil, err
	}
	return packed.Bytes(), nil
}
