package cloud

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strings"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/ec2"
	"github.com/aws/aws-sdk-go-v2/service/sts"

	"ebscope/internal/fleet"
)

// Identity returns the account that the credentials are for. It needs no permission.
func (a Account) Identity(ctx context.Context) (fleet.AccountID, error) {
	region := a.config.Region
	if region == "" {
		region = pricingRegion
	}
	client := sts.NewFromConfig(a.config, func(o *sts.Options) { o.Region = region })
	who, err := client.GetCallerIdentity(ctx, &sts.GetCallerIdentityInput{})
	if err != nil {
		return "", fmt.Errorf("ask AWS whose the credentials are: %w", meaning(err))
	}
	return fleet.AccountID(aws.ToString(who.Account)), nil
}

// Regions returns the regions that are named, or that match a pattern such as "eu-*" or "*" and are enabled for the
// account. With none named it is the environment's. A region that is named and not enabled is missing; one that merely
// matches has nothing in it, so nothing is missing.
func (a Account) Regions(ctx context.Context, account fleet.AccountID, patterns []string) ([]string, []fleet.Missing, error) {
	if len(patterns) == 0 {
		region, err := a.Region()
		return []string{region}, nil, err
	}
	const operation = "ec2:DescribeRegions"
	at := a.config.Region
	if at == "" {
		at = pricingRegion
	}
	var lost []fleet.Missing
	enabled := map[string]bool{}
	answer, err := a.ec2(at).regions(ctx, &ec2.DescribeRegionsInput{AllRegions: aws.Bool(true)}, a.ec2With(a.patient(at, operation)))
	if err != nil {
		lost = append(lost, missing(account, at, operation, meaning(err)))
	} else {
		for _, r := range answer.Regions {
			enabled[aws.ToString(r.RegionName)] = aws.ToString(r.OptInStatus) != "not-opted-in"
		}
	}
	var found []string
	for _, pattern := range patterns {
		if _, bad := path.Match(pattern, ""); bad != nil {
			return nil, nil, fmt.Errorf("region pattern %q: %w", pattern, bad)
		}
		switch on, known := enabled[pattern]; {
		case on, err != nil && !strings.ContainsAny(pattern, `*?[\`):
			found = append(found, pattern)
		case known:
			lost = append(lost, missing(account, pattern, "", ErrNotEnabled))
		case err == nil:
			matching := matches(pattern, enabled)
			if len(matching) == 0 {
				return nil, nil, fmt.Errorf("no region of the account is called or matches %q; it has %s", pattern, strings.Join(matches("*", enabled), ", "))
			}
			found = append(found, matching...)
		}
	}
	slices.Sort(found)
	return slices.Compact(found), lost, ctx.Err()
}

func matches(pattern string, enabled map[string]bool) []string {
	var found []string
	for name, on := range enabled {
		if ok, err := path.Match(pattern, name); err == nil && ok && on {
			found = append(found, name)
		}
	}
	slices.Sort(found)
	return found
}
