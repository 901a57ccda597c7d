package gateway

import (
	"bytes"
	"cmp"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"time"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// A Record describes a request and what became of it. The answer of a watch is its first byte.
type Record struct {
	Request
	// Start is when the request arrived, and Duration the time until the answer.
	Start    time.Time
	Duration time.Duration
	// Code is the HTTP status code that the program got, or 0 for none. ServerCode is the one of the API server, or 0 if it didn't get
	// the request.
	Code, ServerCode int
	// UserAgent is the header of the program.
	UserAgent string
	// Reason and Message are from the API server's Status for codes from 400.
	Reason, Message string
	// UID and ResourceVersion are from the object in the answer of a write.
	UID, ResourceVersion string
}

// Done reports whether the API server has done a write.
func (r Record) Done() bool { return r.IsWrite() && r.ServerCode >= 200 && r.ServerCode < 300 }

// Created reports whether a write has created an object. Server-side apply does so with a patch.
func (r Record) Created() bool {
	return r.Done() && r.ServerCode == http.StatusCreated && r.Subresource == ""
}

// IsConflict reports whether the API server has refused a change since somebody else has changed the object.
func (r Record) IsConflict() bool {
	return r.ServerCode == http.StatusConflict && (r.Verb == "update" || r.Verb == "patch")
}

// Manager returns the manager of the fields that a write sets, as the API server determines it.
func (r Record) Manager() string {
	program, _, _ := strings.Cut(r.UserAgent, "/")
	return cmp.Or(r.FieldManager, program)
}

// maxAnswer is the maximum size of an answer that is read before it is forwarded. Larger ones have no resource version in their records.
const maxAnswer = 4 << 20

// readAnswer reads what a Record says of the answer of the API server to a write, or of a failure, and replaces the body. It returns what it
// has read.
func (r *Record) readAnswer(answer *http.Response) (body []byte, err error) {
	if answer.StatusCode == http.StatusSwitchingProtocols || answer.StatusCode < 400 && !r.IsWrite() {
		return nil, nil
	}
	body, err = io.ReadAll(io.LimitReader(answer.Body, maxAnswer))
	if err != nil {
		return nil, err
	}
	answer.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(body), answer.Body), answer.Body}
	object := decode(body)
	if answer.StatusCode >= 400 {
		r.Reason, r.Message = object.Reason, object.Message
		return body, nil
	}
	if object.Kind != "Status" { // the answer of a deletion
		r.UID, r.ResourceVersion = object.Metadata.UID, object.Metadata.ResourceVersion
	}
	if r.Name == "" { // it was generated
		r.Name = object.Metadata.Name
	}
	return body, nil
}

// An object is what the gateway reads of objects. Only a Status has Reason and Message.
type object struct {
	Kind     string `json:"kind"`
	Metadata struct {
		Name            string `json:"name"`
		UID             string `json:"uid"`
		ResourceVersion string `json:"resourceVersion"`
	} `json:"metadata"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

// decode decodes an object in JSON, CBOR or the protobuf encoding of Kubernetes. What can't be decoded is empty.
func decode(body []byte) (o object) {
	if message, ok := bytes.CutPrefix(body, []byte("k8s\x00")); ok {
		return decodeProtobuf(message)
	}
	if bytes.HasPrefix(body, []byte("\xd9\xd9\xf7")) { // the tag of self-described CBOR
		return decodeCBOR(body)
	}
	if json.Unmarshal(body, &o) != nil {
		return object{}
	}
	return o
}

// decodeCBOR decodes an object. The decoder refuses structs that lack fields.
func decodeCBOR(body []byte) (o object) {
	var fields map[string]any
	if direct.Unmarshal(body, &fields) != nil {
		return object{}
	}
	metadata, _ := fields["metadata"].(map[string]any)
	for into, value := range map[*string]any{
		&o.Kind: fields["kind"], &o.Reason: fields["reason"], &o.Message: fields["message"],
		&o.Metadata.Name: metadata["name"], &o.Metadata.UID: metadata["uid"], &o.Metadata.ResourceVersion: metadata["resourceVersion"],
	} {
		*into, _ = value.(string)
	}
	return o
}

// decodeProtobuf decodes a runtime.Unknown. The numbers of the fields are in the generated.proto files of Kubernetes.
func decodeProtobuf(message []byte) (o object) {
	const (
		typeMeta, raw               = 1, 2    // runtime.Unknown
		kind                        = 2       // runtime.TypeMeta
		metadata                    = 1       // all objects
		name, uid, resourceVersion  = 1, 5, 6 // metav1.ObjectMeta
		statusMessage, statusReason = 3, 4    // metav1.Status
	)
	content := field(message, raw)
	o.Kind = string(field(field(message, typeMeta), kind))
	if o.Kind == "Status" {
		o.Message, o.Reason = string(field(content, statusMessage)), string(field(content, statusReason))
		return o
	}
	meta := field(content, metadata)
	o.Metadata.Name, o.Metadata.UID, o.Metadata.ResourceVersion = string(field(meta, name)), string(field(meta, uid)), string(field(meta, resourceVersion))
	return o
}
