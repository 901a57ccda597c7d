package safeyaml

import (
	"bytes"

	"go.yaml.in/yaml/v3"
	sigsyaml "sigs.k8s.io/yaml"
)

// Unmarshal is yaml.Unmarshal of go-yaml after Check.
func Unmarshal(data []byte, into any) error {
	if err := Check(data); err != nil {
		return err
	}
	return yaml.Unmarshal(data, into)
}

// ToJSON is YAMLToJSON of sigs.k8s.io/yaml after Check.
func ToJSON(data []byte) ([]byte, error) {
	if err := Check(data); err != nil {
		return nil, err
	}
	return sigsyaml.YAMLToJSON(data)
}

// UnmarshalJSON is Unmarshal of sigs.k8s.io/yaml, which uses the json tags of types, after Check.
func UnmarshalJSON(data []byte, into any) error {
	if err := Check(data); err != nil {
		return err
	}
	return sigsyaml.Unmarshal(data, into)
}

// UnmarshalStrict is UnmarshalJSON with errors for unknown and repeated keys.
func UnmarshalStrict(data []byte, into any) error {
	if err := Check(data); err != nil {
		return err
	}
	return sigsyaml.UnmarshalStrict(data, into)
}

// A Decoder reads the documents of a YAML stream that Check has checked.
type Decoder struct {
	*yaml.Decoder
	err error
}

// NewDecoder returns a decoder of a stream. Decode returns the error of Check.
func NewDecoder(data []byte) *Decoder {
	return &Decoder{Decoder: yaml.NewDecoder(bytes.NewReader(data)), err: Check(data)}
}

// Decode reads the next document. At the end it returns io.EOF.
func (d *Decoder) Decode(into any) error {
	if d.err != nil {
		return d.err
	}
	return d.Decoder.Decode(into)
}
