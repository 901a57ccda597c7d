// Checkcopy fills a Thing, and checks that its copy is equal and shares nothing with it.
package main

import (
	"fmt"
	"os"
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"

	v1 "example.com/groupless/api/v1"
)

func main() {
	thing := &v1.Thing{}
	fill(reflect.ValueOf(&thing.Spec).Elem(), 0)
	nested := v1.Nested{{{}, {}}}
	left := v1.Left{{"a": {{}}}}
	list := &v1.ThingList{Items: v1.List[v1.Thing]{*thing}}
	var object runtime.Object = list
	check(list, object.DeepCopyObject().(*v1.ThingList))
	check(thing, thing.DeepCopy())
	check(nested, nested.DeepCopy())
	check(left, left.DeepCopy())
}

func check(in, out any) {
	if !reflect.DeepEqual(in, out) {
		fmt.Printf("%#v\n%#v\n", in, out)
		os.Exit(1)
	}
	same(reflect.ValueOf(in), reflect.ValueOf(out), "")
}

// fill sets all values to others than nil, down to a depth.
func fill(v reflect.Value, depth int) {
	if depth > 12 || v.Type().PkgPath() == "k8s.io/apimachinery/pkg/apis/meta/v1" && v.Kind() == reflect.Struct && v.Type().Name() != "Condition" {
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString("x")
	case reflect.Int:
		v.SetInt(1)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), depth+1)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), depth+1)
	case reflect.Map:
		key, value := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(key, depth+1)
		fill(value, depth+1)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(key, value)
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Field(i).CanSet() {
				fill(v.Field(i), depth+1)
			}
		}
	}
}

// same exits with an error if two values share a part.
func same(a, b reflect.Value, path string) {
	switch a.Kind() {
	case reflect.Pointer:
		if a.IsNil() {
			return
		}
		differ(a, b, path)
		same(a.Elem(), b.Elem(), path)
	case reflect.Slice:
		if a.Len() == 0 {
			return
		}
		differ(a, b, path)
		for i := range a.Len() {
			same(a.Index(i), b.Index(i), path+"[]")
		}
	case reflect.Map:
		if a.Len() == 0 {
			return
		}
		differ(a, b, path)
		for _, key := range a.MapKeys() {
			same(a.MapIndex(key), b.MapIndex(key), path+"{}")
		}
	case reflect.Struct:
		for i := range a.NumField() {
			same(a.Field(i), b.Field(i), path+"."+a.Type().Field(i).Name)
		}
	}
}

func differ(a, b reflect.Value, path string) {
	if a.Pointer() == b.Pointer() {
		fmt.Println("shared:", path)
		os.Exit(1)
	}
}
