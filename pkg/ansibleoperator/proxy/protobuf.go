package proxy

import (
	"bytes"
	"encoding/binary"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

const protobufType = "application/vnd.kubernetes.protobuf"

// protobufPrefix begins all bodies of protobufType. A runtime.Unknown with the object follows.
var protobufPrefix = []byte("k8s\x00")

// A protobufDocument keeps all fields but the metadata as they were sent. In all stored objects, the metadata is field 1.
type protobufDocument struct {
	unknown runtime.Unknown
	meta    metav1.ObjectMeta
	// rest are the other fields.
	rest []byte
}

func parseProtobuf(data []byte) (document, error) {
	d := &protobufDocument{}
	data, ok := bytes.CutPrefix(data, protobufPrefix)
	if !ok || d.unknown.Unmarshal(data) != nil {
		return nil, nil
	}
	for raw := d.unknown.Raw; len(raw) > 0; {
		number, value, length := nextField(raw)
		if length == 0 {
			return nil, nil
		}
		if number != 1 {
			d.rest = append(d.rest, raw[:length]...)
		} else if d.meta.Unmarshal(value) != nil {
			return nil, nil
		}
		raw = raw[length:]
	}
	return d, nil
}

// nextField returns the number of the first field of a message, its value if that is delimited by its length, and the length of the
// field; 0 if it is not valid.
func nextField(raw []byte) (number uint64, value []byte, length int) {
	tag, n := binary.Uvarint(raw)
	if n <= 0 {
		return 0, nil, 0
	}
	number, length = tag>>3, n
	switch tag & 7 {
	case 0:
		_, n := binary.Uvarint(raw[length:])
		if n <= 0 {
			return 0, nil, 0
		}
		length += n
	case 1:
		length += 8
	case 5:
		length += 4
	case 2:
		size, n := binary.Uvarint(raw[length:])
		if n <= 0 || size > uint64(len(raw)-length-n) {
			return 0, nil, 0
		}
		value = raw[length+n : length+n+int(size)]
		length += n + int(size)
	default:
		return 0, nil, 0
	}
	if length > len(raw) {
		return 0, nil, 0
	}
	return number, value, length
}

func (d *protobufDocument) owners() []metav1.OwnerReference { return d.meta.OwnerReferences }

func (d *protobufDocument) addOwner(reference metav1.OwnerReference) {
	d.meta.OwnerReferences = append(d.meta.OwnerReferences, reference)
}

func (d *protobufDocument) annotations() map[string]string { return d.meta.Annotations }

func (d *protobufDocument) setAnnotation(key, value string) {
	metav1.SetMetaDataAnnotation(&d.meta, key, value)
}

func (d *protobufDocument) encode() ([]byte, string, error) {
	meta, err := d.meta.Marshal()
	if err != nil {
		return nil, "", err
	}
	raw := append([]byte{1<<3 | 2}, binary.AppendUvarint(nil, uint64(len(meta)))...)
	d.unknown.Raw = append(append(raw, meta...), d.rest...)
	data, err := d.unknown.Marshal()
	return append(bytes.Clone(protobufPrefix), data...), protobufType, err
}
