// Package cloud asks AWS: which limits instance types have, and what volumes cost. It is the only one that knows the AWS
// SDK. It changes nothing in an account; it needs the permissions ec2:DescribeInstanceTypes and pricing:GetProducts.
package cloud

import (
	"context"
	"errors"
	"fmt"
	"net"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/pricing"
	"github.com/aws/smithy-go"
	"github.com/aws/smithy-go/logging"
)

// What keeps AWS from answering. Errors of this package wrap one of these where they can.
var (
	ErrNoCredentials  = errors.New("no AWS credentials: set AWS_PROFILE, or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or sign in with `aws sso login`")
	ErrNoRegion       = errors.New("no AWS region: name one, or set AWS_REGION")
	ErrDenied         = errors.New("AWS denies it: the permissions ec2:DescribeInstanceTypes and pricing:GetProducts are needed")
	ErrInvalid        = errors.New("AWS does not accept the credentials: they are wrong or have expired")
	ErrThrottled      = errors.New("AWS answers too many requests just now: try again in a minute")
	ErrUnreachable    = errors.New("AWS cannot be reached")
	ErrUnknownType    = errors.New("AWS has no such instance type in the region")
	ErrUnknownRegion  = errors.New("AWS has no prices for the region")
	errUnexpectedForm = errors.New("the answer of AWS has an unexpected form")
)

// sentinels are the error codes of both services by what they mean.
var sentinels = map[string]error{
	"UnauthorizedOperation": ErrDenied, "AccessDeniedException": ErrDenied, "AccessDenied": ErrDenied, "OptInRequired": ErrDenied,
	"AuthFailure": ErrInvalid, "InvalidClientTokenId": ErrInvalid, "UnrecognizedClientException": ErrInvalid,
	"InvalidSignatureException": ErrInvalid, "SignatureDoesNotMatch": ErrInvalid, "ExpiredToken": ErrInvalid,
	"ExpiredTokenException": ErrInvalid, "RequestExpired": ErrInvalid,
	"RequestLimitExceeded": ErrThrottled, "Throttling": ErrThrottled, "ThrottlingException": ErrThrottled,
	"InvalidInstanceType": ErrUnknownType,
}

// pricingRegion has the Pricing API, which few regions have. It answers for all.
const pricingRegion = "us-east-1"

// Account is an AWS account as the environment's credentials open it.
type Account struct {
	config aws.Config
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
	return Account{config: c}, nil
}

// Region returns the region that the environment names.
func (a Account) Region() (string, error) {
	if a.config.Region == "" {
		return "", ErrNoRegion
	}
	return a.config.Region, nil
}

func (a Account) ec2(region string) *ec2.Client {
	return ec2.NewFromConfig(a.config, func(o *ec2.Options) { o.Region = region })
}

func (a Account) pricing() *pricing.Client {
	return pricing.NewFromConfig(a.config, func(o *pricing.Options) { o.Region = pricingRegion })
}

// meaning adds to an error of the SDK the sentinel for it.
func meaning(err error) error {
	var api smithy.APIError
	if errors.As(err, &api) {
		if sentinel, ok := sentinels[api.ErrorCode()]; ok {
			return fmt.Errorf("%w (%s: %s)", sentinel, api.ErrorCode(), api.ErrorMessage())
		}
		return err
	}
	var unreachable net.Error
	if errors.As(err, &unreachable) && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("%w: %w", ErrUnreachable, err)
	}
	return err
}
