package fakeaws

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
)

func (s *Server) instanceTypes(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "*"); no != nil {
		return nil, no
	}
	found, next, ok := s.wanted(q.form)
	if !ok {
		return nil, refuse("InvalidInstanceType", "The following supplied instance types do not exist")
	}
	var text strings.Builder
	text.WriteString(`<?xml version="1.0" encoding="UTF-8"?>
<DescribeInstanceTypesResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
    <requestId>fake</requestId>
    <instanceTypeSet>`)
	for _, i := range found {
		text.WriteString(i.xml())
	}
	text.WriteString("\n    </instanceTypeSet>")
	if next != "" {
		fmt.Fprintf(&text, "\n    <nextToken>%s</nextToken>", next)
	}
	text.WriteString("\n</DescribeInstanceTypesResponse>")
	return []byte(text.String()), nil
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

func (s *Server) products(q *request) ([]byte, *refusal) {
	if no := s.forbidden(q, "*"); no != nil {
		return nil, no
	}
	var asked struct {
		ServiceCode, NextToken string
		Filters                []struct{ Field, Type, Value string }
	}
	if err := json.Unmarshal(q.body, &asked); err != nil || asked.ServiceCode != "AmazonEC2" {
		return nil, refuse("InvalidParameterException", "told something else")
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
	text, err := json.Marshal(answer)
	if err != nil {
		return nil, &refusal{http.StatusInternalServerError, "InternalErrorException", err.Error()}
	}
	return text, nil
}
