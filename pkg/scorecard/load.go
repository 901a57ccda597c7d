package scorecard

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"errors"
	"fmt"
	"io/fs"
	"path"
	"strings"

	apimanifests "github.com/operator-framework/api/pkg/manifests"
	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	utilerrors "k8s.io/apimachinery/pkg/util/errors"
	"k8s.io/apimachinery/pkg/util/yaml"

	"github.com/operon-sdk/operon/pkg/diag"
	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const (
	csvKind = "ClusterServiceVersion"
	crdKind = "CustomResourceDefinition"
)

// loader reads a bundle from any file system like operator-framework's library, whose results and errors are the
// built-in tests.
type loader struct {
	fsys fs.FS
	// name is what messages call the bundle's root.
	name        string
	bundle      *apimanifests.Bundle
	found       bool
	annotations apimanifests.AnnotationsFile
	errs        []error
	// skipped describes files that contain no object.
	skipped []string
}

// load reads the bundle in a directory and its subdirectories. skipped describes files that contain no object.
func load(b Bundle, dir string) (bundle *apimanifests.Bundle, skipped []string, err error) {
	l := &loader{fsys: b.FS, name: b.Name}
	var files []string
	err = fs.WalkDir(b.FS, dir, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			l.failed(name, err)
			return nil
		case d.IsDir() && name != dir && strings.HasPrefix(d.Name(), "."):
			return fs.SkipDir
		case !d.IsDir():
			files = append(files, name)
			if !strings.HasPrefix(d.Name(), ".") {
				l.file(name)
			}
		}
		return nil
	})
	if err != nil {
		l.errs = append(l.errs, err)
	}
	l.complete(files)
	switch {
	case !l.found:
		l.errs = append(l.errs, fmt.Errorf("unable to find a csv in bundle directory %s", l.show(dir)))
	case l.bundle == nil:
		l.errs = append(l.errs, fmt.Errorf("unable to load bundle from directory %s", l.show(dir)))
	}
	return l.bundle, l.skipped, utilerrors.NewAggregate(l.errs)
}

// show returns the name of a file in messages.
func (l *loader) show(name string) string { return path.Join(l.name, name) }

// failed records that a file cannot be read.
func (l *loader) failed(name string, err error) {
	err = diag.Cause(err)
	l.errs = append(l.errs, fmt.Errorf("unable to load file %s: %w", l.show(name), err))
}

// complete sets the fields from annotations, and the sizes of all files.
func (l *loader) complete(files []string) {
	if l.bundle == nil {
		return
	}
	// The library compresses each file. One writer suffices, as it is large.
	var buffer bytes.Buffer
	writer := gzip.NewWriter(&buffer)
	for _, name := range files {
		data, err := readFile(l.fsys, name)
		if err != nil {
			l.failed(name, err)
			return
		}
		buffer.Reset()
		writer.Reset(&buffer)
		if _, err := writer.Write(data); err != nil {
			l.failed(name, err)
			return
		}
		if err := writer.Close(); err != nil {
			l.failed(name, err)
			return
		}
		l.bundle.Size += int64(len(data))
		l.bundle.CompressedSize += int64(base64.StdEncoding.EncodedLen(buffer.Len()))
	}
	l.bundle.Channels = strings.Split(l.annotations.Annotations.Channels, ",")
	l.bundle.DefaultChannel = l.annotations.Annotations.DefaultChannelName
	l.bundle.Package = l.annotations.Annotations.PackageName
}

// file reads the annotations of a file or, if it is a ClusterServiceVersion, the bundle in its directory.
func (l *loader) file(name string) {
	data, err := readFile(l.fsys, name)
	if err != nil {
		l.failed(name, err)
		return
	}
	if strings.HasPrefix(path.Base(name), "annotations") {
		var file apimanifests.AnnotationsFile
		if err := safeyaml.UnmarshalJSON(data, &file); err != nil {
			l.errs = append(l.errs, fmt.Errorf("unable to load the annotations file %s: %w", l.show(name), err))
			return
		}
		l.annotations = file
	}
	var o unstructured.Unstructured
	if err := decode(data, 30, &o); err != nil {
		if path.Dir(name) == manifestsDir {
			l.skipped = append(l.skipped, fmt.Sprintf("%s: %v", l.show(name), plain(err)))
		}
		return
	}
	if o.GetKind() != csvKind {
		return
	}
	l.found = true
	bundle, err := l.directory(o.GetName(), path.Dir(name))
	if err != nil {
		err = fmt.Errorf("error loading objs in directory: %w", err)
	}
	if bundle == nil || bundle.CSV == nil {
		l.errs = append(l.errs, utilerrors.NewAggregate([]error{err, errors.New("no bundle csv found")}))
		return
	}
	if l.bundle = bundle; err != nil {
		l.errs = append(l.errs, err)
	}
}

// directory reads the objects in the directory of a ClusterServiceVersion.
func (l *loader) directory(csv, dir string) (*apimanifests.Bundle, error) {
	entries, err := fs.ReadDir(l.fsys, dir)
	if err != nil {
		return nil, err
	}
	var (
		errs      []error
		manifests safeyaml.Set
	)
	bundle := &apimanifests.Bundle{Name: csv}
	for _, entry := range entries {
		name := path.Join(dir, entry.Name())
		switch {
		case entry.IsDir():
			errs = append(errs, fmt.Errorf("bundle manifests dir contains directory: %s", l.show(name)))
			continue
		case strings.HasPrefix(entry.Name(), "."):
			errs = append(errs, fmt.Errorf("bundle manifests dir has hidden file: %s", l.show(name)))
			continue
		}
		data, err := readFile(l.fsys, name)
		if err == nil {
			err = manifests.Check(data)
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("unable to load file %s: %w", l.show(name), err))
			continue
		}
		o := &unstructured.Unstructured{}
		if err := yaml.NewYAMLToJSONDecoder(bytes.NewReader(data)).Decode(o); err != nil {
			errs = append(errs, fmt.Errorf("unable to decode object: %w", err))
			continue
		}
		bundle.Objects = append(bundle.Objects, o)
		if err := addTyped(bundle, o, entry.Name(), data); err != nil {
			return nil, err
		}
	}
	return bundle, utilerrors.NewAggregate(errs)
}

// addTyped adds ClusterServiceVersions and CRDs to the typed fields of the bundle.
func addTyped(bundle *apimanifests.Bundle, o *unstructured.Unstructured, file string, data []byte) error {
	decode := func(what string, into any) error {
		if err := yaml.NewYAMLToJSONDecoder(bytes.NewReader(data)).Decode(into); err != nil {
			return fmt.Errorf("unable to parse %s %s: %w", what, file, err)
		}
		return nil
	}
	switch o.GetKind() {
	case csvKind:
		if bundle.CSV != nil {
			return errors.New("invalid bundle: contains multiple CSVs")
		}
		csv := &v1alpha1.ClusterServiceVersion{}
		if err := decode("CSV", csv); err != nil {
			return err
		}
		bundle.CSV = csv
	case crdKind:
		switch version := o.GetAPIVersion(); version {
		case apiextensionsv1beta1.SchemeGroupVersion.String():
			crd := &apiextensionsv1beta1.CustomResourceDefinition{}
			bundle.V1beta1CRDs = append(bundle.V1beta1CRDs, crd)
			return decode("CRD", crd)
		case apiextensionsv1.SchemeGroupVersion.String():
			crd := &apiextensionsv1.CustomResourceDefinition{}
			bundle.V1CRDs = append(bundle.V1CRDs, crd)
			return decode("CRD", crd)
		default:
			return fmt.Errorf("unsupported CRD version %s for %s", version, file)
		}
	}
	return nil
}
