package cloud

import (
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
)

// maxPages is far above what any list has: a region has about a thousand instance types, and a family some thousand prices,
// a hundred on a page.
const maxPages = 1000

// paging follows the pages of a list, so that an answer which leads back to an earlier one does not keep us for ever.
type paging struct{ seen map[string]bool }

// next takes in the token of the next page, which is nil or empty after the last.
func (p *paging) next(token *string) error {
	name := aws.ToString(token)
	switch {
	case name == "":
		return nil
	case p.seen[name]:
		return fmt.Errorf("%w: page %d leads back to an earlier one, so that the list has no end", errUnexpectedForm, len(p.seen)+1)
	case len(p.seen) == maxPages:
		return fmt.Errorf("%w: the list has more than %d pages", errUnexpectedForm, maxPages)
	case p.seen == nil:
		p.seen = map[string]bool{}
	}
	p.seen[name] = true
	return nil
}
