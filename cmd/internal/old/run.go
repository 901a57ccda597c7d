package old

import (
	"cmp"
	"slices"

	"github.com/spf13/pflag"
)

// A Run contains the flags of up local and run --local.
type Run struct {
	namespace, watch, kubeconfig string
}

// AddTo adds the flags.
func (o *Run) AddTo(f *pflag.FlagSet) {
	f.StringVar(&o.namespace, "namespace", "", "`namespace` of the samples, and the only one that a namespaced manager watches")
	f.StringVar(&o.watch, "watch-namespace", "", "`namespace`, like --namespace")
	f.StringVar(&o.kubeconfig, "kubeconfig", "", "kubeconfig `file`")
	ofRun().AddTo(f)
}

// Local validates the flags, and returns the arguments of run local.
func (o *Run) Local(f *pflag.FlagSet) ([]string, error) {
	findings := ofRun().Used(f)
	if o.namespace != "" && o.watch != "" && o.namespace != o.watch {
		findings.Add("--watch-namespace", o.watch, "is an alias of --namespace, which is "+o.namespace)
	}
	return slices.Concat(Given("namespace", cmp.Or(o.namespace, o.watch)), Given("kubeconfig", o.kubeconfig)), findings.Err()
}
