package fleet

import (
	"time"
)

// Schema names the form of a saved snapshot. A file has a JSON object a line, each with one key that says what it is:
//
//	{"snapshot":{"schema":"ebscope.snapshot/v1",…}}
//	{"region":{…}}   followed by its {"volume":{…}}, {"instance":{…}}, {"modification":{…}}, {"alarm":{…}}
//	{"cluster":{…}}  followed by its {"claim":{…}}, {"persistent_volume":{…}}, {"storage_class":{…}}, …
//	{"metrics":{…}}  one for each volume that has them
//	{"missing":{…}}
//	{"end":{"lines":…}}
//
// A file without the last line was cut short.
const Schema = "ebscope.snapshot/v1"

// line is a line of a file; one field of it is set.
type line struct {
	Header           *header           `json:"snapshot,omitempty"`
	Region           *Region           `json:"region,omitempty"`
	Volume           *Volume           `json:"volume,omitempty"`
	Instance         *Instance         `json:"instance,omitempty"`
	Modification     *Modification     `json:"modification,omitempty"`
	Alarm            *Alarm            `json:"alarm,omitempty"`
	Cluster          *Cluster          `json:"cluster,omitempty"`
	Claim            *Claim            `json:"claim,omitempty"`
	PersistentVolume *PersistentVolume `json:"persistent_volume,omitempty"`
	StorageClass     *StorageClass     `json:"storage_class,omitempty"`
	AttributesClass  *AttributesClass  `json:"attributes_class,omitempty"`
	Pod              *Pod              `json:"pod,omitempty"`
	StatefulSet      *StatefulSet      `json:"stateful_set,omitempty"`
	Node             *Node             `json:"node,omitempty"`
	Metrics          *Metrics          `json:"metrics,omitempty"`
	Missing          *Missing          `json:"missing,omitempty"`
	End              *end              `json:"end,omitempty"`
}

type header struct {
	Schema string    `json:"schema"`
	Tool   string    `json:"tool,omitempty"`
	Taken  time.Time `json:"taken"`
	Window *Window   `json:"window,omitempty"`
}

// end counts the lines before it.
type end struct {
	Lines int `json:"lines"`
}
