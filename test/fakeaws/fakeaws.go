// Package fakeaws answers like the two AWS APIs that ebscope asks, EC2 and the Price List, on the loopback interface and in
// their own forms: EC2's query protocol with XML, the Price List's JSON 1.1. It knows a few instance types and prices,
// answers in short pages, and fails where it is told to.
package fakeaws

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"sync"
)

// Fault is an answer that is given once, instead of the right one.
type Fault struct {
	Service string // "ec2" or "pricing"
	Status  int
	Code    string
}

// Server is the fake. Its address goes into AWS_ENDPOINT_URL.
type Server struct {
	*httptest.Server
	Instances []Instance
	Products  []Product

	mu       sync.Mutex
	faults   []Fault
	requests map[string]int
}

// page is how many entries an answer has. AWS gives up to 100.
const page = 2

// New starts a fake with the instance types and prices of Catalog and Seoul. The caller closes it.
func New() *Server {
	s := &Server{Instances: Catalog(), Products: append(Seoul(), Virginia()...), requests: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.answer))
	return s
}

// Fail lets the next requests fail.
func (s *Server) Fail(faults ...Fault) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.faults = append(s.faults, faults...)
}

// Requests counts what was asked of a service, failed requests included.
func (s *Server) Requests(service string) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.requests[service]
}

// Environment is what a program needs to talk to the fake, and to nothing else.
func (s *Server) Environment() []string {
	return append(NoCredentials(), "AWS_ENDPOINT_URL="+s.URL, "AWS_ACCESS_KEY_ID=AKIAFAKE", "AWS_SECRET_ACCESS_KEY=fake", "AWS_REGION=ap-northeast-2")
}

// NoCredentials is an environment in which the SDK finds no credentials, nor asks anything on the network for them.
func NoCredentials() []string {
	return []string{
		"AWS_EC2_METADATA_DISABLED=true", "AWS_CONFIG_FILE=/dev/null", "AWS_SHARED_CREDENTIALS_FILE=/dev/null", "AWS_PROFILE=",
		"AWS_ACCESS_KEY_ID=", "AWS_SECRET_ACCESS_KEY=", "AWS_SESSION_TOKEN=", "AWS_WEB_IDENTITY_TOKEN_FILE=",
		"AWS_CONTAINER_CREDENTIALS_RELATIVE_URI=", "AWS_CONTAINER_CREDENTIALS_FULL_URI=", "AWS_REGION=", "AWS_DEFAULT_REGION=",
	}
}

func (s *Server) answer(w http.ResponseWriter, r *http.Request) {
	service := "ec2"
	if strings.HasPrefix(r.Header.Get("X-Amz-Target"), "AWSPriceListService.") {
		service = "pricing"
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.requests[service]++
	if i := slices.IndexFunc(s.faults, func(f Fault) bool { return f.Service == service }); i >= 0 {
		f := s.faults[i]
		s.faults = slices.Delete(s.faults, i, i+1)
		fail(w, f)
		return
	}
	if !strings.Contains(r.Header.Get("Authorization"), "AWS4-HMAC-SHA256 Credential=AKIAFAKE/") {
		fail(w, Fault{service, http.StatusUnauthorized, "AuthFailure"})
		return
	}
	if service == "pricing" {
		s.products(w, r)
		return
	}
	s.instanceTypes(w, r)
}

func fail(w http.ResponseWriter, f Fault) {
	if f.Service == "pricing" {
		w.Header().Set("Content-Type", "application/x-amz-json-1.1")
		w.WriteHeader(f.Status)
		fmt.Fprintf(w, `{"__type":"com.amazonaws.pricing#%s","Message":"told to fail"}`, f.Code)
		return
	}
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	w.WriteHeader(f.Status)
	fmt.Fprintf(w, `<?xml version="1.0" encoding="UTF-8"?>
<Response><Errors><Error><Code>%s</Code><Message>told to fail</Message></Error></Errors><RequestID>fake</RequestID></Response>`, f.Code)
}

func (s *Server) instanceTypes(w http.ResponseWriter, r *http.Request) {
	if err := r.ParseForm(); err != nil || r.Form.Get("Action") != "DescribeInstanceTypes" {
		fail(w, Fault{"ec2", http.StatusBadRequest, "InvalidAction"})
		return
	}
	found, next, ok := s.wanted(r.Form)
	if !ok {
		fail(w, Fault{"ec2", http.StatusBadRequest, "InvalidInstanceType"})
		return
	}
	w.Header().Set("Content-Type", "text/xml;charset=UTF-8")
	fmt.Fprint(w, `<?xml version="1.0" encoding="UTF-8"?>
<DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
    <requestId>fake</requestId>
    <instanceTypeSet>`)
	for _, i := range found {
		fmt.Fprint(w, i.xml())
	}
	fmt.Fprint(w, "\n    </instanceTypeSet>")
	if next != "" {
		fmt.Fprintf(w, "\n    <nextToken>%s</nextToken>", next)
	}
	fmt.Fprint(w, "\n</DescribeInstanceTypesResponse>")
}

// wanted returns the named instance types, or a page of all; false where one is not known.
func (s *Server) wanted(form url.Values) (found []Instance, next string, ok bool) {
	for n := 1; form.Has("InstanceType." + strconv.Itoa(n)); n++ {
		name := form.Get("InstanceType." + strconv.Itoa(n))
		i := slices.IndexFunc(s.Instances, func(i Instance) bool { return i.Type == name })
		if i < 0 {
			return nil, "", false
		}
		found = append(found, s.Instances[i])
	}
	if found != nil {
		return found, "", true
	}
	from, to, next := pageOf(form.Get("NextToken"), len(s.Instances))
	return s.Instances[from:to], next, true
}

func pageOf(token string, n int) (from, to int, next string) {
	from, _ = strconv.Atoi(token)
	to = min(from+page, n)
	if to < n {
		next = strconv.Itoa(to)
	}
	return from, to, next
}

func (s *Server) products(w http.ResponseWriter, r *http.Request) {
	var asked struct {
		ServiceCode, NextToken string
		Filters                []struct{ Field, Type, Value string }
	}
	if err := json.NewDecoder(r.Body).Decode(&asked); err != nil || asked.ServiceCode != "AmazonEC2" {
		fail(w, Fault{"pricing", http.StatusBadRequest, "InvalidParameterException"})
		return
	}
	var matching []Product
	for _, p := range s.Products {
		matches := true
		for _, f := range asked.Filters {
			matches = matches && f.Type == "TERM_MATCH" && p.attribute(f.Field) == f.Value
		}
		if matches {
			matching = append(matching, p)
		}
	}
	from, to, next := pageOf(asked.NextToken, len(matching))
	answer := struct {
		FormatVersion string
		NextToken     string `json:",omitempty"`
		PriceList     []string
	}{"aws_v1", next, []string{}}
	for _, p := range matching[from:to] {
		answer.PriceList = append(answer.PriceList, p.json())
	}
	w.Header().Set("Content-Type", "application/x-amz-json-1.1")
	_ = json.NewEncoder(w).Encode(answer) // a client that has gone away
}
