package log

import (
	"encoding/binary"
	"math/bits"
)

// load returns the eight bytes at a place.
func load(buf []byte, at int) uint64 { return binary.LittleEndian.Uint64(buf[at : at+8 : at+8]) }

// digits reads up to eight decimal digits at the start of eight bytes, and returns how many they are, and their value
// unless there are none.
func digits(text uint64) (value uint64, n int) {
	// Each byte becomes a digit's value, or more than 9. Adding 0x76 sets the top bit of what is more than 9; a carry
	// reaches only bytes behind the first of these.
	x := text ^ 0x3030303030303030
	n = bits.TrailingZeros64((x+0x7676767676767676|x)&0x8080808080808080) >> 3
	// The digits move to the end, behind zeros, and are added up in pairs, then in fours and eights.
	x <<= uint(64-8*n) & 63
	x = x*10 + x>>8
	return ((x&0x000000FF000000FF)*0x000F424000000064 + (x>>16&0x000000FF000000FF)*0x0000271000000001) >> 32, n
}

var powers = [...]uint64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8}

// decimal reads the decimal digits at a place in a buffer with slack behind, and returns where they end. It returns false
// where there are none, or more than fit.
func decimal(buf []byte, at int) (value uint64, end int, ok bool) {
	value, n := digits(load(buf, at))
	end = at + n
	for n == 8 && end+8 <= len(buf) {
		var more uint64
		if more, n = digits(load(buf, end)); n == 0 {
			break
		}
		high, low := bits.Mul64(value, powers[n])
		sum, carry := bits.Add64(low, more, 0)
		if high != 0 || carry != 0 {
			return 0, end, false
		}
		value = sum
		end += n
	}
	return value, end, end > at
}
