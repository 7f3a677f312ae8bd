package cloud

import (
	"context"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/config"
	"github.com/aws/aws-sdk-go-v2/feature/ec2/imds"
)

// Identity is what the metadata service says of the instance that the program runs on.
type Identity struct{ InstanceType, InstanceID, Region string }

// identityTimeout is how long the metadata service may take. It answers within milliseconds where there is one.
const identityTimeout = time.Second

// Self asks the instance metadata service (IMDSv2) which instance this is. It fails where there is none, or where
// AWS_EC2_METADATA_DISABLED is true.
func Self(ctx context.Context) (Identity, error) {
	ctx, cancel := context.WithTimeout(ctx, identityTimeout)
	defer cancel()
	cfg, err := config.LoadDefaultConfig(ctx)
	if err != nil {
		return Identity{}, fmt.Errorf("instance metadata: %w", err)
	}
	client := imds.NewFromConfig(cfg, func(o *imds.Options) { o.EnableFallback = aws.FalseTernary })
	out, err := client.GetInstanceIdentityDocument(ctx, &imds.GetInstanceIdentityDocumentInput{})
	if err != nil {
		return Identity{}, fmt.Errorf("instance metadata: %w", err)
	}
	return Identity{InstanceType: out.InstanceType, InstanceID: out.InstanceID, Region: out.Region}, nil
}
