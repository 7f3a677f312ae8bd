package cloud

import (
	"errors"
	"sync"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/aws/ratelimit"
	"github.com/aws/aws-sdk-go-v2/aws/retry"
	"github.com/aws/aws-sdk-go-v2/service/cloudwatch"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
)

// maxAttempts is how often a request is made that AWS throttles. With pauses of up to 20 seconds it takes minutes before
// one is given up: AWS's buckets are full again by then.
const maxAttempts = 12

// clients keeps a client for each region, and for each action in it the retryer that has learned how fast AWS admits it.
type clients struct {
	mu       sync.Mutex
	ec2      map[string]ec2Client
	watch    map[string]*cloudwatch.Client
	retryers map[string]*retry.AdaptiveMode
	pause    time.Duration // the first between two reads; see Account.again
}

func newClients() *clients {
	return &clients{ec2: map[string]ec2Client{}, watch: map[string]*cloudwatch.Client{}, retryers: map[string]*retry.AdaptiveMode{}, pause: time.Second}
}

// keep returns what is kept under a key, made anew the first time.
func keep[T any](c *clients, kept map[string]T, key string, fresh func() T) T {
	c.mu.Lock()
	defer c.mu.Unlock()
	if found, ok := kept[key]; ok {
		return found
	}
	made := fresh()
	kept[key] = made
	return made
}

func (a Account) ec2(region string) ec2Client {
	return keep(a.clients, a.clients.ec2, region, func() ec2Client {
		return newEC2Client(ec2.NewFromConfig(a.config, func(o *ec2.Options) { o.Region = region }))
	})
}

func (a Account) watch(region string) *cloudwatch.Client {
	return keep(a.clients, a.clients.watch, region, func() *cloudwatch.Client {
		return cloudwatch.NewFromConfig(a.config, func(o *cloudwatch.Options) { o.Region = region })
	})
}

// patient is a retryer that slows an action of a region down to what AWS admits. AWS throttles each action apart, so each
// has its own.
func (a Account) patient(region, action string) aws.Retryer {
	return keep(a.clients, a.clients.retryers, region+" "+action, func() *retry.AdaptiveMode { return adaptive() })
}

// once is a retryer for what must not be sent twice: it tries again only what AWS throttled, or refused for the time in its
// signature, which the SDK then sets right. Neither is carried out.
func (a Account) once(region, action string) aws.Retryer {
	return keep(a.clients, a.clients.retryers, region+" "+action, func() *retry.AdaptiveMode {
		return adaptive(func(o *retry.StandardOptions) {
			o.Retryables = []retry.IsErrorRetryable{retry.NoRetryCanceledError{}, retry.RetryableErrorCode{Codes: retry.DefaultThrottleErrorCodes}, retry.IsErrorRetryableFunc(refusedForTheClock)}
		})
	})
}

// adaptive has no bucket of retries that many volumes at once would use up: each request has its own number of attempts.
func adaptive(more ...func(*retry.StandardOptions)) *retry.AdaptiveMode {
	return retry.NewAdaptiveMode(func(o *retry.AdaptiveModeOptions) {
		o.StandardOptions = append([]func(*retry.StandardOptions){func(o *retry.StandardOptions) {
			o.MaxAttempts, o.RateLimiter = maxAttempts, ratelimit.None
		}}, more...)
	})
}

// ec2With and watchWith give a call its retryer.
func (a Account) ec2With(r aws.Retryer) func(*ec2.Options) {
	return func(o *ec2.Options) { o.Retryer = r }
}

func (a Account) watchWith(r aws.Retryer) func(*cloudwatch.Options) {
	return func(o *cloudwatch.Options) { o.Retryer = r }
}

// refusedForTheClock recognises what the SDK calls worth another attempt because AWS did not accept the signature and this
// machine's clock is wrong.
func refusedForTheClock(err error) aws.Ternary {
	if errors.Is(sentinels[codeOf(err)], ErrInvalid) {
		return retry.RetryableError{}.IsErrorRetryable(err)
	}
	return aws.UnknownTernary
}
