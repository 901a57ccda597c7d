package source

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/ProtonMail/go-crypto/openpgp"
	"github.com/ProtonMail/go-crypto/openpgp/packet"
	"helm.sh/helm/v4/pkg/action"
	"helm.sh/helm/v4/pkg/provenance"

	"github.com/operon-sdk/operon/pkg/helmchart"
)

const publishedChart = `
-- Chart.yaml --
apiVersion: v2
name: web
version: 1.0.0+abc
appVersion: "1"
description: A web server
home: https://example.com
sources: [https://example.com/source]
maintainers:
- name: Ann
  email: ann@example.com
- name: Bob
annotations:
  example.com/a: b
  org.opencontainers.image.title: other
dependencies:
- name: db
  version: 0.1.0
  condition: db.enabled
-- .helmignore --
*.orig
-- secret.orig --
ignored
-- values.yaml --
replicas: 1
db: {enabled: true}
-- README.md --
text
-- crds/web.yaml --
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: webs.example.com
-- charts/db/Chart.yaml --
apiVersion: v2
name: db
version: 0.1.0
-- charts/db/templates/secret.yaml --
apiVersion: v1
kind: Secret
metadata:
  name: {{ .Release.Name }}-db
-- templates/_helpers.tpl --
{{- define "name" }}{{ .Release.Name }}-{{ .Chart.Name }}{{ end }}
-- templates/service.yaml --
apiVersion: v1
kind: Service
metadata:
  name: {{ include "name" . }}
  namespace: {{ .Release.Namespace }}
---
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "name" . }}
-- templates/deployment.yaml --
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "name" . }}
  annotations: {kube: {{ .Capabilities.KubeVersion.Version | quote }}, monitoring: {{ .Capabilities.APIVersions.Has "monitoring.coreos.com/v1" | quote }}}
spec:
  replicas: {{ .Values.replicas }}
-- templates/tests/hook.yaml --
apiVersion: v1
kind: Pod
metadata:
  name: test
  annotations: {helm.sh/hook: test}
-- templates/NOTES.txt --
Done.
`

// writePublished writes the chart to a directory and returns it.
func writePublished(t *testing.T) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "web")
	writeChart(t, dir, chartOf(publishedChart))
	return dir
}

func fetchDir(t *testing.T, dir string) helmchart.Files {
	t.Helper()
	answer, err := Fetch(t.Context(), helmchart.FetchRequest{Chart: dir})
	if err != nil {
		t.Fatal(err)
	}
	return answer.Files
}

// TestPackage checks that archives equal what Helm's library writes, byte for byte.
func TestPackage(t *testing.T) {
	t.Parallel()
	dir := writePublished(t)
	at := time.Unix(1700000000, 0).UTC()
	request := helmchart.PackageRequest{Files: fetchDir(t, dir), Version: "1.2.0", AppVersion: "v1.2.0", Time: at}
	made, err := Package(t.Context(), request)
	if err != nil {
		t.Fatal(err)
	}
	again, err := Package(t.Context(), request)
	if err != nil || !bytes.Equal(made.Archive, again.Archive) {
		t.Errorf("the same chart gives other bytes: %v", err)
	}
	helm := action.NewPackage()
	helm.Version, helm.AppVersion, helm.Destination, helm.SourceDateEpoch = "1.2.0", "v1.2.0", t.TempDir(), &at
	file, err := helm.Run(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if made.Name != filepath.Base(file) || !bytes.Equal(made.Archive, want) {
		t.Errorf("%s differs from %s of Helm", made.Name, file)
	}
	if _, ok := request.Files["secret.orig"]; ok {
		t.Error(".helmignore has no effect")
	}
	if _, err := Package(t.Context(), helmchart.PackageRequest{Files: request.Files, Version: "one"}); err == nil || !strings.Contains(err.Error(), `--version "one": must be a semantic version`) {
		t.Errorf("--version one: %v", err)
	}
}

// writeKeyring writes a private key, encrypted if passphrase isn't empty.
func writeKeyring(t *testing.T, passphrase string) string {
	t.Helper()
	entity, err := openpgp.NewEntity("Release", "", "release@example.com", &packet.Config{Algorithm: packet.PubKeyAlgoEdDSA})
	if err != nil {
		t.Fatal(err)
	}
	var ring bytes.Buffer
	if passphrase != "" {
		if err := entity.EncryptPrivateKeys([]byte(passphrase), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := entity.SerializePrivateWithoutSigning(&ring, nil); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "secring.gpg")
	if err := os.WriteFile(file, ring.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return file
}

// TestSign verifies a provenance file with Helm's library.
func TestSign(t *testing.T) {
	t.Parallel()
	files := fetchDir(t, writePublished(t))
	locked, open := writeKeyring(t, "s3cret"), writeKeyring(t, "")
	for _, key := range []helmchart.SigningKey{{Keyring: locked, Name: "release@example.com", Passphrase: "s3cret"}, {Keyring: open, Name: "Release"}} {
		made, err := Package(t.Context(), helmchart.PackageRequest{Files: files, Time: time.Unix(0, 0), Sign: &key})
		if err != nil {
			t.Fatal(err)
		}
		verifier, err := provenance.NewFromKeyring(key.Keyring, "")
		if err != nil {
			t.Fatal(err)
		}
		if _, err := verifier.Verify(made.Archive, made.Provenance, made.Name); err != nil {
			t.Errorf("Helm refuses the provenance file: %v\n%s", err, made.Provenance)
		}
		if _, err := verifier.Verify(append(made.Archive, 0), made.Provenance, made.Name); err == nil {
			t.Error("Helm verifies another archive")
		}
	}
	for _, test := range []struct {
		key  helmchart.SigningKey
		want string
	}{
		{helmchart.SigningKey{Keyring: locked, Name: "Release"}, `--key "Release": is encrypted; pass its passphrase with --passphrase-file`},
		{helmchart.SigningKey{Keyring: locked, Name: "Release", Passphrase: "wr0ng"}, `--key "Release": `},
		{helmchart.SigningKey{Keyring: locked, Name: "nobody"}, "has no key with that name"},
		{helmchart.SigningKey{Keyring: "missing.gpg", Name: "nobody"}, "--keyring missing.gpg: no such file"},
	} {
		_, err := Package(t.Context(), helmchart.PackageRequest{Files: files, Time: time.Unix(0, 0), Sign: &test.key})
		if err == nil || !strings.Contains(err.Error(), test.want) || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%v: got %v, want %s", test.key.Name, err, test.want)
		}
	}
}

// TestDescribe checks what is stored in registries besides an archive.
func TestDescribe(t *testing.T) {
	t.Parallel()
	made, err := Package(t.Context(), helmchart.PackageRequest{Files: fetchDir(t, writePublished(t)), Time: time.Unix(0, 0)})
	if err != nil {
		t.Fatal(err)
	}
	answer, err := Describe(t.Context(), helmchart.DescribeRequest{Archive: made.Archive})
	if err != nil {
		t.Fatal(err)
	}
	for key, want := range map[string]string{
		"org.opencontainers.image.title": "web", "org.opencontainers.image.version": "1.0.0+abc", "org.opencontainers.image.created": "1970-01-01T00:00:00Z",
		"org.opencontainers.image.authors": "Ann (ann@example.com), Bob", "org.opencontainers.image.source": "https://example.com/source",
		"org.opencontainers.image.url": "https://example.com", "org.opencontainers.image.description": "A web server", "example.com/a": "b",
	} {
		if answer.Annotations[key] != want {
			t.Errorf("annotation %s is %q, want %q", key, answer.Annotations[key], want)
		}
	}
	if !strings.HasPrefix(string(answer.Config), `{"name":"web",`) {
		t.Errorf("config: %s", answer.Config)
	}
	if _, err := Describe(t.Context(), helmchart.DescribeRequest{Archive: []byte("x")}); err == nil || !strings.Contains(err.Error(), "not a chart archive") {
		t.Errorf("another file: %v", err)
	}
}
