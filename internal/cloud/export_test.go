package cloud

import (
	"time"

	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch/schemas"
	"github.com/aws/smithy-go/transport/http/protocol/awsquery"
)

// Impatient lets the reads of Made follow one another without pauses.
func Impatient(a Account) { a.clients.pause = time.Millisecond }

// SpeakQuery lets an account speak CloudWatch's older protocol in a region: moto does not know the one that the SDK prefers.
func SpeakQuery(a Account, region string) {
	a.clients.watch[region] = cloudwatch.NewFromConfig(a.config, func(o *cloudwatch.Options) {
		o.Region, o.Protocol = region, awsquery.New(schemas.GraniteServiceVersion20100801)
	})
}

// Watch is the client of a region, for tests that put metrics in.
func Watch(a Account, region string) *cloudwatch.Client { return a.watch(region) }
