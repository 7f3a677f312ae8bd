package cloud

import (
	"strconv"
	"strings"
	"testing"

	"github.com/aws/aws-sdk-go-v2/aws"
)

func TestPagesThatHaveNoEnd(t *testing.T) {
	var circle paging
	for _, token := range []string{"a", "b"} {
		if err := circle.next(aws.String(token)); err != nil {
			t.Fatal(err)
		}
	}
	if err := circle.next(aws.String("a")); err == nil || !strings.Contains(err.Error(), "page 3 leads back") {
		t.Errorf("error %v, want one that says that page 3 leads back", err)
	}
	var long paging
	for i := range maxPages {
		if err := long.next(aws.String(strconv.Itoa(i))); err != nil {
			t.Fatal(err)
		}
	}
	if err := long.next(nil); err != nil {
		t.Errorf("after the last page: %v", err)
	}
	if err := long.next(aws.String("more")); err == nil || !strings.Contains(err.Error(), "more than 1000 pages") {
		t.Errorf("error %v, want one that says that there are too many pages", err)
	}
}
