package fakeaws

import (
	"bytes"
	"encoding/xml"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/fxamacker/cbor/v2"
)

// The services as Fault, Requests and Call name them.
const (
	EC2        = "ec2"
	CloudWatch = "cloudwatch"
	Pricing    = "pricing"
	STS        = "sts"
)

// Call is a request as it came, and how it was answered.
type Call struct {
	Service, Action, Region string
	Key                     string            // of whose credentials it was signed with
	Parameters              map[string]string // EC2's form; of CloudWatch and the Price List only what is asked about
	At                      time.Time         // by the fake's clock
	Code                    string            // of the error that was answered; "" where there was none
	Dropped                 bool              // the answer, or the request, was lost
}

// request is a call that is being answered.
type request struct {
	service, action, region string
	key                     string // the access key id
	form                    url.Values
	body                    []byte
	resources               []string // volume ids and alarm names that are asked about
	parameters              map[string]string
	later                   func() ([]byte, *refusal) // finds the answer where that takes long
}

// refusal is an error that AWS answers.
type refusal struct {
	status        int
	code, message string
}

func refuse(code, format string, args ...any) *refusal {
	return &refusal{http.StatusBadRequest, code, fmt.Sprintf(format, args...)}
}

// reply is what goes over the wire.
type reply struct {
	status int
	header map[string]string
	body   []byte
	delay  time.Duration
	lost   bool
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, 4<<20))
	if err != nil {
		http.Error(w, "cut", http.StatusBadRequest)
		return
	}
	q := read(r, body)
	w.Header().Set("Date", time.Now().Add(s.Skew).UTC().Format(http.TimeFormat))
	a := s.reply(q, s.authentic(r))
	if a.delay > 0 {
		select {
		case <-time.After(a.delay):
		case <-r.Context().Done():
			return
		}
	}
	if a.lost {
		if connection, _, err := http.NewResponseController(w).Hijack(); err == nil {
			connection.Close()
		}
		return
	}
	if q.later != nil && a.status == http.StatusOK {
		if body, no := q.later(); no == nil {
			a.body = body
		} else {
			a = failure(q.service, no)
		}
	}
	for key, value := range a.header {
		w.Header().Set(key, value)
	}
	w.WriteHeader(a.status)
	_, _ = w.Write(a.body) // a client that has gone away
}

// read finds out what is asked, of which service and in which region: the region is in the signature's scope.
func read(r *http.Request, body []byte) *request {
	q := &request{service: EC2, body: body, parameters: map[string]string{}}
	if _, scope, ok := strings.Cut(r.Header.Get("Authorization"), "Credential="); ok {
		if parts := strings.Split(scope, "/"); len(parts) > 3 {
			q.key, q.region = parts[0], parts[2]
			if parts[3] == STS {
				q.service = STS
			}
		}
	}
	switch target := r.Header.Get("X-Amz-Target"); {
	case strings.HasPrefix(target, "AWSPriceListService."):
		q.service, q.action = Pricing, strings.TrimPrefix(target, "AWSPriceListService.")
	case r.Header.Get("Smithy-Protocol") == "rpc-v2-cbor":
		q.service, q.action = CloudWatch, r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	default:
		q.form, _ = url.ParseQuery(string(body)) // what cannot be read has no action either
		q.action = q.form.Get("Action")
		for key := range q.form {
			q.parameters[key] = q.form.Get(key)
			if strings.HasPrefix(key, "VolumeId") {
				q.resources = append(q.resources, q.form.Get(key))
			}
		}
	}
	return q
}

// reply answers under the lock, but for what is found later.
func (s *Server) reply(q *request, authentic bool) reply {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[q.service]++
	var fault Fault
	if i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.concerns(q) }); i >= 0 {
		fault = s.faults[i]
		switch {
		case fault.Times == Always:
		case fault.Times > 1:
			s.faults[i].Times--
		default:
			s.faults = slices.Delete(s.faults, i, i+1)
		}
	}
	var body []byte
	no := s.barred(q, authentic)
	if fault.Code != "" {
		no = &refusal{fault.Status, fault.Code, fault.message()}
		if no.status == 0 {
			no.status = http.StatusBadRequest
		}
	}
	if no == nil && fault.Lose != Request {
		body, no = s.serve(q)
	}
	call := Call{q.service, q.action, q.region, q.key, q.parameters, s.clock.now(), "", fault.Lose != Nothing}
	if no != nil {
		call.Code = no.code
	}
	s.calls = append(s.calls, call)
	a := success(q.service, body)
	if no != nil {
		a = failure(q.service, no)
	}
	a.delay, a.lost = fault.Delay, fault.Lose != Nothing
	return a
}

// signatureLife is how far a signature's time may be off.
const signatureLife = 5 * time.Minute

func (s *Server) authentic(r *http.Request) bool {
	_, credential, signs := strings.Cut(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=")
	if key, _, _ := strings.Cut(credential, "/"); !signs || key != UserKey && key != OperatorKey {
		return false
	}
	signed, err := time.Parse("20060102T150405Z", r.Header.Get("X-Amz-Date"))
	return err == nil && time.Now().Add(s.Skew).Sub(signed).Abs() < signatureLife
}

// barred says why a request is not even looked at.
func (s *Server) barred(q *request, authentic bool) *refusal {
	switch {
	case !authentic, slices.Contains(s.NotEnabled, q.region):
		if q.service == CloudWatch {
			return &refusal{http.StatusForbidden, "InvalidClientTokenId", "The security token included in the request is invalid."}
		}
		return &refusal{http.StatusUnauthorized, "AuthFailure", "AWS was not able to validate the provided access credentials"}
	case !s.admits(q.action):
		if q.service == EC2 {
			return &refusal{http.StatusServiceUnavailable, "RequestLimitExceeded", "Request limit exceeded."}
		}
		return refuse("Throttling", "Rate exceeded")
	}
	return nil
}

var textXML = map[string]string{"Content-Type": "text/xml;charset=UTF-8"}

func success(service string, body []byte) reply {
	switch service {
	case Pricing:
		return reply{status: http.StatusOK, header: map[string]string{"Content-Type": "application/x-amz-json-1.1"}, body: body}
	case CloudWatch:
		return reply{status: http.StatusOK, header: map[string]string{"Content-Type": "application/cbor", "Smithy-Protocol": "rpc-v2-cbor"}, body: body}
	default:
		return reply{status: http.StatusOK, header: textXML, body: body}
	}
}

func failure(service string, no *refusal) reply {
	switch service {
	case Pricing:
		return reply{status: no.status, header: map[string]string{"Content-Type": "application/x-amz-json-1.1"},
			body: fmt.Appendf(nil, `{"__type":"com.amazonaws.pricing#%s","Message":%q}`, no.code, no.message)}
	case CloudWatch:
		body, err := cbor.Marshal(map[string]string{"__type": "com.amazonaws.cloudwatch#" + no.code, "message": no.message})
		if err != nil {
			body = nil // two strings
		}
		return reply{status: no.status, body: body, header: map[string]string{"Content-Type": "application/cbor",
			"Smithy-Protocol": "rpc-v2-cbor", "X-Amzn-Query-Error": no.code + ";Sender"}}
	default:
		var text bytes.Buffer
		_ = xml.EscapeText(&text, []byte(no.message)) // into memory
		return reply{status: no.status, header: textXML, body: fmt.Appendf(nil, `<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>%s</Code><Message>%s</Message></Error></Errors><RequestID>fake</RequestID></Response>`, no.code, text.String())}
	}
}

// serve finds who answers an action.
func (s *Server) serve(q *request) ([]byte, *refusal) {
	actions := map[string]func(*request) ([]byte, *refusal){
		EC2 + ":DescribeInstanceTypes":        s.instanceTypes,
		EC2 + ":DescribeRegions":              s.describeRegions,
		EC2 + ":DescribeVolumes":              s.describeVolumes,
		EC2 + ":DescribeInstances":            s.describeInstances,
		EC2 + ":DescribeVolumesModifications": s.describeModifications,
		EC2 + ":ModifyVolume":                 s.modifyVolume,
		EC2 + ":CreateTags":                   s.createTags,
		EC2 + ":CreateVolume":                 s.createVolume,
		EC2 + ":AttachVolume":                 s.attachVolume,
		EC2 + ":DetachVolume":                 s.detachVolume,
		EC2 + ":DeleteVolume":                 s.deleteVolume,
		CloudWatch + ":GetMetricData":         s.getMetricData,
		CloudWatch + ":PutMetricAlarm":        s.putMetricAlarm,
		CloudWatch + ":DescribeAlarms":        s.describeAlarms,
		CloudWatch + ":DeleteAlarms":          s.deleteAlarms,
		CloudWatch + ":ListTagsForResource":   s.listTagsForResource,
		CloudWatch + ":TagResource":           s.tagResource,
		Pricing + ":GetProducts":              s.products,
		STS + ":GetCallerIdentity":            s.getCallerIdentity,
	}
	do, known := actions[q.service+":"+q.action]
	if !known {
		return nil, refuse("InvalidAction", "The action %s is not valid for this web service.", q.action)
	}
	return do(q)
}

// answerXML is EC2's form of an answer.
func answerXML(answer any) ([]byte, *refusal) {
	text, err := xml.Marshal(answer)
	if err != nil {
		return nil, &refusal{http.StatusInternalServerError, "InternalError", err.Error()}
	}
	return append([]byte(xml.Header), text...), nil
}
