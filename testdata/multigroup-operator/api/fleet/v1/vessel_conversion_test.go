/*
Licensed under the Apache License, Version 2.0 (the "License");
you may not use this file except in compliance with the License.
You may obtain a copy of the License at

    http://www.apache.org/licenses/LICENSE-2.0

Unless required by applicable law or agreed to in writing, software
distributed under the License is distributed on an "AS IS" BASIS,
WITHOUT WARRANTIES OR CONDITIONS OF ANY KIND, either express or implied.
See the License for the specific language governing permissions and
limitations under the License.
*/

package v1

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/randfill"

	fleetv2 "example.org/multigroup-operator/api/fleet/v2"
)

// FuzzVesselConversion converts objects with random content to v2 and back, and the other way around, and checks that nothing
// is lost. "go test" runs the seeds below until one fails, and "go test -fuzz FuzzVessel" tries more.
func FuzzVesselConversion(f *testing.F) {
	for seed := range int64(50) {
		f.Add(seed)
	}
	failed := false
	f.Fuzz(func(t *testing.T, seed int64) {
		if failed {
			t.Skip("an earlier seed has failed")
		}
		defer func() { failed = t.Failed() }()
		filler := randfill.NewWithSeed(seed).NilChance(0.2).NumElements(1, 3).Funcs(
			func(q *resource.Quantity, c randfill.Continue) {
				*q = *resource.NewQuantity(c.Int63n(1000), resource.DecimalSI)
			},
		)

		var spoke, spokeAgain Vessel
		var hub, hubAgain fleetv2.Vessel
		filler.Fill(&spoke.ObjectMeta)
		filler.Fill(&hub.ObjectMeta)
		filler.Fill(&spoke.Spec)
		filler.Fill(&hub.Spec)
		filler.Fill(&spoke.Status)
		filler.Fill(&hub.Status)

		var through fleetv2.Vessel
		if err := spoke.DeepCopy().ConvertTo(&through); err != nil {
			t.Fatal(err)
		}
		if err := spokeAgain.ConvertFrom(&through); err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(spoke, spokeAgain) {
			t.Errorf("converting v1 to v2 and back changes the object (-before +after):\n%s", cmp.Diff(spoke, spokeAgain))
		}

		var back Vessel
		if err := back.ConvertFrom(hub.DeepCopy()); err != nil {
			t.Fatal(err)
		}
		if err := back.ConvertTo(&hubAgain); err != nil {
			t.Fatal(err)
		}
		if !equality.Semantic.DeepEqual(hub, hubAgain) {
			t.Errorf("converting v2 to v1 and back changes the object (-before +after):\n%s", cmp.Diff(hub, hubAgain))
		}
	})
}
