package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
)

// streamFile is the stdin of generate bundle in the rows.
const streamFile = "operator.yaml"

// stream returns the manifests of an operator with a number of objects: its Deployment, CRDs with a sample each, and
// ConfigMaps.
func stream(crds, objects int) func(string) error {
	return func(dir string) error {
		var b bytes.Buffer
		b.WriteString(`apiVersion: apps/v1
kind: Deployment
metadata: {name: bench-controller-manager, namespace: bench-system}
spec:
  selector: {matchLabels: {app: bench}}
  template:
    metadata: {labels: {app: bench}}
    spec:
      containers:
      - name: manager
        image: registry.example.com/bench:v0.0.1
`)
		for i := range crds {
			fmt.Fprintf(&b, `---
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: things%[1]d.bench.example.com}
spec:
  group: bench.example.com
  names: {kind: Thing%[1]d, listKind: Thing%[1]dList, plural: things%[1]d, singular: thing%[1]d}
  scope: Namespaced
  versions:
  - name: v1
    served: true
    storage: true
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              size: {type: integer, format: int32, minimum: 1, description: How many pods there shall be.}
              image: {type: string, description: The image that they run.}
              ports: {type: array, items: {type: integer}}
---
apiVersion: bench.example.com/v1
kind: Thing%[1]d
metadata: {name: thing%[1]d-sample}
spec: {size: %[1]d, image: registry.example.com/thing:v1, ports: [80, 443]}
`, i+1)
		}
		for i := range objects - 2*crds - 1 {
			fmt.Fprintf(&b, "---\napiVersion: v1\nkind: ConfigMap\nmetadata: {name: settings-%[1]d, namespace: bench-system}\ndata:\n  number: \"%[1]d\"\n", i)
		}
		return os.WriteFile(filepath.Join(dir, streamFile), b.Bytes(), 0o644)
	}
}
