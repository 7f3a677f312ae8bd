package fakeaws

import "time"

// Always is how often a fault happens that does not end.
const Always = -1

// Lost is what does not arrive.
type Lost int

// What a fault lets go missing: the connection ends before anything is done, or after it was done.
const (
	Nothing Lost = iota
	Request
	Answer
)

// Fault is what goes wrong with a request, once unless Times says otherwise. Without a Code and with nothing lost it only
// delays the right answer.
type Fault struct {
	Service  string // EC2, CloudWatch or Pricing
	Action   string // "" for any
	Region   string // "" for any
	Resource string // a volume's id; "" for any
	Status   int    // of HTTP; 400 where it is 0
	Code     string
	Message  string
	Lose     Lost
	Delay    time.Duration
	Times    int // 0 is once, too; or Always
}

func (f Fault) concerns(q *request) bool {
	same := func(want, is string) bool { return want == "" || want == is }
	if f.Service != q.service || !same(f.Action, q.action) || !same(f.Region, q.region) {
		return false
	}
	if f.Resource == "" {
		return true
	}
	for _, r := range q.resources {
		if r == f.Resource {
			return true
		}
	}
	return false
}

func (f Fault) message() string {
	if f.Message == "" {
		return "told to fail"
	}
	return f.Message
}

// Fail lets the next requests fail that the faults concern.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Mend ends all faults.
func (s *Server) Mend() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = nil
}

// Requests counts what was asked of a service, failed requests included.
func (s *Server) Requests(service string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[service]
}

// Calls returns the requests of an action in their order, or of all where it is "".
func (s *Server) Calls(action string) []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	var found []Call
	for _, c := range s.calls {
		if action == "" || c.Action == action {
			found = append(found, c)
		}
	}
	return found
}

// bucket admits requests as AWS throttles them: so many at once, and so many a second.
type bucket struct {
	size, rate, content float64
	at                  time.Time
}

// Limit throttles an action: after burst requests at once, perSecond of real time.
func (s *Server) Limit(action string, burst int, perSecond float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.buckets[action] = &bucket{size: float64(burst), rate: perSecond, content: float64(burst), at: time.Now()}
}

func (s *Server) admits(action string) bool {
	b := s.buckets[action]
	if b == nil {
		return true
	}
	now := time.Now()
	b.content, b.at = min(b.size, b.content+now.Sub(b.at).Seconds()*b.rate), now
	if b.content < 1 {
		return false
	}
	b.content--
	return true
}
