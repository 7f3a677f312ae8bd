package log

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
)

// perIO makes a log per I/O, of 40 bytes a line.
func perIO(lines int) []byte {
	var b bytes.Buffer
	r := rand.New(rand.NewPCG(1, 2))
	for i := range lines {
		fmt.Fprintf(&b, "%d, %d, %d, 4096, %d, 0\n", 100+i/3, 300_000+r.IntN(1_000_000), r.IntN(2), r.Int64N(1<<36))
	}
	return b.Bytes()
}

func BenchmarkRead(b *testing.B) {
	text := perIO(500_000)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprint(workers), func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			b.ReportAllocs()
			for b.Loop() {
				if _, err := ReadLog("x_lat.1.log", bytes.NewReader(text), Options{Workers: workers}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
