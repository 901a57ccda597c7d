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

	"github.com/operon-sdk/operon/pkg/safeyaml"
)

const (
	csvKind = "ClusterServiceVersion"
	crdKind = "CustomResourceDefinition"
)

// loader reads a bundle as the library of operator-framework does, from any file system: what it finds
// and what it says decide the built-in tests.
type loader struct {
	fsys fs.FS
	// shown is how messages call the bundle's root.
	shown       string
	bundle      *apimanifests.Bundle
	found       bool
	annotations apimanifests.AnnotationsFile
	errs        []error
	// passed are files that hold no object, and why.
	passed []string
}

// load reads the bundle of a folder and those below it. With an error, passed tells of files that were
// passed over.
func load(b Bundle, folder string) (bundle *apimanifests.Bundle, passed []string, err error) {
	l := &loader{fsys: b.FS, shown: b.Name}
	var files []string
	err = fs.WalkDir(b.FS, folder, func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			l.failed(name, err)
			return nil
		case d.IsDir() && name != folder && strings.HasPrefix(d.Name(), "."):
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
		l.errs = append(l.errs, fmt.Errorf("unable to find a csv in bundle directory %s", l.show(folder)))
	case l.bundle == nil:
		l.errs = append(l.errs, fmt.Errorf("unable to load bundle from directory %s", l.show(folder)))
	}
	return l.bundle, l.passed, utilerrors.NewAggregate(l.errs)
}

func (l *loader) show(name string) string { return path.Join(l.shown, name) }

// failed records that a file cannot be read.
func (l *loader) failed(name string, err error) {
	if pathErr, ok := errors.AsType[*fs.PathError](err); ok {
		err = pathErr.Err
	}
	l.errs = append(l.errs, fmt.Errorf("unable to load file %s: %w", l.show(name), err))
}

// complete puts in what the annotations and the sizes of all files say.
func (l *loader) complete(files []string) {
	if l.bundle == nil {
		return
	}
	// As that library packs each file; a packer is made once, since it is large.
	var buffer bytes.Buffer
	packer := gzip.NewWriter(&buffer)
	for _, name := range files {
		data, err := readFile(l.fsys, name)
		if err != nil {
			l.failed(name, err)
			return
		}
		buffer.Reset()
		packer.Reset(&buffer)
		if _, err := packer.Write(data); err != nil {
			l.failed(name, err)
			return
		}
		if err := packer.Close(); err != nil {
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

// file takes the annotations of a file or, if it is a ClusterServiceVersion, the bundle beside it.
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
		if path.Dir(name) == manifestsFolder {
			l.passed = append(l.passed, fmt.Sprintf("%s: %v", l.show(name), plain(err)))
		}
		return
	}
	if o.GetKind() != csvKind {
		return
	}
	l.found = true
	bundle, err := l.folder(o.GetName(), path.Dir(name))
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

// folder reads the objects of a folder that a ClusterServiceVersion is in.
func (l *loader) folder(csv, folder string) (*apimanifests.Bundle, error) {
	entries, err := fs.ReadDir(l.fsys, folder)
	if err != nil {
		return nil, err
	}
	var (
		errs      []error
		manifests safeyaml.Set
	)
	bundle := &apimanifests.Bundle{Name: csv}
	for _, entry := range entries {
		name := path.Join(folder, entry.Name())
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
		if err := typed(bundle, o, entry.Name(), data); err != nil {
			return nil, err
		}
	}
	return bundle, utilerrors.NewAggregate(errs)
}

// typed puts an object that the bundle has a place for there.
func typed(bundle *apimanifests.Bundle, o *unstructured.Unstructured, file string, data []byte) error {
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
