package operator

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"fmt"

	"github.com/operon-sdk/operon/pkg/kube"
)

// maxMap is how much of a catalog one ConfigMap takes: a cluster takes 1 MiB of it, names included.
const maxMap = 1000 << 10

// volumes puts the catalog into ConfigMaps and mounts them: as it is where one suffices, and otherwise
// compressed and cut into pieces, which a container puts together before the registry starts.
func (r *run) volumes(deployment *kube.Object, values map[string]string) ([]*kube.Object, error) {
	pod := kube.ValueAt(deployment.Object, "spec", "template", "spec").(map[string]any)
	volumes := pod["volumes"].([]any)
	name := values["Registry"]
	if len(r.Bundle.Catalog) <= maxMap {
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
		n := min(len(packed), maxMap)
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

// compress packs a text; the same text gives the same bytes.
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
