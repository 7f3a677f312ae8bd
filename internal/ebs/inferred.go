package ebs

import "ebscope/internal/units"

// Inferred says what is not documented of a gp2 volume of 171 to 333 GiB: see InferredThroughput.
const Inferred = "What a gp2 volume of 171 to 333 GiB moves without credits is not documented; that it is its baseline operations, of at most 256 KiB each, is an inference."

// DocumentedThroughput is what a gp2 volume of any size is documented to move; more takes credits up to 333 GiB (EBS user
// guide, "General Purpose SSD volumes").
const DocumentedThroughput = 128 * units.MiBPerSecond

// InferredThroughput says that what the volume moves without credits is an inference.
func (p Performance) InferredThroughput() bool {
	return p.Bursts() && p.Throughput > DocumentedThroughput && float64(p.Baseline)*float64(p.AccountingUnit) < float64(p.Throughput)
}
