package proxy

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// prepare decides whether the response of a request is to be read.
func (p *Proxy) prepare(x *exchange) {
	r := x.request
	if x.reportsSecrets() {
		requestPlain(r)
	}
	if !x.isResource || isUpgrade(r) || x.isDryRun {
		return
	}
	isObject := x.target.subresource == "" || x.target.subresource == "status"
	switch {
	case x.target.isWatch || r.Method == http.MethodGet && x.target.name == "" && isObject:
		p.recordList(x)
	case r.Method == http.MethodGet:
		x.observed = isObject && (x.run.settings.watchesAny() || x.run.settings.CacheReads)
	case x.target.name == "" && r.Method != http.MethodPost:
	default:
		// A scale has the metadata of the scaled object.
		x.observed = (isObject || x.target.subresource == "scale") && x.run.settings.watchesAny()
	}
	if x.observed {
		requestPlain(r)
	}
}

// requestPlain removes the header that keeps the transport from decompressing the response: it does so only if it asks for compression
// itself.
func requestPlain(r *http.Request) { r.Header.Del("Accept-Encoding") }

// recordList records that a run has read several objects, whose versions the proxy does not read.
func (p *Proxy) recordList(x *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state(x.run.owner.key())
	if s.listed == nil {
		s.listed = map[schema.GroupResource]bool{}
	}
	s.listed[x.target.GroupResource()] = true
}

// observe reads the response to a request. It drops from the cache what can be older than the response.
func (p *Proxy) observe(response *http.Response) error {
	x := exchangeOf(response.Request)
	var body []byte
	contentType := response.Header.Get("Content-Type")
	if (x.observed || x.reportsSecrets()) && response.StatusCode >= 200 && response.StatusCode <= 299 {
		var err error
		if body, err = peekBody(response); err != nil {
			return err
		}
		if x.reportsSecrets() {
			x.reportSecrets(contentType, body)
		}
	}
	// Errors are counted by writeStatus.
	p.count(response.Request.Method, response.StatusCode, "")
	if !x.isResource {
		return nil
	}
	isRead := response.Request.Method == http.MethodGet
	if isRead && x.target.name == "" {
		p.cache.invalidateAll(x.target.GroupResource(), x.target.namespace)
		return nil
	}
	var object *responseObject
	if x.observed {
		object = parseResponse(contentType, body)
	}
	if isRead {
		p.store(x, contentType, body, object)
	}
	if object != nil {
		p.record(x, object)
	}
	return nil
}

// record records which version of an object a run has seen, and starts a watch if the object belongs to the owner of the run.
func (p *Proxy) record(x *exchange, object *responseObject) {
	if !x.run.settings.watchesAny() {
		return
	}
	if x.request.Method == http.MethodDelete && x.target.subresource == "" {
		p.recordDelete(x, object)
	}
	key := x.target.objectKey()
	key.Name = object.Name
	if x.target.subresource == "scale" {
		p.recordScale(x, key, object.ResourceVersion)
		return
	}
	m := markOf(object, x.run.owner)
	if m.isEmpty() || object.ResourceVersion == "" {
		return
	}
	resource, err := p.resources.find(x.request.Context(), x.target.GroupVersionResource)
	if err != nil || resource == nil || !p.isWatchable(x.run.settings, gvkOf(x.target.GroupVersionResource, resource), resource, m.reference == nil) {
		return
	}
	p.mu.Lock()
	seen := p.state(x.run.owner.key()).object(key)
	if seen.uid = object.UID; x.request.Method == http.MethodGet {
		seen.recordRead(object.ResourceVersion)
	} else {
		seen.recordWrite(object.ResourceVersion)
	}
	p.mu.Unlock()
	p.startWatch(x.target.GroupVersionResource, gvkOf(x.target.GroupVersionResource, resource))
}

// recordScale records that a run has scaled an object that belongs to its owner. The response does not contain owner references.
func (p *Proxy) recordScale(x *exchange, key objectKey, version string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if seen := p.state(x.run.owner.key()).objects[key]; seen != nil {
		seen.recordWrite(version)
	}
}

func (p *Proxy) recordDelete(x *exchange, object *responseObject) {
	uid := object.UID
	if uid == "" {
		uid = object.deleted
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	s := p.state(x.run.owner.key())
	if s.deleted == nil {
		s.deleted = map[types.UID]bool{}
	}
	s.deleted[uid] = true
}

// peekBody returns the body of a response, which can still be read; nil if it is too large.
func peekBody(response *http.Response) ([]byte, error) {
	data, err := readLimited(response.Body)
	if errors.Is(err, errTooLarge) {
		response.Body = struct {
			io.Reader
			io.Closer
		}{io.MultiReader(bytes.NewReader(data), response.Body), response.Body}
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	response.Body.Close()
	response.Body = io.NopCloser(bytes.NewReader(data))
	response.ContentLength = int64(len(data))
	response.Header.Set("Content-Length", strconv.Itoa(len(data)))
	response.TransferEncoding = nil
	return data, nil
}

// A responseObject is what the proxy reads of an object in a response. It leaves out the fields that it does not need, as managedFields
// are often the largest part of an object.
type responseObject struct {
	metav1.ObjectMeta
	// deleted is the UID of the object that was deleted, if the response does not contain it.
	deleted types.UID
}

// parseResponse returns the object in a response; nil if it is not an object.
func parseResponse(contentType string, data []byte) *responseObject {
	switch media, _, _ := mime.ParseMediaType(contentType); media {
	case jsonType:
		var object struct {
			Metadata struct {
				Name            string                  `json:"name"`
				Namespace       string                  `json:"namespace"`
				UID             types.UID               `json:"uid"`
				ResourceVersion string                  `json:"resourceVersion"`
				OwnerReferences []metav1.OwnerReference `json:"ownerReferences"`
				Annotations     map[string]string       `json:"annotations"`
			} `json:"metadata"`
			Details struct {
				UID types.UID `json:"uid"`
			} `json:"details"`
		}
		if json.Unmarshal(data, &object) != nil {
			return nil
		}
		m := object.Metadata
		return &responseObject{metav1.ObjectMeta{
			Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion,
			OwnerReferences: m.OwnerReferences, Annotations: m.Annotations,
		}, object.Details.UID}
	case protobufType:
		if doc, err := parseProtobuf(data); err == nil && doc != nil {
			return &responseObject{ObjectMeta: doc.(*protobufDocument).meta}
		}
	}
	return nil
}
