package result

import (
	"time"

	"ebscope/internal/units"
)

// Reading is a result that some tool wrote at some time: of one job, or of a group of jobs that was reported as one. It
// holds what the files say. What they do not say is zero or nil, which means unknown, and is never filled in.
type Reading struct {
	Source   Source
	Tool     string // such as "fio-3.33" or "CrystalDiskMark 8.0.4"
	Host     string // in a client/server run
	Job      string // the job's name
	Group    int    // jobs of one group ran side by side, groups one after another
	Workload Stated
	// Failure says that the tool reported an error. Figures may be there, and are worth nothing.
	Failure *Failure
	Measurement
	// Summed says that nobody stated Total, Read and Write: they are worked out from logs.
	Summed bool
	// Throughput is the rate in MiB/s, of reads and writes together, where it was logged and no IOPS can be told from it.
	Throughput  Series
	Trim, Sync  *Direction // of trims, and of flushes, whose I/Os are no part of Total
	LatencyMap  *LatencyMap
	Disks       []Disk
	SteadyState *SteadyState
}

// Source is where something was read.
type Source struct {
	File     string `json:"file"` // as a person would find it: "results.tar.gz:run1/fio.json"
	Line     int    `json:"line,omitempty"`
	Document int    `json:"document,omitempty"` // counted from 1 where a file holds several
}

// Note is a piece of input that was skipped, or read with doubt.
type Note struct {
	Source
	Text string `json:"text"`
	// Skipped says that a part of the input is missing in the result. A note without it is a remark: the program's own
	// words around its result, or a doubt about something that was read.
	Skipped bool `json:"skipped"`
}

// Stated is the workload, as far as the result states it.
type Stated struct {
	Pattern     string      // fio's rw
	BlockSize   units.Bytes // zero where it varies
	QueueDepth  int         // of each job
	Jobs        int
	ReadPercent *int
	Engine      string
	Direct      *bool
	Size        units.Bytes
	Duration    time.Duration // how long it was told to run
	RampTime    time.Duration
	Filename    string
	Rate        string            // an application's limit, as stated
	Options     map[string]string // every option as stated: the global ones, overridden by the job's
}

// Failure is an error that a tool reported.
type Failure struct {
	Code int // of the operating system; some engines have negative codes of their own; zero where none was given
	Text []string
}

// Disk is a block device that took part.
type Disk struct {
	Name        string
	Members     []string // of a RAID or of device mapper
	Reads       int64
	Writes      int64
	Utilization float64 // percent
}

// SteadyState is the outcome of fio's own steady-state detection.
type SteadyState struct {
	Criterion string
	Attained  bool
}

// LatencyMap is how latencies were spread over time: Counts[i][j] is how many I/Os completed in the window that ends at
// Ends[i] with a latency of at most UpTo[j], and more than UpTo[j-1].
type LatencyMap struct {
	Ends   []time.Duration
	UpTo   []time.Duration
	Counts [][]int64
}
