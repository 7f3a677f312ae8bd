package fakeaws

import (
	"encoding/json"
	"fmt"
	"net/http"
	"path"
	"slices"
)

// account is whose resources these are.
const account = "123456789012"

// The access keys of the account. What SetPolicy and Deny say is of the user alone: programs beside the one that is tested,
// such as a CSI driver, are the operator.
const (
	UserKey     = "AKIAFAKE"
	OperatorKey = "AKIAFAKEOPERATOR"
)

// policy is an IAM policy of Allow statements without conditions.
type policy struct {
	Statement []struct {
		Effect   string
		Action   words
		Resource words
	}
}

// words is a text or a list of texts, as IAM allows both.
type words []string

func (w *words) UnmarshalJSON(text []byte) error {
	var one string
	if json.Unmarshal(text, &one) == nil {
		*w = words{one}
		return nil
	}
	return json.Unmarshal(text, (*[]string)(w))
}

// SetPolicy lets only pass what an IAM policy allows the user.
func (s *Server) SetPolicy(document []byte) error {
	p := &policy{}
	if err := json.Unmarshal(document, p); err != nil {
		return fmt.Errorf("read the policy: %w", err)
	}
	for _, statement := range p.Statement {
		if statement.Effect != "Allow" {
			return fmt.Errorf("the policy has a statement of effect %q: only Allow is understood", statement.Effect)
		}
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.policy = p
	return nil
}

// Deny refuses the user actions, each with its service: "ec2:ModifyVolume".
func (s *Server) Deny(actions ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, a := range actions {
		s.denied[a] = true
	}
}

// allows says whether the policy names the action for the resource. IAM's asterisks span slashes, path.Match's do not:
// ARNs are compared with their slashes taken out.
func (p *policy) allows(action, arn string) bool {
	matches := func(patterns words, name string) bool {
		return slices.ContainsFunc(patterns, func(pattern string) bool {
			ok, err := path.Match(noSlash(pattern), noSlash(name))
			return ok && err == nil
		})
	}
	for _, s := range p.Statement {
		if matches(s.Action, action) && matches(s.Resource, arn) {
			return true
		}
	}
	return false
}

func noSlash(text string) string {
	out := []rune(text)
	for i, r := range out {
		if r == '/' {
			out[i] = '\x00'
		}
	}
	return string(out)
}

// forbidden refuses what is denied, or not allowed by the policy. The resource is "*" for actions that have none.
func (s *Server) forbidden(q *request, arn string) *refusal {
	return s.forbiddenAction(q, q.action, arn)
}

func (s *Server) forbiddenAction(q *request, name, arn string) *refusal {
	action := q.service + ":" + name
	if q.key == OperatorKey || !s.denied[action] && (s.policy == nil || s.policy.allows(action, arn)) {
		return nil
	}
	message := fmt.Sprintf("User: arn:aws:iam::%s:user/fake is not authorized to perform: %s on resource: %s because no identity-based policy allows the %s action",
		account, action, arn, action)
	switch q.service {
	case EC2:
		return &refusal{http.StatusForbidden, "UnauthorizedOperation", "You are not authorized to perform this operation. " + message}
	case CloudWatch:
		return &refusal{http.StatusForbidden, "AccessDenied", message}
	default:
		return &refusal{http.StatusBadRequest, "AccessDeniedException", message}
	}
}
