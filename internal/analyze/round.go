package analyze

import (
	"math"
	"reflect"
)

// digits are those that a figure of a document has at most: more than any measurement is worth, and few enough to hide
// what arithmetic with binary fractions leaves (0.1 + 0.2 = 0.30000000000000004).
const digits = 12

// rounded rounds every figure below a value in place.
func rounded(v reflect.Value) {
	switch v.Kind() {
	case reflect.Pointer:
		if !v.IsNil() {
			rounded(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				rounded(v.Field(i))
			}
		}
	case reflect.Slice:
		for i := range v.Len() {
			rounded(v.Index(i))
		}
	case reflect.Float64:
		v.SetFloat(round(v.Float()))
	}
}

// round rounds a number to so many digits. A power of ten up to 22 is exact, so that the result is the nearest there is.
func round(x float64) float64 {
	const exact = 22
	if x == 0 || math.IsNaN(x) || math.IsInf(x, 0) {
		return x
	}
	behind := digits - 1 - int(math.Floor(math.Log10(math.Abs(x))))
	if behind > exact || behind <= 0 { // too small to matter, or whole
		return x
	}
	power := math.Pow10(behind)
	return math.Round(x*power) / power
}
