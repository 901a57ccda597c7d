package bundle

import (
	"strings"
	"unicode"

	"github.com/operator-framework/api/pkg/operators/v1alpha1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// DefaultBase is the CSV that a bundle starts from where the project has no base of its own: it holds
// placeholders for what only a person can know.
func DefaultBase(name string) *v1alpha1.ClusterServiceVersion {
	display := DisplayName(name)
	return &v1alpha1.ClusterServiceVersion{
		TypeMeta: metav1.TypeMeta{APIVersion: v1alpha1.ClusterServiceVersionAPIVersion, Kind: kindCSV},
		ObjectMeta: metav1.ObjectMeta{
			Name:        name + ".v0.0.0",
			Namespace:   "placeholder",
			Annotations: map[string]string{"capabilities": "Basic Install", annotationExamples: "[]"},
		},
		Spec: v1alpha1.ClusterServiceVersionSpec{
			DisplayName: display,
			Description: display + " description. TODO.",
			Provider:    v1alpha1.AppLink{Name: "Provider Name", URL: "https://your.domain"},
			Maintainers: []v1alpha1.Maintainer{{Name: "Maintainer Name", Email: "your@email.com"}},
			Links:       []v1alpha1.AppLink{{Name: display, URL: "https://" + name + ".domain"}},
			Maturity:    "alpha",
			Keywords:    []string{name},
			Icon:        make([]v1alpha1.Icon, 1),
			InstallModes: []v1alpha1.InstallMode{
				{Type: v1alpha1.InstallModeTypeOwnNamespace},
				{Type: v1alpha1.InstallModeTypeSingleNamespace},
				{Type: v1alpha1.InstallModeTypeMultiNamespace},
				{Type: v1alpha1.InstallModeTypeAllNamespaces, Supported: true},
			},
		},
	}
}

// DisplayName makes words with capital initials of a name such as app-operator or MyApp_v2.
func DisplayName(name string) string {
	var words []string
	for _, part := range strings.FieldsFunc(name, func(r rune) bool { return strings.ContainsRune(".-_ ", r) }) {
		start, before := 0, 'A'
		for i, r := range part {
			if i > 0 && unicode.IsUpper(r) && !unicode.IsUpper(before) {
				words = append(words, part[start:i])
				start = i
			}
			before = r
		}
		words = append(words, part[start:])
	}
	for i, word := range words {
		r := []rune(word)
		r[0] = unicode.ToTitle(r[0])
		words[i] = string(r)
	}
	return strings.Join(words, " ")
}
