package bench

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"ebscope/internal/device"
	"ebscope/internal/result"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// deviceTarget measures raw block devices, which the caller holds while the run lasts.
type deviceTarget struct {
	run     result.Run
	claims  map[string]*device.Claim
	written map[string]bool // volumes that this process has written to
}

func (t *deviceTarget) open(context.Context, json.RawMessage) (map[string]string, error) {
	t.written = map[string]bool{}
	filenames := map[string]string{}
	for _, v := range t.run.Profile.Volumes {
		claim, ok := t.claims[v.Name]
		if !ok {
			return nil, fmt.Errorf("volume %s: its device is not held", v.Name)
		}
		filenames[v.Name] = claim.Device().Path
	}
	return filenames, nil
}

// begin waits out the rest, as a path does. Right before the first write to a device it asks once more whether that may
// be done: much may have happened since the run began.
func (t *deviceTarget) begin(ctx context.Context, phase workload.Phase, gap time.Duration) (*units.Ops, error) {
	if _, err := (pathTarget{}).begin(ctx, phase, gap); err != nil {
		return nil, err
	}
	claim := t.claims[phase.Volume]
	if !phase.Writes() || t.written[phase.Volume] {
		return nil, claim.Present()
	}
	if err := claim.Check(ctx); err != nil {
		return nil, err
	}
	t.written[phase.Volume] = true
	return nil, nil
}

func (t *deviceTarget) end(string) (ending, error) { return ending{}, nil }

func (t *deviceTarget) close(context.Context, bool) error { return nil }
