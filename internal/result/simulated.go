package result

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
)

// measurementFile holds the result of a simulated phase, which no fio has written.
const measurementFile = "measurement.json"

// SaveMeasurement writes the result of a simulated phase into its folder.
func SaveMeasurement(dir string, m Measurement) error {
	text, err := json.Marshal(m)
	if err != nil {
		return fmt.Errorf("write the result of %s: %w", dir, err)
	}
	if err := os.MkdirAll(dir, 0o755); err != nil {
		return err
	}
	return WriteFile(filepath.Join(dir, measurementFile), append(text, '\n'))
}

// LoadMeasurement reads the result of a simulated phase.
func LoadMeasurement(dir string) (Measurement, error) {
	path := filepath.Join(dir, measurementFile)
	text, err := os.ReadFile(path)
	if err != nil {
		return Measurement{}, fmt.Errorf("read the result of a phase: %w", err)
	}
	var m Measurement
	if err := json.Unmarshal(text, &m); err != nil {
		return Measurement{}, fmt.Errorf("%s is damaged: %w", path, err)
	}
	return m, nil
}
