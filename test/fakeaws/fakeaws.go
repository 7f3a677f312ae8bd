// Package fakeaws answers like the AWS APIs that ebscope asks, on the loopback interface and in their own forms: EC2's query
// protocol with XML, CloudWatch's RPC v2 with CBOR, the Price List's JSON 1.1. It knows a few instance types and prices;
// volumes, instances and metrics are put into it by tests. What it is told to change it changes, over a clock that tests
// move, by AWS's own rules, and it fails where it is told to.
package fakeaws

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"time"
)

// Server is the fake. Its address goes into AWS_ENDPOINT_URL. The exported fields are set before the first request.
type Server struct {
	*httptest.Server
	Instances []Instance
	Products  []Product

	Regions    []string // enabled for the account
	NotEnabled []string // that AWS has, but the account has not opted into
	Page       int      // the most entries of an answer on volumes, instances, modifications and alarms
	Lag        int      // how many reads after a change still show what was before
	ByTime     bool     // GetMetricData pages by time: a bit of each metric at once, rather than metric by metric

	Skew time.Duration // how far AWS's wall clock, by which it judges signatures, is ahead of this machine's

	Modifying        time.Duration // how long a volume is modifying
	OptimizingPerTiB time.Duration // and then optimizing, for each TiB of its target size

	// Metric gives the data of metrics that AddMetric did not name; nil where there are none.
	Metric func(region string, m Metric) Series

	mu       sync.Mutex
	clock    clock
	regions  map[string]*region
	faults   []Fault
	requests map[string]int
	calls    []Call
	buckets  map[string]*bucket
	denied   map[string]bool
	policy   *policy
}

// page is how many instance types and products an answer has. AWS gives up to 100.
const page = 2

// maxPage is the most volumes, instances and modifications that EC2 gives at once.
const maxPage = 500

// New starts a fake with the instance types and prices of Catalog and Seoul, and no volumes. The caller closes it.
func New() *Server {
	s := &Server{
		Instances: Catalog(), Products: append(Seoul(), Virginia()...),
		Regions: []string{"ap-northeast-2", "us-east-1"}, NotEnabled: []string{"af-south-1"}, Page: maxPage,
		Modifying: 10 * time.Second, OptimizingPerTiB: 6 * time.Hour,
		clock: clock{base: time.Now().UTC().Truncate(time.Second)}, regions: map[string]*region{},
		requests: map[string]int{}, buckets: map[string]*bucket{}, denied: map[string]bool{},
	}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	return s
}

// Environment is what a program needs to talk to the fake, and to nothing else.
func (s *Server) Environment() []string {
	return append(NoCredentials(), "AWS_ENDPOINT_URL="+s.URL, "AWS_ACCESS_KEY_ID="+UserKey, "AWS_SECRET_ACCESS_KEY=fake", "AWS_REGION=ap-northeast-2")
}

// NoCredentials is an environment in which the SDK finds no credentials, nor asks anything on the network for them.
func NoCredentials() []string {
	return []string{
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_PROFILE=",
		"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_SESSION_TOKEN=", "AWS_WEB_IDENTITY_TOKEN_FILE=",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=", "AWS_CONTAINER_CREDENTIALS_FULL_URI=", "AWS_REGION=", "AWS_DEFAULT_REGION=",
	}
}

// clock is the time inside the fake: it stands still until it is moved, or runs at a speed.
type clock struct {
	base  time.Time
	speed float64   // of real time; 0 stands still
	since time.Time // when it began to run
}

func (c clock) now() time.Time {
	if c.speed == 0 {
		return c.base
	}
	return c.base.Add(time.Duration(float64(time.Since(c.since)) * c.speed))
}

// Now returns the fake's time.
func (s *Server) Now() time.Time {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.clock.now()
}

// Advance moves the fake's time on, or back where d is negative.
func (s *Server) Advance(d time.Duration) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock.base = s.clock.base.Add(d)
}

// Run lets the fake's time go by itself, speed times as fast as real time; 0 stops it.
func (s *Server) Run(speed float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.clock = clock{base: s.clock.now(), speed: speed, since: time.Now()}
}
