package affinity

import "os"

// latencyRequest is the kernel's file for requests on how soon its processors must react, in microseconds
// (Documentation/power/pm_qos_interface.rst). A request holds while the file is open.
const latencyRequest = "/dev/cpu_dma_latency"

// Awake keeps the machine's processors from sleeping until rest is called: a virtual machine's take tens of microseconds to
// wake up, now more, now less. It does nothing where the kernel refuses, as it does without root.
func Awake() (rest func()) {
	f, err := os.OpenFile(latencyRequest, os.O_WRONLY, 0)
	if err != nil {
		return func() {}
	}
	if _, err := f.Write(make([]byte, 4)); err != nil { // 0 µs, as a 32-bit number
		_ = f.Close()
		return func() {}
	}
	return func() { _ = f.Close() }
}
