package proxy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"io"
	"mime"
	"net/http"
	"slices"
	"strconv"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// The types of patches that the proxy edits. JSON patches and strategic merge patches neither create objects nor replace lists of owner
// references.
const (
	mergePatch = "application/merge-patch+json"
	applyPatch = "application/apply-patch+yaml"
	// applyPatchCBOR and cborType cannot be edited. Clients send JSON instead if they are not supported.
	applyPatchCBOR = "application/apply-patch+cbor"

	// metadataOnly also accepts whole objects, as some aggregated API servers send nothing else.
	metadataOnly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"
)

// An intent is what a request can do to the owner of an object.
type intent int

const (
	keepsOwner intent = iota
	// createsObject stands for a POST request.
	createsObject
	// appliesObject stands for server-side apply: it may create, and it removes what it applied before and no longer contains.
	appliesObject
	// replacesObject stands for a PUT request: it may create, and it removes everything that it does not contain.
	replacesObject
	// replacesOwners stands for a merge patch with owner references or owner annotations.
	replacesOwners
)

// intentOf returns what a request can do to the owner of its target.
func intentOf(x *exchange) intent {
	if !x.isResource || x.target.subresource != "" {
		return keepsOwner
	}
	switch r := x.request; {
	case r.Method == http.MethodPost && x.target.name == "":
		return createsObject
	case x.target.name == "":
		return keepsOwner
	case r.Method == http.MethodPut:
		return replacesObject
	case r.Method == http.MethodPatch:
		switch media, _, _ := mime.ParseMediaType(r.Header.Get("Content-Type")); media {
		case applyPatch, applyPatchCBOR:
			return appliesObject
		case mergePatch:
			return replacesOwners
		}
	}
	return keepsOwner
}

// edit adds the owner to objects that a request creates, and keeps it on objects that have it. What exists without the owner is not taken
// over.
func (p *Proxy) edit(x *exchange) error {
	intended := intentOf(x)
	if intended == keepsOwner || !p.config.InjectOwnerReferences || isUpgrade(x.request) {
		return nil
	}
	resource, err := p.resources.find(x.request.Context(), x.target.GroupVersionResource)
	if err != nil || resource == nil || isVirtual(resource) {
		return err
	}
	if resource.Kind == x.run.owner.Kind && x.target.Group == x.run.owner.Group && x.target.namespace == x.run.owner.Namespace && x.target.name == x.run.owner.Name {
		return nil
	}
	data, err := readBody(x.request)
	if err != nil {
		return err
	}
	doc, err := parseDocument(x.request.Header.Get("Content-Type"), data)
	switch {
	case errors.Is(err, errUnsupported):
		return unsupported(x.request)
	case err != nil:
		return apierrors.NewBadRequest(err.Error())
	case doc == nil || intended == replacesOwners && !replacesOwnerList(doc, x.run.owner):
		return nil
	}
	m := newMark(x.run.owner, x.target.namespace)
	if intended != createsObject {
		live, err := p.metadata(x.request.Context(), x.request.URL.Path)
		switch {
		case apierrors.IsNotFound(err):
			if intended == replacesOwners {
				return nil
			}
		case apierrors.IsForbidden(err):
			p.config.Log.Info("cannot read whether the object exists, so that it gets no owner", "method", x.request.Method, "path", x.request.URL.Path)
			return nil
		case err != nil:
			return err
		default:
			if m = markOf(live, x.run.owner); m.isEmpty() {
				return nil
			}
		}
	}
	if !m.addTo(doc, x.run.owner) {
		return nil
	}
	body, media, err := doc.encode()
	if err != nil {
		return err
	}
	setBody(x.request, body)
	x.request.Header.Set("Content-Type", media)
	return nil
}

// replacesOwnerList reports whether a merge patch replaces the list of owner references with one without the owner. An empty list
// removes all owners on purpose.
func replacesOwnerList(doc document, owner Owner) bool {
	references := doc.owners()
	return len(references) > 0 && !hasOwner(references, owner)
}

func (p *Proxy) metadata(ctx context.Context, path string) (*metav1.PartialObjectMetadata, error) {
	response, err := p.get(ctx, path, metadataOnly)
	if err != nil {
		return nil, unreachable(err)
	}
	defer response.Body.Close()
	data, err := readLimited(response.Body)
	if err != nil {
		return nil, unreachable(err)
	}
	if response.StatusCode != http.StatusOK {
		status := metav1.Status{Status: metav1.StatusFailure}
		if json.Unmarshal(data, &status) != nil || status.Code == 0 {
			status.Code, status.Message = int32(response.StatusCode), response.Status
		}
		return nil, &apierrors.StatusError{ErrStatus: status}
	}
	object := &metav1.PartialObjectMetadata{}
	if err := json.Unmarshal(data, object); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return object, nil
}

// A mark is what connects an object with its owner: a reference or annotations.
type mark struct {
	reference   *metav1.OwnerReference
	annotations map[string]string
}

func newMark(owner Owner, namespace string) mark {
	if owner.usesReference(namespace) {
		reference := owner.reference()
		return mark{reference: &reference}
	}
	return mark{annotations: owner.annotations()}
}

// markOf returns the mark of an object. It is the object's own reference, which may name another version of the API
// or be the controller's: server-side apply conflicts with other managers if it differs.
func markOf(object metav1.Object, owner Owner) mark {
	var m mark
	references := object.GetOwnerReferences()
	if i := slices.IndexFunc(references, func(r metav1.OwnerReference) bool { return r.UID == owner.UID }); i >= 0 {
		m.reference = &references[i]
	}
	if isAnnotated(object.GetAnnotations(), owner) {
		m.annotations = owner.annotations()
	}
	return m
}

func (m mark) isEmpty() bool { return m.reference == nil && m.annotations == nil }

func isAnnotated(annotations map[string]string, owner Owner) bool {
	for key, value := range owner.annotations() {
		if annotations[key] != value {
			return false
		}
	}
	return true
}

// addTo adds a mark to an object, and reports whether that changes it. Annotations of another owner are kept.
func (m mark) addTo(doc document, owner Owner) (changed bool) {
	if m.reference != nil && !hasOwner(doc.owners(), owner) {
		doc.addOwner(*m.reference)
		changed = true
	}
	existing := doc.annotations()
	for key := range m.annotations {
		if _, ok := existing[key]; ok {
			return changed
		}
	}
	for key, value := range m.annotations {
		doc.setAnnotation(key, value)
		changed = true
	}
	return changed
}

// readBody reads the body of a request and replaces it with the data that was read.
func readBody(r *http.Request) ([]byte, error) {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, unsupported(r)
	}
	data, err := readLimited(r.Body)
	if errors.Is(err, errTooLarge) {
		return nil, apierrors.NewRequestEntityTooLargeError(err.Error())
	}
	if err != nil {
		return nil, apierrors.NewBadRequest("reading the body: " + err.Error())
	}
	setBody(r, data)
	return data, nil
}

func setBody(r *http.Request, data []byte) {
	r.Body = io.NopCloser(bytes.NewReader(data))
	r.ContentLength = int64(len(data))
	r.Header.Set("Content-Length", strconv.Itoa(len(data)))
	r.TransferEncoding = nil
}

// unsupported returns the error of a body that cannot be edited.
func unsupported(r *http.Request) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: http.StatusUnsupportedMediaType, Reason: metav1.StatusReasonUnsupportedMediaType,
		Message: errUnsupported.Error() + " (" + r.Header.Get("Content-Type") + "); send JSON, YAML or protobuf",
	}}
}
