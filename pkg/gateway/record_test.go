package gateway

import (
	"bytes"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor"
	"k8s.io/apimachinery/pkg/runtime/serializer/json"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
)

// TestDecode reads objects and statuses in all encodings of the API server.
func TestDecode(t *testing.T) {
	t.Parallel()
	secret := &corev1.Secret{
		ObjectMeta: metav1.ObjectMeta{Name: "one", GenerateName: "o", Namespace: "a", UID: "u", ResourceVersion: "42", Generation: 300},
		Type:       "x", Data: map[string][]byte{"a": make([]byte, 1000)},
	}
	secret.SetGroupVersionKind(corev1.SchemeGroupVersion.WithKind("Secret"))
	status := &metav1.Status{Reason: metav1.StatusReasonForbidden, Message: "cannot list", Code: 403, Details: &metav1.StatusDetails{Kind: "secrets"}}
	status.SetGroupVersionKind(metav1.SchemeGroupVersion.WithKind("Status"))
	encode := func(e runtime.Encoder, obj runtime.Object) string {
		var encoded bytes.Buffer
		if err := e.Encode(obj, &encoded); err != nil {
			t.Fatal(err)
		}
		return encoded.String()
	}
	for name, encoder := range map[string]runtime.Encoder{
		"protobuf": protobuf.NewSerializer(scheme.Scheme, scheme.Scheme),
		"cbor":     cbor.NewSerializer(scheme.Scheme, scheme.Scheme),
		"json":     json.NewSerializerWithOptions(json.DefaultMetaFactory, scheme.Scheme, scheme.Scheme, json.SerializerOptions{}),
	} {
		body := encode(encoder, secret)
		got := decode([]byte(body))
		if got.Kind != "Secret" || got.Metadata.Name != "one" || got.Metadata.UID != "u" || got.Metadata.ResourceVersion != "42" {
			t.Errorf("%s: %+v", name, got)
		}
		if got := decode([]byte(body[:len(body)/2])); got.Metadata.ResourceVersion != "" {
			t.Errorf("half of %s: %+v", name, got)
		}
		if got := decode([]byte(encode(encoder, status))); got.Kind != "Status" || got.Reason != "Forbidden" || got.Message != "cannot list" {
			t.Errorf("%s: %+v", name, got)
		}
	}
	for _, body := range []string{"", "{", "k8s\x00", "k8s\x00\x12\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\xd9\xd9\xf7", `{"metadata": 1}`} {
		if got := decode([]byte(body)); got != (object{}) {
			t.Errorf("%q: %+v", body, got)
		}
	}
}
