package cluster

import (
	"context"
	"errors"
	"path"
	"slices"
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"

	"ebscope/internal/cluster/manifest"
	"ebscope/internal/cluster/runner"
	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Wanted is a run that is wanted in a cluster, as far as it matters beforehand.
type Wanted struct {
	Spec     manifest.Spec
	Objects  []manifest.Object // what Spec comes to
	Profile  workload.Profile  // as it was written: not compressed
	Compress float64           // by which time constants are divided; 1: not compressed
	Catalog  *ebs.Catalog
	// AwaitNode says that a node to run on will be started once pods wait for it, so that none has to be there.
	AwaitNode bool
}

// survey is a preflight on its way. Checks run in order, and some leave behind what later ones work on.
type survey struct {
	*Client
	Wanted

	namespace       *corev1.Namespace // nil where there is none
	namespaceHidden bool              // it may not be read
	missing         []Missing
	claims          map[string]*corev1.PersistentVolumeClaim // existing ones that the run uses, by name
	classes         map[string]*storagev1.StorageClass       // existing ones that the run or its claims use, by name
	limits          []corev1.LimitRangeItem                  // of the namespace
	places          []place                                  // where existing volumes can be attached
	pools           []nodePool                               // Karpenter NodePools that could start a node for the run
	poolsHidden     bool                                     // they may not be listed
	nodes           []corev1.Node                            // that could take the run's pods
}

// check is one look at the cluster. Name completes "not checked: …".
type check struct {
	name string
	run  func(*survey, context.Context) ([]Finding, error)
}

var checks = []check{
	{"whether the profile can run in a cluster", (*survey).plan},
	{"the namespace", (*survey).inspectNamespace},
	{"permissions", (*survey).permissions},
	{"whether another run is active in the namespace", (*survey).otherRuns},
	{"existing claims", (*survey).inspectClaims},
	{"StorageClasses", (*survey).inspectClasses},
	{"whether the volumes are emulated at the run's compression", (*survey).compression},
	{"the provisioner", (*survey).provisioner},
	{"the version of the EBS CSI driver", (*survey).driver},
	{"LimitRanges", (*survey).limitRanges},
	{"quotas", (*survey).quotas},
	{"whether pods use existing claims", (*survey).users},
	{"where existing volumes can be attached", (*survey).inspectPlaces},
	{"Karpenter NodePools", (*survey).inspectPools},
	{"whether a node fits", (*survey).inspectNodes},
	{"the instance's limits", (*survey).instances},
}

// Preflight finds out what would keep a run from succeeding, before anything is made. It changes nothing. A check that a
// missing permission prevents becomes a warning; an error means that the cluster could not be asked at all.
func (c *Client) Preflight(ctx context.Context, w Wanted) ([]Finding, error) {
	s := &survey{Client: c, Wanted: w, claims: map[string]*corev1.PersistentVolumeClaim{}, classes: map[string]*storagev1.StorageClass{}}
	var all []Finding
	for _, check := range checks {
		found, err := check.run(s, ctx)
		all = append(all, found...)
		if err == nil || s.told(err) {
			continue
		}
		f, ok := s.unseen(check.name, err)
		if !ok {
			return all, err
		}
		all = append(all, f)
	}
	slices.SortStableFunc(all, func(a, b Finding) int { return severityOrder(a.Severity) - severityOrder(b.Severity) })
	return slices.CompactFunc(all, func(a, b Finding) bool { return a == b }), nil
}

func severityOrder(s Severity) int {
	if s == Refuse {
		return 0
	}
	return 1
}

// Declined returns the error that the findings come to: nil where none refuses the run.
func Declined(action string, findings []Finding) error {
	refusals := slices.DeleteFunc(slices.Clone(findings), func(f Finding) bool { return f.Severity != Refuse })
	if len(refusals) == 0 {
		return nil
	}
	return &DeclinedError{Action: action, Findings: refusals}
}

// makesClasses says whether the run has StorageClasses of its own.
func (s *survey) makesClasses() bool {
	return s.Spec.ResultsClass == "" || slices.ContainsFunc(s.Spec.Volumes, makesClass)
}

func makesClass(v manifest.Volume) bool { return v.Claim == "" && v.Class == "" }

// length is how long the run is expected to take, without waiting for volumes and images.
func (s *survey) length() time.Duration {
	var sum time.Duration
	for _, p := range s.Spec.Plan.Phases {
		sum += p.Rest + p.Takes
	}
	return sum
}

// fileSize is the largest test file on a volume.
func (s *survey) fileSize(volume string) units.Bytes {
	var largest units.Bytes
	for _, p := range s.Spec.Plan.Phases {
		if p.File == path.Join(runner.DevicesDir, volume) || strings.HasPrefix(p.File, path.Join(runner.VolumesDir, volume)+"/") {
			largest = max(largest, p.Size)
		}
	}
	return largest
}

// isNotFound says whether an error of this package means that something does not exist.
func isNotFound(err error) bool {
	var missing *NotFoundError
	return errors.As(err, &missing)
}
