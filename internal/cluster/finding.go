package cluster

// Severity says what a finding means for a run.
type Severity string

// The severities.
const (
	Refuse Severity = "refuse" // the run would fail, or harm what is not its own
	Warn   Severity = "warn"   // it would run, but something is to be known first, or could not be found out
)

// Finding is one thing about a cluster that stands against a run.
type Finding struct {
	Code     string   `json:"code"`
	Severity Severity `json:"severity"`
	Text     string   `json:"text"` // names the object, says what is wrong and what to do
}

// Codes of findings that are not preflight's own.
const (
	CodeRejected = "rejected" // by the cluster's admission: quota, LimitRange, Pod Security, a webhook
	CodeForeign  = "foreign"  // an object of that name belongs to somebody else
	CodeConflict = "conflict" // somebody else owns a field
)
