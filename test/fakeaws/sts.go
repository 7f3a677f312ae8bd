package fakeaws

import "encoding/xml"

// getCallerIdentity needs no permission, as in AWS.
func (s *Server) getCallerIdentity(*request) ([]byte, *refusal) {
	return answerXML(struct {
		XMLName xml.Name `xml:"GetCallerIdentityResponse"`
		ARN     string   `xml:"GetCallerIdentityResult>Arn"`
		User    string   `xml:"GetCallerIdentityResult>UserId"`
		Account string   `xml:"GetCallerIdentityResult>Account"`
	}{ARN: "arn:aws:iam::" + account + ":user/fake", User: "AIDAFAKE", Account: account})
}
