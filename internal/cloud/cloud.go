// Package cloud asks AWS and changes what it is told to: limits of instance types, prices, volumes with their metrics and
// modifications, alarms. It is the only one that knows the AWS SDK. docs/aws has the permissions that it needs.
package cloud

import (
	"context"
	"fmt"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/smithy-go/logging"
)

// pricingRegion has the Pricing API, which few regions have. It answers for all.
const pricingRegion = "us-east-1"

// Account is an AWS account as the environment's credentials open it.
type Account struct {
	config  aws.Config
	clients *clients
}

// Open finds the credentials that the AWS command line would use, without asking AWS anything but them.
func Open(ctx context.Context) (Account, error) {
	c, err := config.LoadDefaultConfig(ctx, config.WithLogger(logging.Nop{}))
	if err != nil {
		return Account{}, fmt.Errorf("read the AWS configuration: %w", err)
	}
	if _, err := c.Credentials.Retrieve(ctx); err != nil {
		if ctx.Err() != nil {
			return Account{}, ctx.Err()
		}
		return Account{}, fmt.Errorf("%w (%w)", ErrNoCredentials, err)
	}
	return Account{config: c, clients: newClients()}, nil
}

// Region returns the region that the environment names.
func (a Account) Region() (string, error) {
	if a.config.Region == "" {
		return "", ErrNoRegion
	}
	return a.config.Region, nil
}

func (a Account) pricing() *pricing.Client {
	return pricing.NewFromConfig(a.config, func(o *pricing.Options) { o.Region = pricingRegion })
}
