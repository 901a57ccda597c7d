package grafana

import (
	"bytes"
	"encoding/json"
	"errors"
	"strconv"
)

// An object is a JSON object with the order and the text of its members.
type object []member

type member struct {
	key   string
	value json.RawMessage
}

// UnmarshalJSON reads an object.
func (o *object) UnmarshalJSON(data []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(data))
	if token, err := decoder.Token(); err != nil || token != json.Delim('{') {
		return errors.Join(errors.New("must be an object"), err)
	}
	for decoder.More() {
		token, err := decoder.Token()
		if err != nil {
			return err
		}
		m := member{key: token.(string)} // keys are strings
		if err := decoder.Decode(&m.value); err != nil {
			return err
		}
		*o = append(*o, m)
	}
	return nil
}

// MarshalJSON writes the object.
func (o object) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	b.WriteByte('{')
	for i, m := range o {
		if i > 0 {
			b.WriteByte(',')
		}
		key, err := encode(m.key)
		if err != nil {
			return nil, err
		}
		b.Write(key)
		b.WriteByte(':')
		b.Write(m.value)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}

// encode returns a value in JSON, in which < and > stay readable.
func encode(value any) (json.RawMessage, error) {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(value)
	return bytes.TrimRight(b.Bytes(), "\n"), err
}

// put returns a JSON value with another value at a path of keys and indexes. Missing keys are added, missing items are not.
func put(data json.RawMessage, value any, path ...string) (json.RawMessage, error) {
	if len(path) == 0 {
		return encode(value)
	}
	if i, err := strconv.Atoi(path[0]); err == nil {
		var items []json.RawMessage
		if err := json.Unmarshal(data, &items); err != nil || i >= len(items) {
			return data, err
		}
		if items[i], err = put(items[i], value, path[1:]...); err != nil {
			return nil, err
		}
		return encode(items)
	}
	var o object
	if len(data) > 0 && string(data) != "null" {
		if err := json.Unmarshal(data, &o); err != nil {
			return nil, err
		}
	}
	for i := range o {
		if o[i].key == path[0] {
			changed, err := put(o[i].value, value, path[1:]...)
			o[i].value = changed
			if err != nil {
				return nil, err
			}
			return encode(o)
		}
	}
	added, err := put(nil, value, path[1:]...)
	if err != nil {
		return nil, err
	}
	return encode(append(o, member{path[0], added}))
}
