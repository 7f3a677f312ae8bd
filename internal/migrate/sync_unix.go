//go:build unix

package migrate

import (
	"errors"
	"os"
)

// syncDirectory lets a new file's name outlive a power cut.
func syncDirectory(path string) error {
	d, err := os.Open(path)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
