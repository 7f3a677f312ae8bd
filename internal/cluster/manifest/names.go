package manifest

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"

	"ebscope/internal/lazy"
	"ebscope/internal/result"
)

// A name is a DNS label of at most 63 characters, and the Job controller adds 6 for a pod: "-x7k2p".
const (
	maxRunName    = 40
	maxVolumeName = 14 // of a volume within the name of its claim and its class
	hashLength    = 6  // hexadecimal digits that tell names apart which had to be changed
)

// target is in the id of every run in a cluster, before what tells some apart: it says nothing there.
var target = lazy.Regexp(`-` + string(result.Kubernetes) + `((-emulated)?(-r[0-9]+)?)$`)

// Name is what a run is called in a cluster, from its id: "20261201t052101z-gp2-vs-gp3". It is a DNS label of at most 40
// characters, and the value of RunLabel. Of a long id it holds the beginning, which is its time and its profile, and a
// hash of the whole.
func Name(run string) string {
	return label(strings.ToLower(target().ReplaceAllString(run, "$1")), maxRunName)
}

// CheckNamespace says what is wrong with the name of a namespace.
func CheckNamespace(name string) error {
	if problems := validation.IsDNS1123Label(name); len(problems) > 0 {
		return fmt.Errorf("namespace %q: use at most 63 lower-case letters, digits and dashes, with a letter or digit at either end", name)
	}
	return nil
}

// ConfigMapName names the ConfigMap of a run, and its PodDisruptionBudget.
func ConfigMapName(run string) string { return Name(run) }

// JobName names the Job that measures a pair of volumes. Pairs count from 0.
func JobName(run string, pair int) string { return fmt.Sprintf("%s-%d", Name(run), pair) }

// ClaimName names the PersistentVolumeClaim of a volume under test.
func ClaimName(run, volume string, pair int) string {
	return fmt.Sprintf("%s-%s-%d", Name(run), label(volume, maxVolumeName), pair)
}

// ResultsClaimName names the PersistentVolumeClaim that the results of a pair are written to. No ClaimName ends like it.
func ResultsClaimName(run string, pair int) string { return JobName(run, pair) + "-results" }

// CollectorName names the pod that the results of a pair are read through.
func CollectorName(run string, pair int) string { return JobName(run, pair) + "-collector" }

// ClassName names the StorageClass of a volume under test. Classes belong to the whole cluster, so it says whose they are.
func ClassName(run, volume string) string {
	return "ebscope-" + Name(run) + "-" + label(volume, maxVolumeName)
}

// ResultsClassName names the StorageClass of the results volumes. No ClassName begins like it, since a run begins with its time.
func ResultsClassName(run string) string { return "ebscope-results-" + Name(run) }

// label makes a DNS label of at most max characters. A text that is one stays as it is; any other gets a hash, so that two
// of them stay two.
func label(text string, most int) string {
	safe := strings.Trim(strings.Map(func(r rune) rune {
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return '-'
	}, text), "-")
	if safe == text && safe != "" && len(safe) <= most {
		return safe
	}
	sum := sha256.Sum256([]byte(text))
	hash := hex.EncodeToString(sum[:])[:hashLength]
	safe = strings.TrimRight(safe[:min(len(safe), most-hashLength-1)], "-")
	if safe == "" {
		return hash
	}
	return safe + "-" + hash
}
