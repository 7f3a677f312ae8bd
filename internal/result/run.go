package result

import (
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"ebscope/internal/ebs"
	"ebscope/internal/units"
	"ebscope/internal/workload"
)

// Form is the version of run.json that this program writes and reads.
const Form = 1

// MaxCompress is how many times the time constants of a run can be divided.
const MaxCompress = 1e6

// Target says on what a run took place.
type Target string

// The targets.
const (
	Emulated   Target = "emulated"
	Path       Target = "path"
	Device     Target = "device" // raw block devices
	Simulated  Target = "simulated"
	Kubernetes Target = "kubernetes" // PersistentVolumeClaims of a cluster
	// KubernetesEmulated is a cluster whose StorageClasses say that their volumes are emulated.
	KubernetesEmulated Target = "kubernetes-emulated"
	Imported           Target = "imported" // not by ebscope: on what is not known
)

// Run is a run's record, kept as run.json. Raw results are files of their own beside it.
type Run struct {
	Form     int              `json:"form"`
	Tool     string           `json:"tool"` // program and version that wrote it
	ID       string           `json:"id"`
	Target   Target           `json:"target"`
	Started  time.Time        `json:"started"`
	Finished *time.Time       `json:"finished,omitempty"`
	Compress float64          `json:"compress"` // 1: not compressed
	Profile  workload.Profile `json:"profile"`  // as stated, before compression
	// Catalog is the user's catalog that the run was made with, as text; empty where it was the one that ships.
	Catalog string `json:"catalog,omitempty"`
	// Paths is the directory of each volume by name, for the path target.
	Paths map[string]string `json:"paths,omitempty"`
	// Devices is the block device of each volume by name, for the device target.
	Devices map[string]BlockDevice `json:"devices,omitempty"`
	Command string                 `json:"command"` // that repeats the run
	// Repeat says which of several runs of one plan this is; nil where there is only one.
	Repeat      *Repeat     `json:"repeat,omitempty"`
	Environment Environment `json:"environment"`
	Phases      []Phase     `json:"phases"`
	Events      []Event     `json:"events,omitempty"`
}

// Repeat is the place of a run among those that repeat each other. Their directories are named alike, up to the index.
type Repeat struct {
	Index int `json:"index"` // from 1
	Of    int `json:"of"`
}

// Environment is what a reader needs to compare two runs.
type Environment struct {
	FioVersion string `json:"fio_version,omitempty"`
	Engine     string `json:"engine,omitempty"`
	OS         string `json:"os,omitempty"`
	Kernel     string `json:"kernel,omitempty"`
	CPU        string `json:"cpu,omitempty"`
	CPUs       int    `json:"cpus,omitempty"`
	Instance   string `json:"instance,omitempty"` // EC2 instance type, real or emulated
	InstanceID string `json:"instance_id,omitempty"`
	Region     string `json:"region,omitempty"`
	Device     string `json:"device,omitempty"` // "loop device", "FUSE file", "file"
	Clock      string `json:"clock,omitempty"`  // the kernel's clock source
	// Storage is what lies between fio and each volume of this machine, by the volume's name.
	Storage map[string]Storage `json:"storage,omitempty"`
	// Cluster is where the volumes of a Kubernetes run were; nil elsewhere.
	Cluster *Cluster `json:"cluster,omitempty"`
}

// BlockDevice says which device a volume of a run is. What it does not tell of itself is empty.
type BlockDevice struct {
	Name     string      `json:"name"` // absolute path, as the user gave it
	Model    string      `json:"model,omitempty"`
	Serial   string      `json:"serial,omitempty"`
	VolumeID string      `json:"volume_id,omitempty"` // vol-0123… of an EBS volume
	Size     units.Bytes `json:"size_bytes"`
}

// Storage is what lies between a directory, or a block device, and its volume.
type Storage struct {
	Device        string   `json:"device,omitempty"` // the kernel's name of the disk, "nvme1n1"
	Scheduler     string   `json:"scheduler,omitempty"`
	QueueRequests int      `json:"queue_requests,omitempty"`  // that the kernel queues, nr_requests
	MaxRequestKiB int      `json:"max_request_kib,omitempty"` // larger ones are split, max_sectors_kb
	WriteCache    string   `json:"write_cache,omitempty"`     // "write back" or "write through"
	FileSystem    string   `json:"file_system,omitempty"`
	MountOptions  string   `json:"mount_options,omitempty"`
	Members       []string `json:"members,omitempty"` // disks that a RAID, LVM or encrypted device is made of
}

// Cluster is what is known of the cluster in which a run took place. What could not be read is empty.
type Cluster struct {
	Version     string          `json:"version,omitempty"` // of Kubernetes
	Namespace   string          `json:"namespace"`
	Node        string          `json:"node,omitempty"`
	Zone        string          `json:"zone,omitempty"`
	Image       string          `json:"image,omitempty"`
	ImageDigest string          `json:"image_digest,omitempty"`
	Volumes     []ClusterVolume `json:"volumes,omitempty"`
}

// ClusterVolume is a volume under test as the cluster knows it.
type ClusterVolume struct {
	Name          string `json:"name"` // in the profile
	Claim         string `json:"claim"`
	Volume        string `json:"volume,omitempty"` // PersistentVolume
	Handle        string `json:"handle,omitempty"` // the storage's own name, vol-0123… with EBS
	Class         string `json:"class,omitempty"`  // StorageClass
	Driver        string `json:"driver,omitempty"` // CSI driver, or the provisioner of the class
	DriverVersion string `json:"driver_version,omitempty"`
}

// State is how far a phase has come.
type State string

// The states of a phase. A phase is Cut when the run ended in the middle of it; it is run anew on resume.
const (
	Pending State = "pending"
	Running State = "running"
	Done    State = "done"
	Failed  State = "failed"
	Cut     State = "cut"
)

// Phase is the record of one phase of the profile, in the profile's order.
type Phase struct {
	Index   int        `json:"index"` // from 1
	Name    string     `json:"name"`
	Volume  string     `json:"volume"`
	Dir     string     `json:"dir"` // below the run directory
	State   State      `json:"state"`
	Started *time.Time `json:"started,omitempty"`
	Ended   *time.Time `json:"ended,omitempty"`
	Error   string     `json:"error,omitempty"`
	// Cuts is how many earlier attempts at the phase were cut on a volume that has kept what they spent: its burst credits
	// were not what they are in a run without a cut.
	Cuts int `json:"cuts,omitempty"`
	// Credits is the burst balance at the start and the end, where it is known (emulated and simulated volumes).
	Credits *Credits `json:"credits,omitempty"`
	// TargetState is what the target needs to go on from the end of this phase after a crash. Only the target reads it.
	TargetState json.RawMessage `json:"target_state,omitempty"`
}

// Credits is a burst balance in operations.
type Credits struct {
	Start units.Ops `json:"start"`
	End   units.Ops `json:"end"`
}

// Event is something that happened during a run and that a reader must know.
type Event struct {
	At   time.Time `json:"at"`
	Code string    `json:"code"` // "resumed", "interrupted"
	Text string    `json:"text"`
}

// Names of the files in a run directory.
const (
	RunFile      = "run.json"
	AnalysisFile = "analysis.json"
	HTMLFile     = "report.html"
	MarkdownFile = "report.md"
	FioFile      = "fio.json"
	JobFile      = "job.fio"
	StderrFile   = "stderr"
)

// PhaseDir names the folder of a phase below the run directory.
func PhaseDir(index int, p workload.Phase) string {
	return filepath.Join("phases", fmt.Sprintf("%02d-%s", index, p.ID()))
}

// NewerFormError says that a run was written by a newer program.
type NewerFormError struct {
	Path string
	Form int
}

func (e *NewerFormError) Error() string {
	return fmt.Sprintf("%s has form %d, but this ebscope reads up to form %d; use a newer ebscope", e.Path, e.Form, Form)
}

// Load reads the record of a run directory and checks that it is one.
func Load(dir string) (Run, error) {
	path := filepath.Join(dir, RunFile)
	text, err := os.ReadFile(path)
	if errors.Is(err, fs.ErrNotExist) {
		return Run{}, fmt.Errorf("%s is not a run directory: it has no %s", dir, RunFile)
	}
	if err != nil {
		return Run{}, fmt.Errorf("read the run: %w", err)
	}
	return Parse(text, path)
}

// Parse reads the text of a run's record. name is where it comes from, for errors.
func Parse(text []byte, name string) (Run, error) {
	// The form is read first: a newer one may not fit this program's types.
	var form struct {
		Form int `json:"form"`
	}
	if err := json.Unmarshal(text, &form); err != nil {
		return Run{}, fmt.Errorf("%s is damaged: %w", name, err)
	}
	if form.Form > Form {
		return Run{}, &NewerFormError{Path: name, Form: form.Form}
	}
	var run Run
	if err := json.Unmarshal(text, &run); err != nil {
		return Run{}, fmt.Errorf("%s is damaged: %w", name, err)
	}
	if err := run.validate(); err != nil {
		return Run{}, fmt.Errorf("%s is damaged: %w", name, err)
	}
	return run, nil
}

// Limits returns the catalog that the run was made with.
func (r Run) Limits() (*ebs.Catalog, error) {
	if r.Catalog == "" {
		return ebs.Embedded(), nil
	}
	c, err := ebs.Embedded().Extend(strings.NewReader(r.Catalog))
	if err != nil {
		return nil, fmt.Errorf("the catalog of the run: %w", err)
	}
	return c, nil
}

func (r Run) validate() error {
	if r.Form < 1 {
		return errors.New("it states no form")
	}
	catalog, err := r.Limits()
	if err != nil {
		return err
	}
	if err := r.Profile.Validate(catalog); err != nil {
		return err
	}
	if !(r.Compress >= 1 && r.Compress <= MaxCompress) {
		return fmt.Errorf("compress is %v, not 1 to %v", r.Compress, float64(MaxCompress))
	}
	if r.Repeat != nil && (r.Repeat.Index < 1 || r.Repeat.Index > r.Repeat.Of) {
		return fmt.Errorf("it is run %d of %d", r.Repeat.Index, r.Repeat.Of)
	}
	if len(r.Phases) != len(r.Profile.Phases) {
		return fmt.Errorf("it records %d phases of a profile of %d", len(r.Phases), len(r.Profile.Phases))
	}
	for i, p := range r.Phases {
		want := r.Profile.Phases[i]
		if p.Index != i+1 || p.Name != want.Name || p.Volume != want.Volume || p.Dir != PhaseDir(i+1, want) {
			return fmt.Errorf("phase %d does not fit the profile", i+1)
		}
	}
	return nil
}

// Save writes the record atomically: a reader, or the next run after a crash, sees the old or the new one whole.
func (r Run) Save(dir string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return fmt.Errorf("write the run: %w", err)
	}
	return WriteFile(filepath.Join(dir, RunFile), append(text, '\n'))
}

// WriteFile writes a file of a run directory atomically.
func WriteFile(path string, content []byte) error {
	f, err := os.CreateTemp(filepath.Dir(path), "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer func() { _ = os.Remove(f.Name()) }() // fails, as it should, once renamed
	_, err = f.Write(content)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	return nil
}
