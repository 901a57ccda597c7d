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
	"fmt"
	"maps"

	"sigs.k8s.io/controller-runtime/pkg/conversion"

	fleetv2 "example.org/multigroup-operator/api/fleet/v2"
)

// flagAnnotation keeps the flag, for which this version has no field.
const flagAnnotation = "fleet.example.org/flag"

// ConvertTo converts this object to the hub version, v2.
func (o *Vessel) ConvertTo(hub conversion.Hub) error {
	dst, ok := hub.(*fleetv2.Vessel)
	if !ok {
		return fmt.Errorf("cannot convert Vessel v1 to %T", hub)
	}
	dst.ObjectMeta = o.ObjectMeta
	dst.Annotations = maps.Clone(o.Annotations)
	delete(dst.Annotations, flagAnnotation)
	dst.Spec.Flag = o.Annotations[flagAnnotation]
	dst.Spec.Tonnage = o.Spec.Tonnage
	dst.Spec.Crew = fleetv2.VesselCrew{Captain: o.Spec.Captain, Size: o.Spec.Crew}
	dst.Status.Conditions = o.Status.Conditions
	return nil
}

// ConvertFrom converts the hub version, v2, to this object.
func (o *Vessel) ConvertFrom(hub conversion.Hub) error {
	src, ok := hub.(*fleetv2.Vessel)
	if !ok {
		return fmt.Errorf("cannot convert %T to Vessel v1", hub)
	}
	o.ObjectMeta = src.ObjectMeta
	if src.Spec.Flag != "" {
		o.Annotations = map[string]string{}
		maps.Copy(o.Annotations, src.Annotations)
		o.Annotations[flagAnnotation] = src.Spec.Flag
	}
	o.Spec.Tonnage = src.Spec.Tonnage
	o.Spec.Captain, o.Spec.Crew = src.Spec.Crew.Captain, src.Spec.Crew.Size
	o.Status.Conditions = src.Status.Conditions
	return nil
}
